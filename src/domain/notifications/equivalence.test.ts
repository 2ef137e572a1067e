import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createManualClock, type Instant } from '../../lib/clock.ts';
import { silentLog } from '../../lib/log.ts';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  username,
} from '../../storage/contract/builders.ts';
import { aNotification } from '../../storage/contract/notifications.contract.ts';
import { createMemoryStorage } from '../../storage/memory/memory-storage.ts';
import type { Storage } from '../../storage/storage.ts';
import { createAccess } from '../access/access.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { toColumnBatch, toDatapoints } from '../datapoints/column-batch.ts';
import { type Datapoint, orderTime } from '../datapoints/datapoint.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { silentReporter } from '../reporter.ts';
import { catchUp } from './catch-up.ts';
import { createEvaluations } from './evaluations.ts';
import type { Notification, NotificationDraft } from './notification.ts';
import { createNotifier } from './notifier.ts';
import { createPreview } from './preview.ts';
import { createRuleBook } from './rule-book.ts';
import { createSilences, type Silences } from './silences.ts';
import { createStateBook } from './state-book.ts';

const [devices, sensors] = [['d0', 'd1'].map(deviceId), ['TC1', 'SM1'].map(sensorId)];
/** Everything happens on this grid, a few milliseconds late. */
const gridMs = 500;
const ana = { kind: 'user', userId: aUser('ana').id, username: username('ana') } as const;

/** Values pushed at once to one sensor; `at` in steps of the grid, with how late each one is. */
interface Pushed {
  readonly device: number;
  readonly sensor: number;
  readonly values: readonly { readonly value: number; readonly lateBy: number | undefined }[];
}

/** Pushes received within some milliseconds, so many steps after the ones before. */
interface Moment {
  readonly steps: number;
  readonly pushes: readonly Pushed[];
  readonly isSaved: boolean;
}

interface Fired {
  readonly at: Instant;
  readonly text: string;
}

const draftOf = (expression: string, throttlingSeconds: number): NotificationDraft => {
  const {
    id: _,
    owner: __,
    createdAt: ___,
    modifiedAt: ____,
    ...draft
  } = aNotification('n', {
    condition: { devices, sensors: sensors.slice(0, 1), expression },
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

/** A storage with a rule, its owner and the devices. */
async function store(draft: NotificationDraft): Promise<Storage> {
  const storage = createMemoryStorage();
  await storage.users.insert(aUser('ana'), 'hash');
  for (const id of devices) {
    const fields = { owner: username('ana'), sensors: sensors.map((one) => aSensor(one)) };
    await storage.devices.insert(aDevice(id, fields));
  }
  const { id, owner, createdAt, modifiedAt } = aNotification('n');
  const notification: Notification = { ...draft, id, owner, createdAt, modifiedAt };
  await storage.notifications.insert(notification);
  return storage;
}

/** A service on a storage, from its start to its end or crash. */
async function start(storage: Storage, clock: { now(): Instant }, fired: Fired[]) {
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
  const notifier = createNotifier({
    ...{ ...common, store, devices: storage.devices, access, channels: new Map(), outbox, book },
    ...{ silences, budgets, peekDevice: () => undefined },
  });
  const watch = createSilences({
    ...{ clock, log, evaluations, budget: budgets.of('silences') },
    onSilence: notifier.silenceOf,
  });
  await book.load();
  await catchUp({ book, notifier, datapoints, log });
  const preview = createPreview({
    ...{ datapoints, access, book, clock, budget: budgets.of('previews') },
  });
  return {
    preview,
    save: states.save,
    tick: () => watch.tick(),
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
      value: pushed.values.length === 1 ? value : value + (at % 1_000_000) / 1e9,
      receivedAt: at,
      ...(lateBy !== undefined && { timestamp: at - (at % gridMs) - lateBy * gridMs }),
    })),
  }) as StoredPush;

/** What of a push is new. */
async function append({ datapoints }: Storage, push: StoredPush): Promise<StoredPush> {
  const batch = toColumnBatch(push.datapoints);
  const [outcome] = await datapoints.append([{ ...push, batch }]);
  return { ...push, datapoints: outcome?.kind === 'stored' ? toDatapoints(outcome.fresh) : [] };
}

/**
 * Lives through the moments. At `crashAt` the process ends when all pushes of the moment are in the
 * store, and so many of them were looked at; what was not saved by then is lost.
 */
async function live(
  draft: NotificationDraft,
  moments: readonly Moment[],
  crash?: { readonly at: number; readonly looked: number },
) {
  const storage = await store(draft);
  const clock = createManualClock(noon);
  const fired: Fired[] = [];
  let service = await start(storage, clock, fired);
  for (const [index, { steps, pushes, isSaved }] of moments.entries()) {
    for (let step = 0; step < steps * gridMs; step += 1) {
      clock.advance(1);
      // Silences end where the grid is, and as late as pushes may come.
      if (clock.now() % gridMs < 4) await service.tick();
    }
    // What time alone changes comes once, and is written within a second.
    if (draft.condition.expression.includes('silent')) await service.save();
    const isCrash = index === crash?.at;
    for (const [place, pushed] of pushes.entries()) {
      const fresh = await append(storage, receivedOf(pushed, clock.now() + place));
      const isLooked = !isCrash || place < crash.looked;
      if (fresh.datapoints.length > 0 && isLooked) await service.look(fresh);
    }
    if (isSaved) await service.save();
    if (isCrash) service = await start(storage, clock, fired);
  }
  return { fired, storage, clock, service };
}

