import fc from 'fast-check';
import { createAccess } from '../src/domain/access/policy.ts';
import { createBudgets } from '../src/domain/budgets/budgets.ts';
import { toColumnBatch, toDatapoints } from '../src/domain/datapoints/column-batch.ts';
import type { Note } from '../src/domain/datapoints/datapoint-store.ts';
import type { StoredPush } from '../src/domain/datapoints/feed.ts';
import type { DeviceId } from '../src/domain/ids.ts';
import { catchUp } from '../src/domain/notifications/catch-up.ts';
import { createEvaluations } from '../src/domain/notifications/evaluations.ts';
import type { Notification, NotificationDraft } from '../src/domain/notifications/notification.ts';
import { createNotifier } from '../src/domain/notifications/notifier.ts';
import { createPreview } from '../src/domain/notifications/preview.ts';
import { createRuleBook } from '../src/domain/notifications/rule-book.ts';
import { createSilences, type Silences } from '../src/domain/notifications/silences.ts';
import { createStateBook } from '../src/domain/notifications/state-book.ts';
import { silentReporter } from '../src/domain/reporter.ts';
import { createEventText } from '../src/feed/entry-text.ts';
import type { Instant } from '../src/lib/clock.ts';
import type { JsonValue } from '../src/lib/json.ts';
import { silentLog } from '../src/lib/log.ts';
import type { Storage } from '../src/storage/storage.ts';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  username,
} from './contract/storage/builders.ts';
import { aNotification } from './contract/storage/notifications.contract.ts';
import { createManualClock } from './manual-clock.ts';
import { temporaryStorage } from './temporary-storage.ts';

export const devices = ['d0', 'd1'].map(deviceId);
export const sensors = ['TC1', 'SM1'].map(sensorId);
/** Everything happens on this grid, a few milliseconds late. */
export const gridMs = 500;
export const ana = { kind: 'user', userId: aUser('ana').id, username: username('ana') } as const;

/** Values pushed at once to one sensor; `at` in steps of the grid, with how late each one is. */
export interface Pushed {
  readonly device: number;
  readonly sensor: number;
  readonly values: readonly { readonly value: JsonValue; readonly lateBy: number | undefined }[];
  /** How many there were before some were left out. */
  readonly count?: number;
}

/** Pushes received within some milliseconds, so many steps after the ones before. */
export interface Moment {
  readonly steps: number;
  readonly pushes: readonly Pushed[];
  readonly isSaved: boolean;
}

export interface Fired {
  readonly at: Instant;
  readonly text: string;
}

/** Where lives happen, one after the other: the stores of each process on the same, empty data. */
export type Ground = () => Promise<readonly [Storage, ...Storage[]]>;

export const draftOf = (
  expression: string,
  throttlingSeconds: number,
  more: { readonly maxAgeSeconds?: number | undefined; readonly isForAll?: boolean } = {},
): NotificationDraft => {
  const { maxAgeSeconds, isForAll = false } = more;
  const {
    id: _,
    owner: __,
    createdAt: ___,
    modifiedAt: ____,
    ...draft
  } = aNotification('n', {
    condition: {
      ...{ devices: isForAll ? [] : devices, sensors: sensors.slice(0, 1) },
      ...{ expression, maxAgeSeconds },
    },
    action: {
      kind: 'message',
      usernames: ['ana'],
      channels: ['webhook'],
      message: '{id} {TC1} {SM1}',
    },
    throttlingSeconds,
  });
  return draft;
};

/**
 * Stores with a rule, its owner and the devices: all are hers where the rule is for all of hers,
 * else one of those that it names is somebody else's.
 */
export async function store(draft: NotificationDraft, ground: Ground) {
  const storages = await ground();
  const [storage] = storages;
  const isForAll = draft.condition.devices.length === 0;
  for (const [place, id] of devices.entries()) {
    const owner = username(isForAll || place === 0 ? 'ana' : 'ben');
    const ofDevice = sensors.map((one) => aSensor(one));
    await storage.devices.insert(aDevice(id, { owner, sensors: ofDevice }));
  }
  const { id, owner, createdAt, modifiedAt } = aNotification('n');
  const notification: Notification = { ...draft, id, owner, createdAt, modifiedAt };
  await storage.notifications.insert(notification);
  return storages;
}

