import type { Access } from '../domain/access/access.ts';
import type { Budgets } from '../domain/budgets/budgets.ts';
import type { LongWork } from '../domain/budgets/long-work.ts';
import { payerOfAccount } from '../domain/budgets/payer.ts';
import type { Consequences, Feed } from '../domain/datapoints/feed.ts';
import { limits } from '../domain/limits.ts';
import { catchUp } from '../domain/notifications/catch-up.ts';
import type { Channel } from '../domain/notifications/channel.ts';
import type { DailyMax } from '../domain/notifications/delivery.ts';
import { createDispatcher } from '../domain/notifications/dispatcher.ts';
import { createEvaluations } from '../domain/notifications/evaluations.ts';
import { createActuate } from '../domain/notifications/firing.ts';
import { createNotifications } from '../domain/notifications/notifications.ts';
import { createNotifier, type Notifier } from '../domain/notifications/notifier.ts';
import { createPreview } from '../domain/notifications/preview.ts';
import { createReach } from '../domain/notifications/recipients.ts';
import { createRuleBook, followRules } from '../domain/notifications/rule-book.ts';
import { createSilences, type Silences } from '../domain/notifications/silences.ts';
import { createStateBook } from '../domain/notifications/state-book.ts';
import { createTestMessages } from '../domain/notifications/test-messages.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { Services } from '../http/v2/services.ts';
import type { Clock } from '../lib/clock.ts';
import type { Log } from '../lib/log.ts';
import type { ServiceStorage } from './service-storage.ts';

/** Notifications and the outbox, wired, with what moves them. */
export interface BuiltNotifications
  extends Pick<Services, 'notifications' | 'preview' | 'testMessages'> {
  /** The hook of the ingest path. */
  readonly consequences: Consequences;
  /** The evaluation that is filed with a push; absent: this process evaluates alone. */
  readonly newEvaluation?: Notifier['newEvaluation'];
  /** Something was filed in the outbox. */
  readonly wake: () => void;
  /** Pushes of devices could not be stored, for no fault of theirs. */
  readonly onUnstored: () => void;
  /** Fetches all rules, evaluates what a crash left, and begins to deliver; before ports open. */
  start(): Promise<void>;
  /** Ends what is under way; after the ports are closed and pushes are stored. */
  stop(): Promise<void>;
}

export function createNotificationServices(parts: {
  readonly storage: ServiceStorage;
  readonly access: Access;
  readonly feed: Feed;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly budgets: Budgets;
  readonly longWork: LongWork;
  readonly evaluateOnCreate: boolean;
  readonly messages: { readonly perDay: DailyMax; readonly mustBeProven: boolean };
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
}): BuiltNotifications {
  const { storage, access, channels, budgets, clock, reporter, log } = parts;
  const { users, devices, datapoints, notifications: store } = storage;
  const actuate = createActuate({
    ...{ devices, clock },
    publish: (actuation) => parts.feed.publish([{ kind: 'actuator', ...actuation }]),
    told: parts.feed.told,
  });
  const outboxParts = { users, channels, actuate, clock, reporter, log, ...parts.messages };
  const outbox = createDispatcher({ store: storage.outbox, ...outboxParts });
  const states = createStateBook({ store, log });
  const evaluations = createEvaluations();
  // Rules wait for silences, and silences are reported to rules.
  const silences = (): Silences => watch;
  const book = createRuleBook({
    ...{ store, users, devices, datapoints, silences, budgets, reporter, log },
    ...{ states, evaluations },
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
    ...(isShared && { newEvaluation: notifier.newEvaluation }),
    notifications: createNotifications({
      ...{ store, users, devices, access, book, evaluations, notifier, clock, budgets },
      ...{ grants: storage.grants, longWork: parts.longWork },
      reach: createReach({ users, channels, mustBeProven: parts.messages.mustBeProven }),
      evaluateOnCreate: parts.evaluateOnCreate,
    }),
    preview: createPreview({ datapoints, access, book, clock, budget: budgets.of('previews') }),
    testMessages: createTestMessages({
      ...{ users, channels, clock, reporter, outbox: storage.outbox, ...parts.messages },
    }),
    consequences: notifier.consequences,
    wake: outbox.wake,
    onUnstored: watch.unheard,
    async start() {
      await book.load();
      if (!isShared) await catchUp({ book, notifier, datapoints, log });
      watch.start();
      outbox.start();
      // With a shared notifier, each evaluation ends with saving its states.
      if (!isShared) repeat(states.save, limits.statesPauseMs);
      repeat(notifier.retry, limits.firingsRetryMs);
    },
    async stop() {
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