const pushedOf = (isLate: boolean): fc.Arbitrary<Pushed> =>
  fc.record({
    device: fc.nat({ max: 1 }),
    sensor: fc.nat({ max: 1 }),
    // Of one push and millisecond two equal ones cannot be told apart.
    values: fc
      .uniqueArray(
        fc.record({
          value: fc.integer({ min: 26, max: 33 }),
          lateBy: isLate
            ? fc.option(fc.nat({ max: 12 }), { nil: undefined })
            : fc.constant(undefined),
        }),
        { minLength: 1, maxLength: 3, selector: ({ value }) => value },
      )
      // One push is in the order of its timestamps, as the store reads it back.
      .map((values) =>
        values.some(({ lateBy }) => lateBy === undefined)
          ? values.map(({ value }) => ({ value, lateBy: undefined }))
          : values.toSorted((a, b) => (b.lateBy ?? 0) - (a.lateBy ?? 0)),
      ),
  });

const momentsOf = (isLate: boolean): fc.Arbitrary<readonly Moment[]> =>
  fc.array(
    fc.record({
      steps: fc.integer({ min: 1, max: 8 }),
      pushes: fc.array(pushedOf(isLate), { minLength: 1, maxLength: 3 }),
      isSaved: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  );

const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts);
const draft = fc
  .record({
    tests: fc.subarray(['TC1 > 30', 'SM1 < 31']),
    silence: oneOf('', '', 'silent(TC1, 2s)', 'silent(SM1, 1.5s)'),
    hold: oneOf('', ' for 1s', ' for 2.5s'),
    clear: oneOf('', '; clear TC1 < 29', '; clear SM1 > 30', '; clear TC1 < 30; clear'),
    throttling: fc.constantFrom(0, 0, 1, 4),
  })
  .map(({ tests: some, silence, hold, clear, throttling }) => {
    const tests = silence === '' ? some : [...some, silence];
    const ending = clear.replace(/; clear$/, '');
    return draftOf(tests.length === 0 ? '' : `${tests.join('; ')}${hold}${ending}`, throttling);
  });

test('after a crash the same readings fire as if there had been none', async () => {
  const crashed = fc.record({
    ...{ draft, moments: momentsOf(true) },
    at: fc.nat({ max: 11 }),
    looked: fc.nat({ max: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(crashed, async ({ draft, moments, at, looked }) => {
      const whole = await live(draft, moments);
      const broken = await live(draft, moments, { at: at % moments.length, looked });
      assert.deepEqual(broken.fired, whole.fired);
    }),
    { numRuns: 200 },
  );
});

test('a silence that a late datapoint makes old enough is told as after a crash', async () => {
  const draft = draftOf('SM1 < 31; silent(SM1, 1.5s) for 1s', 0);
  const push = (sensor: number, lateBy?: number): Moment['pushes'] => [
    { device: 0, sensor, values: [{ value: 26, lateBy }] },
  ];
  const moments = [push(0), push(1), push(0), push(0, 1), push(0)].map((pushes, index) => ({
    ...{ steps: index === 3 ? 2 : 1, pushes, isSaved: index === 3 },
  }));
  const whole = await live(draft, moments);
  const broken = await live(draft, moments, { at: 3, looked: 1 });
  assert.deepEqual(broken.fired, whole.fired);
});

test('a preview fires at the readings that fire when they come in time', async () => {
  await fc.assert(
    fc.asyncProperty(draft, momentsOf(true), async (draft, moments) => {
      const { storage, service, clock } = await live(draft, moments);
      const range = { from: noon, to: clock.now() };
      const { firings, fired } = await service.preview(ana, draft, range);
      const texts = firings.map(({ at, deviceId, message }) => ({
        at,
        text: `${deviceId} ${message}`,
      }));
      const again = await inTime(draft, storage, clock.now());
      assert.deepEqual(
        texts,
        again.map(({ at, text }) => ({ at, text })),
      );
      assert.equal(fired, again.length);
    }),
    { numRuns: 200 },
  );
});

/** The firings when each datapoint is received at its own time. */
async function inTime(draft: NotificationDraft, from: Storage, end: Instant): Promise<Fired[]> {
  const all: (StoredPush & { readonly at: Instant })[] = [];
  for (const ref of devices.flatMap((deviceId) =>
    sensors.map((sensorId) => ({ deviceId, sensorId })),
  )) {
    const page = { order: 'asc', skip: 0, limit: 1_000 } as const;
    for (const datapoint of await from.datapoints.read(ref, page)) {
      const at = orderTime(datapoint);
      const received: Datapoint = { value: datapoint.value, receivedAt: at };
      if (at >= noon && at <= end) all.push({ ...ref, at, datapoints: [received] });
    }
  }
  const storage = await store(draft);
  const clock = createManualClock(noon);
  const fired: Fired[] = [];
  const service = await start(storage, clock, fired);
  const until = async (at: Instant): Promise<void> => {
    while (clock.now() < at) {
      clock.advance(1);
      if (clock.now() % gridMs < 4) await service.tick();
    }
  };
  for (const push of all.toSorted((a, b) => a.at - b.at)) {
    await until(push.at);
    await service.look(await append(storage, push));
  }
  await until(end);
  return fired;
}
