import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Datapoint, orderTime } from '../src/domain/datapoints/datapoint.ts';
import { readDatapoints } from '../src/domain/datapoints/datapoint-store.ts';
import type { StoredPush } from '../src/domain/datapoints/feed.ts';
import type { NotificationDraft } from '../src/domain/notifications/notification.ts';
import type { Instant } from '../src/lib/clock.ts';
import type { Storage } from '../src/storage/storage.ts';
import { noon } from './contract/storage/builders.ts';
import {
  ana,
  devices,
  draftOf,
  emptiedStorage,
  type Fired,
  type Ground,
  gridMs,
  live,
  type Moment,
  momentsOf,
  type Pushed,
  sensors,
  start,
  store,
} from './lived-rules.ts';
import { createManualClock } from './manual-clock.ts';

const mixed = { isLate: true, isMixed: true };

const oneOf = (...texts: readonly string[]) => fc.constantFrom(...texts);
const draft = fc
  .record({
    isForAll: fc.boolean(),
    maxAge: fc.constantFrom(undefined, undefined, 1, 3),
    tests: fc.subarray(['TC1 > 30', 'SM1 < 31']),
    silence: oneOf('', '', 'silent(TC1, 2s)', 'silent(SM1, 1.5s)'),
    hold: oneOf('', ' for 1s', ' for 2.5s'),
    clear: oneOf('', '; clear TC1 < 29', '; clear SM1 > 30', '; clear TC1 < 30; clear'),
    throttling: fc.constantFrom(0, 0, 1, 4),
  })
  .map(({ tests: some, silence, hold, clear, throttling, maxAge, isForAll }) => {
    const tests = silence === '' ? some : [...some, silence];
    const ending = clear.replace(/; clear$/, '');
    return draftOf(tests.length === 0 ? '' : `${tests.join('; ')}${hold}${ending}`, throttling, {
      maxAgeSeconds: maxAge,
      isForAll,
    });
  });

const textOf = ({ text }: Fired): string => text;

/** Firings by device, in order: those of a device of somebody else are committed apart. */
const byDevice = (fired: readonly Fired[]) =>
  Map.groupBy(fired, ({ text }) => text.slice(0, text.indexOf(' ')));

/** On which stores rules live, and how many lives are tried. */
interface Trial {
  readonly ground: Ground;
  readonly numRuns: number;
}

/** Silences begin anew at a start, and so does the `for` after them, whatever was remembered. */
function holdsForAnewAfterStarts(ground: Ground): void {
  test('a "for" that began before a start begins when the silence is as long again', async () => {
    const draft = draftOf('silent(TC1, 2s); SM1 > 29 for 10s', 0);
    const push = (sensor: number, value: number) => ({
      ...{ device: 0, sensor, values: [{ value, lateBy: undefined }] },
    });
    const [tc1, sm1] = [0, 1];
    const moments: readonly Moment[] = [
      { steps: 1, pushes: [push(sm1, 30), push(tc1, 26)], isSaved: true },
      { steps: 6, pushes: [push(sm1, 30)], isSaved: false },
      // No sensor is silent yet: what held before the start holds no longer.
      { steps: 1, pushes: [push(sm1, 31)], isSaved: false },
      { steps: 50, pushes: [push(tc1, 26)], isSaved: false },
    ];
    for (const isOrderly of [true, false]) {
      const crash = { at: 1, looked: 3, isOrderly };
      const { fired } = await live(draft, moments, { ground, crash });
      const steps = fired.map(({ at }) => Math.floor((at - noon) / gridMs));
      // The start is at the step 7.
      assert.deepEqual(steps, [7 + 4 + 20], `in order: ${isOrderly}`);
    }
  });
}

/** A silence that it fired for ends no rule: what else it asks for may begin to hold once more. */
function holdsBesideToldSilences(ground: Ground): void {
  test('a "for" begins with a silence that was told before the start, too', async () => {
    const draft = draftOf('silent(TC1, 2s); SM1 > 29 for 1s', 0);
    const value = (value: number, lateBy?: number) => ({ value, lateBy });
    const moments: readonly Moment[] = [
      { steps: 1, pushes: [{ device: 0, sensor: 1, values: [value(30)] }], isSaved: false },
      { steps: 1, pushes: [{ device: 0, sensor: 0, values: [value(26)] }], isSaved: false },
      // As it fires, the former value ends it and the latter begins it anew.
      {
        steps: 6,
        pushes: [{ device: 0, sensor: 1, values: [value(26, 0), value(30)] }],
        isSaved: false,
      },
      // No sensor is silent again: what held before the start holds no longer.
      { steps: 2, pushes: [{ device: 0, sensor: 1, values: [value(31)] }], isSaved: false },
      { steps: 4, pushes: [{ device: 0, sensor: 1, values: [value(32)] }], isSaved: false },
    ];
    for (const isOrderly of [true, false]) {
      const { fired } = await live(draft, moments, {
        ground,
        crash: { at: 2, looked: 3, isOrderly },
      });
      const steps = fired.map(({ at }) => Math.floor((at - noon) / gridMs));
      assert.deepEqual(steps, [8, 14], `in order: ${isOrderly}`);
    }
  });
}