/** Stores whose data is emptied for each life, but for the accounts. */
export function emptiedFor(open: () => Promise<readonly [Storage, ...Storage[]]>): Ground {
  let opened: ReturnType<typeof open> | undefined;
  return async () => {
    opened ??= open();
    const storages = await opened;
    const [{ devices: store, notifications, users }] = storages;
    for (const name of ['ana', 'ben']) {
      const found = await users.findByUsername(username(name));
      if (found === undefined) await users.insert(aUser(name), 'hash');
    }
    await notifications.remove(aNotification('n').id);
    for (const id of devices) await store.remove(id);
    return storages;
  };
}

/** A storage of its own, emptied for each life; it ends with the suite or file that asks for it. */
export function emptiedStorage(): Ground {
  const opening = temporaryStorage();
  return emptiedFor(async () => [await opening]);
}

const eventText = createEventText({
  origin: () => ({ process: '0', count: 0 }) as never,
  settingOrigin: () => ({ process: '0', count: 0 }) as never,
  toJson: () => undefined,
  fromJson: () => undefined,
  hasWhole: () => false,
});

function pushOf(text: string): StoredPush | undefined {
  const event = eventText.read(text);
  return event?.kind === 'datapoints' ? event : undefined;
}

/** A service on a storage, from its start to its end or crash. */
export async function start(storage: Storage, clock: { now(): Instant }, fired: Fired[]) {
  const { users, datapoints, notifications } = storage;
  const budgets = createBudgets();
  const log = silentLog;
  const store: Storage['notifications'] = {
    ...notifications,
    async fire(firings) {
      const outcomes = await notifications.fire(firings);
      for (const [index, { at, deviceId, deliveries }] of firings.entries()) {
        const text = `${deviceId} ${deliveries[0]?.message}`;
        if (outcomes[index]?.kind === 'fired') fired.push({ at, text });
      }
      return outcomes;
    },
  };
  const grants = { peek: () => [], scopesOn: async () => [] };
  const access = createAccess({ grants, settings: { publicPush: 'granted' } });
  const states = createStateBook({ store, log });
  const evaluations = createEvaluations();
  const silences = (): Silences => watch;
  const common = { clock, log, reporter: silentReporter, evaluations, states, users, datapoints };
  const book = createRuleBook({ ...common, store, devices: storage.devices, silences, budgets });
  const outbox = { wake: () => undefined, deliver: async () => undefined };
  const ofNotifier = {
    ...{ ...common, store, devices: storage.devices, access, channels: new Map(), outbox, book },
    ...{ silences, budgets, peekDevice: (id: DeviceId) => known.get(id) },
  };
  const found = await Promise.all(devices.map((id) => storage.devices.find(id)));
  const known = new Map(found.flatMap((device) => (device ? [[device.id, device] as const] : [])));
  const { looks } = storage;
  const notifier = createNotifier(ofNotifier, looks && { looks, pushOf });
  const watch = createSilences({
    ...{ clock, log, evaluations, budget: budgets.of('silences') },
    onSilence: notifier.silenceOf,
  });
  await book.load();
  if (looks === undefined) await catchUp({ book, notifier, datapoints, log });
  const preview = createPreview({
    ...{ datapoints, access, book, clock, budget: budgets.of('previews') },
  });
  return {
    preview,
    save: states.save,
    tick: () => watch.tick(),
    /** Answers what of a push is new, and the evaluation that was filed with it. */
    async append(push: StoredPush, isEvaluated = true): Promise<StoredPush> {
      let evaluationId: string | undefined;
      const batch = toColumnBatch(push.datapoints);
      const [outcome] = await datapoints.append(
        [{ ...push, batch }],
        async ([one], commit): Promise<readonly Note[]> => {
          if (looks === undefined || one?.kind !== 'stored' || one.fresh.count === 0) return [];
          const stored = { push: { ...push, batch: one.fresh }, outcome: one };
          const looked = isEvaluated && (await notifier.evaluationsOf?.([stored], commit));
          const [look] = looked || [];
          const text = eventText.ofLast({ ...push, batch: one.fresh });
          evaluationId = look?.id;
          return [look === undefined ? { text } : { text, look }];
        },
      );
      const fresh = outcome?.kind === 'stored' ? toDatapoints(outcome.fresh) : [];
      return {
        ...{ ...push, datapoints: fresh },
        ...(evaluationId !== undefined && { evaluationId }),
        ...(outcome?.kind === 'stored' && outcome.isAhead === true && { isAhead: true }),
      };
    },
    /** Hears what another process took in. */
    hear({ deviceId, sensorId, datapoints }: StoredPush): void {
      const last = datapoints.at(-1)?.receivedAt;
      if (last !== undefined) watch.seen(deviceId, sensorId, last);
    },
    async look(push: StoredPush): Promise<void> {
      await Promise.all(notifier.consequences([push]) ?? []);
      await notifier.drain();
    },
  };
}

