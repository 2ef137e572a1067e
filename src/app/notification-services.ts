import type { Access } from '../domain/access/access.ts';
import type { Budgets } from '../domain/budgets/budgets.ts';
import type { Consequences } from '../domain/datapoints/consequences.ts';
import type { Feed } from '../domain/datapoints/feed.ts';
import type { ActuatorId, DeviceId, Username } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { catchUp } from '../domain/notifications/catch-up.ts';
import type { Channel, Outcome } from '../domain/notifications/channel.ts';
import { createNotifications } from '../domain/notifications/notifications.ts';
import { createNotifier } from '../domain/notifications/notifier.ts';
import { createOutbox } from '../domain/notifications/outbox.ts';
import type { DailyMax } from '../domain/notifications/outbox-store.ts';
import { createPreview } from '../domain/notifications/preview.ts';
import { createRuleBook } from '../domain/notifications/rule-book.ts';
import { createSilences, type Silences } from '../domain/notifications/silences.ts';
import { createTestMessages } from '../domain/notifications/test-messages.ts';
import type { Reporter } from '../domain/reporter.ts';
import type { NotificationServices } from '../http/v2/notifications.ts';
import type { Clock } from '../lib/clock.ts';
import { type JsonValue, parseJson } from '../lib/json.ts';
import type { Log } from '../lib/log.ts';
import type { Storage } from '../storage/storage.ts';

/** Notifications and the outbox, wired, with what moves them. */
export interface BuiltNotifications extends NotificationServices {
  /** The hook of the road in. */
  readonly consequences: Consequences;
  /** Something was filed in the outbox. */
  readonly wake: () => void;
  /** Fetches all rules, looks at what a crash left, and begins to deliver; before doors open. */
  start(): Promise<void>;
  /** Ends what is under way; after the doors are closed and pushes are stored. */
  stop(): Promise<void>;
}

export function createNotificationServices(parts: {
  readonly storage: Storage;
  readonly access: Access;
  readonly feed: Feed;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly budgets: Budgets;
  readonly evaluateOnCreate: boolean;
  readonly messages: { readonly perDay: DailyMax; readonly mustBeProven: boolean };
  readonly clock: Clock;
  readonly reporter: Reporter;
  readonly log: Log;
}): BuiltNotifications {
  const { storage, access, channels, budgets, clock, reporter, log } = parts;
  const { users, devices, datapoints, notifications: store } = storage;
  const actuate = createActuate(parts);
  const outboxParts = { users, channels, actuate, clock, reporter, log, ...parts.messages };
  const outbox = createOutbox({ store: storage.outbox, ...outboxParts });
  // Rules wait for silences, and silences are told to rules.
  const silences = (): Silences => watch;
  const book = createRuleBook({
    ...{ store, users, devices, datapoints, silences, budgets, reporter, log },
  });
  const notifier = createNotifier(
    {
      ...{ store, users, devices, access, channels, outbox, clock, reporter, log },
      ...{ book, datapoints, onStateChanged: book.stateChanged },
    },
    silences,
  );
  let retrying: NodeJS.Timeout | undefined;
  const watch = createSilences({
    ...{ clock, log, budget: budgets.of('silences') },
    onSilence: notifier.silenceOf,
  });
  return {
    notifications: createNotifications({
      ...{ store, devices, access, book, notifier, clock, budgets },
      evaluateOnCreate: parts.evaluateOnCreate,
    }),
    preview: createPreview({ datapoints, access, book, clock, budget: budgets.of('previews') }),
    testMessages: createTestMessages({
      ...{ users, channels, clock, reporter, outbox: storage.outbox, ...parts.messages },
    }),
    consequences: notifier.consequences,
    wake: outbox.wake,
    async start() {
      await book.load();
      await catchUp({ book, notifier, datapoints, log });
      book.start();
      watch.start();
      outbox.start();
      retrying = setInterval(() => void notifier.retry(), limits.firingsRetryMs);
      retrying.unref();
    },
    async stop() {
      await watch.stop();
      clearInterval(retrying);
      await notifier.drain();
      await notifier.retry();
      await outbox.stop();
      await book.stop();
    },
  };
}

/** Sets an actuator for a notification whose right was asked when it fired. */
function createActuate({
  storage,
  feed,
  clock,
}: {
  readonly storage: Storage;
  readonly feed: Feed;
  readonly clock: Clock;
}): (message: string, by: Username) => Promise<Outcome> {
  return async (message, by) => {
    // Written when the notification fired.
    const { device_id, actuator_id, actuator_value } = parseJson(message) as {
      readonly device_id: DeviceId;
      readonly actuator_id: ActuatorId;
      readonly actuator_value: JsonValue;
    };
    const change = { deviceId: device_id, actuatorId: actuator_id, value: actuator_value };
    const { deviceId, actuatorId, value } = change;
    const step = { kind: 'set', value, by, at: clock.now() } as const;
    const outcome = await storage.devices.stepActuator(deviceId, actuatorId, step);
    if (outcome === 'missing') {
      return { kind: 'refused', reason: `there is no actuator ${actuatorId} on ${deviceId}` };
    }
    feed.publish([{ kind: 'actuator', ...change }]);
    return { kind: 'sent' };
  };
}