/** What holds where one process serves the data. */
export function firesTheSameAfterCrashes({ ground, numRuns }: Trial): void {
  holdsForAnewAfterStarts(ground);
  holdsBesideToldSilences(ground);

  test('after a crash the same readings fire as if there had been none', async () => {
    const crashed = fc.record({
      ...{ draft, moments: momentsOf(mixed) },
      at: fc.nat({ max: 11 }),
      looked: fc.nat({ max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(crashed, async ({ draft, moments, at, looked }) => {
        // A silence begins anew at a start.
        fc.pre(!draft.condition.expression.includes('silent'));
        const whole = await live(draft, moments, { ground });
        const crash = { at: at % moments.length, looked };
        const broken = await live(draft, moments, { ground, crash });
        assert.deepEqual(byDevice(broken.fired), byDevice(whole.fired));
      }),
      { numRuns },
    );
  });

  test('after a crash silences fire as after an end in order', async () => {
    const rule = fc.record({
      silence: oneOf(
        'silent(TC1, 2s)',
        'silent(SM1, 1.5s)',
        'silent(TC1, 2s); silent(SM1, 1.5s)',
        'silent(TC1, 2s); SM1 > 29',
      ),
      hold: oneOf('', ' for 1s', ' for 2.5s'),
      clear: oneOf('', ' clear TC1 < 29', ' clear SM1 > 30'),
      throttling: fc.constantFrom(0, 1, 4),
      maxAge: fc.constantFrom(undefined, 1),
    });
    const crash = fc.record({ at: fc.nat({ max: 11 }), looked: fc.nat({ max: 3 }) });
    await fc.assert(
      fc.asyncProperty(rule, momentsOf(mixed), crash, async (rule, moments, { at, looked }) => {
        const { silence, hold, clear, throttling, maxAge } = rule;
        const draft = draftOf(`${silence}${hold}${clear}`, throttling, { maxAgeSeconds: maxAge });
        const end = { at: at % moments.length, looked: 3, isOrderly: true };
        const whole = await live(draft, moments, { ground, crash: end });
        // What was not evaluated before the end is evaluated when no sensor is silent yet.
        const isMixed = silence.includes('>');
        const crash = { at: end.at, looked: isMixed ? 3 : looked };
        const broken = await live(draft, moments, { ground, crash });
        assert.deepEqual(byDevice(broken.fired), byDevice(whole.fired));
      }),
      { numRuns: Math.ceil(numRuns / 2) },
    );
  });
}

/** What holds whoever takes in which push. */
export function firesTheSameInAnyOrder({ ground, numRuns }: Trial): void {
  const other = emptiedStorage();
  test('in any order of arrival rules fire as if history had never come', async () => {
    await fc.assert(
      fc.asyncProperty(draft, momentsOf(mixed), async (draft, moments) => {
        // Whatever comes is a sign of life.
        fc.pre(!draft.condition.expression.includes('silent'));
        const whole = await live(draft, moments, { ground });
        const others = await live(draft, withoutHistory(moments), { ground });
        assert.deepEqual(whole.fired.map(textOf), others.fired.map(textOf));
      }),
      { numRuns },
    );
  });

  test('live evaluation fires where a preview without history does', async () => {
    const one = momentsOf(mixed).map((moments) =>
      moments.map(({ pushes, ...moment }) => ({
        ...moment,
        pushes: pushes.map((pushed) => ({ ...pushed, device: 0, sensor: 0 })),
      })),
    );
    const expression = fc.constantFrom('TC1 > 30', 'TC1 > 29 for 1s', 'TC1 > 30 clear TC1 < 29');
    await fc.assert(
      fc.asyncProperty(expression, one, async (expression, moments) => {
        const draft = draftOf(expression, 0);
        const { fired } = await live(draft, moments, { ground });
        const { service, clock } = await live(draft, withoutHistory(moments), { ground });
        const range = { from: 0, to: clock.now() + 10 };
        const { firings, cameLate } = await service.preview(ana, draft, range);
        assert.equal(cameLate, 0);
        const texts = firings.map(({ deviceId, message }) => `${deviceId} ${message}`);
        assert.deepEqual(texts, fired.map(textOf));
      }),
      { numRuns },
    );
  });

  test('a preview counts what came late', async () => {
    await fc.assert(
      fc.asyncProperty(momentsOf(mixed), async (moments) => {
        const draft = draftOf('TC1 > 30; SM1 < 31', 0);
        const life = { ground, isEvaluated: false };
        const { service, clock, storage } = await live(draft, moments, life);
        let late = 0;
        for (const ref of devices.flatMap((deviceId) =>
          sensors.map((sensorId) => ({ deviceId, sensorId })),
        )) {
          const page = { order: 'asc', skip: 0, limit: 1_000 } as const;
          const all = await readDatapoints(storage.datapoints, ref, page);
          late += all.filter((one) =>
            all.some((q) => orderTime(q) > orderTime(one) && q.receivedAt < one.receivedAt),
          ).length;
        }
        const range = { from: 0, to: clock.now() + 10 };
        assert.equal((await service.preview(ana, draft, range)).cameLate, late);
      }),
    );
  });

  test('a preview fires at the readings that fire when they come in time', async () => {
    await fc.assert(
      fc.asyncProperty(draft, momentsOf(mixed), async (draft, moments) => {
        const { storage, service, clock } = await live(draft, moments, { ground });
        const range = { from: noon, to: clock.now() };
        const { firings, fired } = await service.preview(ana, draft, range);
        const texts = firings.map(({ at, deviceId, message }) => ({
          at,
          text: `${deviceId} ${message}`,
        }));
        const again = await inTime(draft, { from: storage, to: other, end: clock.now() });
        assert.deepEqual(texts, again);
        assert.equal(fired, again.length);
      }),
      { numRuns },
    );
  });
}

/** What holds where several processes serve the data. */
export function firesAsOneProcess({ ground, numRuns }: Trial): void {
  holdsForAnewAfterStarts(ground);
  holdsBesideToldSilences(ground);
  const other = emptiedStorage();
  test('several processes fire at the readings at which one does', async () => {
    await fc.assert(
      fc.asyncProperty(draft, momentsOf(mixed), async (draft, moments) => {
        const alone = await live(draft, moments, { ground: other });
        const shared = await live(draft, moments, { ground });
        assert.deepEqual(byDevice(shared.fired), byDevice(alone.fired));
      }),
      { numRuns },
    );
  });
}

/** The moments without what was older than the newest of its sensor, in order of time. */
function withoutHistory(moments: readonly Moment[]): readonly Moment[] {
  const newest = new Map<string, number>();
  let now = 0;
  return moments.map(({ steps, pushes, isSaved }) => {
    now += steps * gridMs;
    const kept = pushes.map((pushed, place) => {
      const timeOf = ({ lateBy }: Pushed['values'][number]): Instant =>
        lateBy === undefined ? now + place : now - lateBy * gridMs;
      const key = `${pushed.device} ${pushed.sensor}`;
      const before = newest.get(key) ?? Number.NEGATIVE_INFINITY;
      newest.set(key, Math.max(before, ...pushed.values.map(timeOf)));
      const inTime = pushed.values.toSorted((a, b) => timeOf(a) - timeOf(b));
      const values = inTime.filter((one) => timeOf(one) >= before);
      return { ...pushed, values, count: pushed.values.length };
    });
    return { steps, pushes: kept, isSaved };
  });
}

/** The firings when each datapoint is received at its own time. */
async function inTime(
  draft: NotificationDraft,
  { from, to, end }: { readonly from: Storage; readonly to: Ground; readonly end: Instant },
): Promise<Fired[]> {
  const all: (StoredPush & { readonly at: Instant })[] = [];
  for (const ref of devices.flatMap((deviceId) =>
    sensors.map((sensorId) => ({ deviceId, sensorId })),
  )) {
    const page = { order: 'asc', skip: 0, limit: 1_000 } as const;
    for (const datapoint of await readDatapoints(from.datapoints, ref, page)) {
      const at = orderTime(datapoint);
      const received: Datapoint = { value: datapoint.value, receivedAt: at };
      if (at >= noon && at <= end) all.push({ ...ref, at, datapoints: [received] });
    }
  }
  const [storage] = await store(draft, to);
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
    await service.look(await service.append(push));
  }
  await until(end);
  return fired;
}