const receivedOf = (pushed: Pushed, at: Instant): StoredPush =>
  ({
    ...{ deviceId: devices[pushed.device] ?? devices[0], sensorId: sensors[pushed.sensor] },
    datapoints: pushed.values.map(({ value, lateBy }) => ({
      // Of several values none is a repetition: the store would tell another last value then.
      value:
        (pushed.count ?? pushed.values.length) === 1 || typeof value !== 'number'
          ? value
          : value + (at % 1_000_000) / 1e9,
      receivedAt: at,
      ...(lateBy !== undefined && { timestamp: at - (at % gridMs) - lateBy * gridMs }),
    })),
  }) as StoredPush;

/**
 * The process ends at this moment when all pushes of it are in the store, and so many of them were
 * evaluated; what was not saved by then is lost.
 */
export interface Crash {
  readonly at: number;
  readonly looked: number;
  /** It ends in order: all that was evaluated is saved. */
  readonly isOrderly?: boolean;
}

interface Life {
  readonly ground: Ground;
  readonly crash?: Crash;
  /** false: no rule is evaluated; datapoints alone are kept. */
  readonly isEvaluated?: boolean;
}

/** Lives through the moments; where there are several processes, each takes in some of them. */
export async function live(
  draft: NotificationDraft,
  moments: readonly Moment[],
  { crash, ground, isEvaluated = true }: Life,
) {
  const storages = await store(draft, ground);
  const clock = createManualClock(noon);
  const fired: Fired[] = [];
  const startAll = () => Promise.all(storages.map((one) => start(one, clock, fired)));
  let services = await startAll();
  for (const [index, { steps, pushes, isSaved }] of moments.entries()) {
    for (let step = 0; step < steps * gridMs; step += 1) {
      clock.advance(1);
      if (clock.now() % gridMs >= 4) continue;
      // Silences end where the grid is, and as late as pushes may come.
      for (const service of services) await service.tick();
    }
    const isCrash = index === crash?.at;
    for (const [place, pushed] of pushes.entries()) {
      if (pushed.values.length === 0) continue;
      const at = (index + place) % services.length;
      const [service, others] = [services[at], services.toSpliced(at, 1)];
      const push = receivedOf(pushed, clock.now() + place);
      const fresh = await service?.append(push, isEvaluated);
      if (fresh === undefined || fresh.datapoints.length === 0) continue;
      for (const other of others) other.hear(fresh);
      const isSeen = !isCrash || place < crash.looked;
      if (isEvaluated && isSeen) await service?.look(fresh);
    }
    if (isSaved || (isCrash && crash.isOrderly === true)) {
      for (const service of services) await service.save();
    }
    if (isCrash) services = await startAll();
  }
  const [storage] = storages;
  return { fired, storage, clock, service: services[0] as Service };
}

type Service = Awaited<ReturnType<typeof start>>;

/** How the values of a push may come. */
export interface Arrival {
  readonly isLate: boolean;
  /** Also what is no number, and arrays in which some have a time and some have none. */
  readonly isMixed?: boolean;
}

const noNumbers: readonly JsonValue[] = ['nan', 'error', null, true, {}];

const pushedOf = ({ isLate, isMixed = false }: Arrival): fc.Arbitrary<Pushed> =>
  fc.record({
    device: fc.nat({ max: 1 }),
    sensor: fc.nat({ max: 1 }),
    // Of one push and millisecond two equal ones cannot be told apart.
    values: fc
      .uniqueArray(
        fc.record({
          value: fc.oneof(
            { weight: 3, arbitrary: fc.integer({ min: 26, max: 33 }) },
            ...(isMixed ? [fc.constantFrom<JsonValue>(...noNumbers)] : []),
          ),
          lateBy: isLate
            ? fc.option(fc.nat({ max: 12 }), { nil: undefined })
            : fc.constant(undefined),
        }),
        { minLength: 1, maxLength: 3, selector: ({ value }) => JSON.stringify(value) },
      )
      .map((values) =>
        !isMixed && values.some(({ lateBy }) => lateBy === undefined)
          ? values.map(({ value }) => ({ value, lateBy: undefined }))
          : values,
      ),
  });

export const momentsOf = (arrival: Arrival): fc.Arbitrary<readonly Moment[]> =>
  fc.array(
    fc.record({
      steps: fc.integer({ min: 1, max: 8 }),
      pushes: fc.array(pushedOf(arrival), { minLength: 1, maxLength: 3 }),
      isSaved: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  );
