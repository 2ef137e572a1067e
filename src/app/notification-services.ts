import type { Access } from '../domain/access/policy.ts';
import { payerOfAccount } from '../domain/budgets/budget.ts';
import type { LongWork } from '../domain/budgets/long-work.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import { limits } from '../domain/limits.ts';
import { catchUp } from '../domain/notifications/catch-up.ts';
import { createDispatcher } from '../domain/notifications/dispatcher.ts';
import { createEvaluations } from '../domain/notifications/evaluations.ts';
import { createActuate } from '../domain/notifications/firing.ts';
import { createNotifications } from '../domain/notifications/notifications.ts';
import { createNotifier } from '../domain/notifications/notifier.ts';
import { createPreview } from '../domain/notifications/preview.ts';
import { createReach } from '../domain/notifications/recipients.ts';
import { createRuleBook, followRules } from '../domain/notifications/rule-book.ts';
import { createSilences, type Silences } from '../domain/notifications/silences.ts';
import { createStateBook } from '../domain/notifications/state-book.ts';
import { createTestMessages } from '../domain/notifications/test-messages.ts';
import type { ServiceParts } from './service-parts.ts';

/** Notifications and the outbox, wired, with what moves them. */
export function createNotificationServices(
  parts: ServiceParts & { readonly access: Access; readonly longWork: LongWork },
) {
  const { config, storage, access, channels, budgets, clock, reporter, log } = parts;
  const { evaluateOnCreate, messagesPerDay: perDay } = config.notifications;
  const messages = { perDay, mustBeProven: config.accounts.proveAddresses === 'on' };
  const { users, devices, datapoints, notifications: store } = storage;
  const wanted = storage.mqttSessions.shared?.wanted;
  const actuate = createActuate({
    ...{ devices, clock },
    publish: (actuation) => parts.feed.publish([{ kind: 'actuator', ...actuation }]),
    told: parts.feed.told,
  });
  const outboxParts = { users, channels, actuate, clock, reporter, log, ...messages };
  const outbox = createDispatcher({ store: storage.outbox, ...outboxParts });
  const states = createStateBook({ store, log });
  const evaluations = createEvaluations();
  // Rules wait for silences, and silences are reported to rules.
  const silences = (): Silences => watch;
  const book = createRuleBook({
    ...{ store, users, devices, datapoints, silences, budgets, reporter, log },
    ...{ states, evaluations, wanted },
  });
  const ofNotifier = {
    ...{ store, users, devices, access, channels, outbox, clock, reporter, log },
    ...{ book, datapoints, states, evaluations, silences, budgets },
    peekDevice: devices.peek,
  };
  const { looks } = storage;
  const { pushOf = () => undefined } = parts.feed;
  const isShared = looks !== undefined;
  const notifier = createNotifier(ofNotifier, looks && { looks, pushOf });
  const timers: NodeJS.Timeout[] = [];
  const repeat = (task: () => Promise<void>, pauseMs: number) => {
    timers.push(setInterval(() => void task(), pauseMs).unref());
  };
  const watch = createSilences({
    ...{ clock, log, evaluations, budget: budgets.of('silences') },
    onSilence: notifier.silenceOf,
    count: wanted?.count,
  });
  if (parts.feed.isCurrent !== undefined) followRules({ changes: parts.feed, store, users, book });
  parts.feed.onChange(async (change) => {
    // A process may have been given up: what it had claimed, and its evaluations, are due.
    if (change.kind === 'anything') {
      outbox.wake();
      void notifier.retry();
    }
    if (change.kind === 'account_removed') {
      book.removeOf(payerOfAccount(change.userId));
      await book.removeRecipient(change.userId);
    }
    if (change.kind === 'datapoints_corrected') await notifier.forgetValues(change.deviceId);
  });
  if (isShared) followSensors(parts.feed, watch);
  return {
    /** The evaluations that are filed with pushes; absent: this process evaluates alone. */
    evaluationsOf: notifier.evaluationsOf,
    notifications: createNotifications({
      ...{ store, users, devices, access, book, evaluations, notifier, clock, budgets },
      ...{ grants: storage.grants, longWork: parts.longWork, changes: parts.feed },
      reach: createReach({ users, channels, mustBeProven: messages.mustBeProven }),
      evaluateOnCreate,
    }),
    preview: createPreview({ datapoints, access, book, clock, budget: budgets.of('previews') }),
    testMessages: createTestMessages({
      ...{ users, channels, clock, reporter, outbox: storage.outbox, ...messages },
    }),
    /** The hook of the ingest path. */
    consequences: notifier.consequences,
    /** Something was filed in the outbox. */
    wake: outbox.wake,
    /** Pushes of devices could not be stored, for no fault of theirs. */
    onUnstored: watch.unheard,
    /** Fetches all rules, evaluates what a crash left, and begins to deliver; before ports open. */
    async start(): Promise<void> {
      await book.load();
      if (!isShared) await catchUp({ book, notifier, datapoints, log });
      watch.start();
      outbox.start();
      // Among several processes, each evaluation ends with saving its states.
      if (!isShared) repeat(states.save, limits.statesPauseMs);
      repeat(notifier.retry, limits.firingsRetryMs);
    },
    /** Ends what is under way; after the ports are closed and pushes are stored. */
    async stop(): Promise<void> {
      await watch.stop();
      for (const timer of timers) clearInterval(timer);
      await notifier.drain();
      await notifier.retry();
      await outbox.stop();
      if (!isShared) await states.save();
    },
  };
}

/** Silences end with what any process took in. */
function followSensors(feed: Feed, silences: Silences): void {
  feed.subscribe((events) => {
    for (const event of events) {
      if (event.kind !== 'datapoints') continue;
      const { deviceId, sensorId, batch } = event;
      if (!silences.isWatched(deviceId, sensorId)) continue;
      const received: ArrayLike<number> =
        batch?.received ?? event.datapoints.map(({ receivedAt }) => receivedAt);
      let at = 0;
      for (let row = 0; row < received.length; row += 1) at = Math.max(at, received[row] ?? 0);
      silences.seen(deviceId, sensorId, at);
    }
  });
}
