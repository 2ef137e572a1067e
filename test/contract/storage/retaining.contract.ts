import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  type Aggregate,
  aggregate,
  aggregates,
} from '../../../src/domain/datapoints/aggregation.ts';
import type { Correction } from '../../../src/domain/datapoints/corrections/correction.ts';
import { type Datapoint, orderTime } from '../../../src/domain/datapoints/datapoint.ts';
import {
  calibratedColumns,
  toDatapointColumns,
} from '../../../src/domain/datapoints/datapoint-columns.ts';
import type {
  DatapointStore,
  Page,
  Range,
} from '../../../src/domain/datapoints/datapoint-store.ts';
import {
  dayMs,
  hourMs,
  type RetentionLimits,
} from '../../../src/domain/datapoints/retention/retention.ts';
import { calibratedRun } from '../../../src/domain/datapoints/standing.ts';
import { isStretchRun, type SummarisedPart } from '../../../src/domain/datapoints/stretches.ts';
import type { Calibration } from '../../../src/domain/devices/calibration.ts';
import type { CorrectionId, Username } from '../../../src/domain/ids.ts';
import { asNumber, type JsonValue } from '../../../src/lib/json.ts';
import { createHexId } from '../../../src/lib/secret-token.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import { aDevice, noon, sensorId } from './builders.ts';
import { allValues, push, sensor } from './datapoint-builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

/** The first instant of the day. */
const midnight = noon - 12 * hourMs;

/** A datapoint of so many hours after midnight. */
function hours(after: number, value: JsonValue): Datapoint {
  const timestamp = midnight + after * hourMs;
  return { value, timestamp, receivedAt: timestamp + 250 };
}

/** Pushes that, in small chunks, leave one time at the end of a chunk and alone in the next one. */
const timeInTwoChunks = [
  [tens(-17, 0), tens(166, 0), tens(0, 0), tens(23, 'wet')],
  [tens(0, 'wet'), tens(23, 0)],
  [...[114, 166, 17, -17, -12, 22, -143].map((at) => tens(at, -1)), tens(-2, '3')],
  [tens(-148, 3), tens(-98, 2), tens(23, 5), tens(-73, '3'), tens(-11, '3'), tens(64, 0.25)],
  ...[-3, 1],
];

/** A value so many times ten minutes after midnight. */
function tens(after: number, value: string | number): [number, string | number] {
  return [after, value];
}

/** Steps until nothing is left to do; answers how many datapoints went. */
async function takeAll({ retaining }: Pick<Storage, 'retaining'>, limits: RetentionLimits) {
  let datapoints = 0;
  for (let turn = 0; turn < 2_000; turn += 1) {
    const step = await retaining.step(sensor(), limits);
    datapoints += step.datapoints;
    if (step.state === 'done') return datapoints;
    // What is to reach its place first is under way.
    if (step.state === 'wait') await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.fail('retention does not end');
}

/** What a range comes to, in buckets of so many ms. */
async function sums(
  store: DatapointStore,
  names: readonly Aggregate[],
  options: Range & { readonly each?: number; readonly calibration?: Calibration } = {},
): Promise<readonly (readonly (JsonValue | undefined)[])[]> {
  const { each = dayMs, calibration, ...range } = options;
  const bucketOf = (at: number) => {
    const start = Math.floor(at / each) * each;
    return { start, end: start + each };
  };
  async function* parts(): AsyncGenerator<SummarisedPart> {
    const room = { rowsMax: 3, charactersMax: 1_000, mayStand: () => false };
    let page: Page | undefined = { ...range, order: 'asc', skip: 0, limit: Infinity };
    while (page !== undefined) {
      const step = await store.summarise(sensor(), page, room);
      for (const part of step.parts) {
        yield isStretchRun(part)
          ? calibratedRun(part, calibration)
          : calibratedColumns(part, calibration);
      }
      page = step.next;
    }
  }
  const buckets = [];
  for await (const step of aggregate(parts(), { aggregates: names, bucketOf })) {
    for (const { start, values } of step.buckets) {
      buckets.push([(start - midnight) / hourMs, ...values]);
    }
  }
  return buckets;
}

const all: readonly Aggregate[] = aggregates;

/** First and last are numbers where hours stand, and what was pushed elsewhere. */
const asNumbers = (rows: Awaited<ReturnType<typeof sums>>) =>
  rows.map((row) => row.map((one) => (one === undefined ? undefined : asNumber(one))));

const promises: Promises = {
  'what is older goes, and its hours stay': async (storage) => {
    const { datapoints } = storage;
    await datapoints.append([push([hours(-30, 5), hours(-29.5, 7), hours(-26, 1), hours(1, 9)])]);
    assert.equal(await datapoints.standsFrom([sensor()], {}), undefined);
    const before = await sums(datapoints, all);
    assert.equal(await takeAll(storage, { rawBefore: midnight }), 3);
    assert.deepEqual(await allValues(datapoints), [9]);
    assert.equal(await datapoints.count(sensor(), {}), 1);
    assert.deepEqual(await sums(datapoints, all), before);
    assert.equal(await datapoints.standsFrom([sensor()], {}), midnight);
    assert.equal(await datapoints.standsFrom([sensor()], { from: midnight }), undefined);
    const left = await datapoints.hours(sensor(), {}, 10);
    assert.deepEqual([...left.counts], [2, 1]);
    assert.equal(await takeAll(storage, { rawBefore: midnight }), 0);
  },

  'hours go when they are older than theirs': async (storage) => {
    const { datapoints } = storage;
    await datapoints.append([push([hours(-80, 1), hours(-50, 2), hours(-20, 3), hours(1, 4)])]);
    await takeAll(storage, { rawBefore: midnight });
    assert.equal((await sums(datapoints, ['count'])).length, 4);
    await takeAll(storage, { rawBefore: midnight, hourlyBefore: midnight - 2 * dayMs });
    assert.deepEqual(await sums(datapoints, ['sum']), [
      [-24, 3],
      [0, 4],
    ]);
    await takeAll(storage, { rawBefore: midnight + dayMs, hourlyBefore: midnight + dayMs });
    assert.deepEqual(await sums(datapoints, ['sum']), []);
    assert.deepEqual(await allValues(datapoints), []);
  },

  'the last value stays, whatever went': async (storage) => {
    const { datapoints } = storage;
    await datapoints.append([push([hours(-30, 'wet'), hours(-29, 7)])]);
    await takeAll(storage, { rawBefore: midnight });
    assert.deepEqual(await allValues(datapoints), []);
    assert.equal((await datapoints.lastValue(sensor()))?.value, 7);
    await datapoints.append([push([hours(2, 8)])]);
    assert.equal((await datapoints.lastValue(sensor()))?.value, 8);
  },

  'an hour that was summed up is closed: what comes late goes with the next step': async (
    storage,
  ) => {
    const { datapoints } = storage;
    const old = [hours(-30, 5), hours(-29.5, 7)];
    await datapoints.append([push([...old, hours(1, 9)])]);
    await takeAll(storage, { rawBefore: midnight });
    const before = await sums(datapoints, all);
    // A gateway resends, and another hour comes for the first time.
    await datapoints.append([push([...old, hours(-29.25, 100)])]);
    assert.deepEqual(await allValues(datapoints), [5, 7, 100, 9]);
    assert.deepEqual(await sums(datapoints, all), before);
    await datapoints.append([push([hours(-28, 4), hours(-27.9, 6)])]);
    const withHour = await sums(datapoints, ['count', 'sum'], { each: hourMs });
    assert.deepEqual(withHour, [
      [-30, 2, 12],
      [-28, 2, 10],
      [1, 1, 9],
    ]);
    assert.equal(await takeAll(storage, { rawBefore: midnight }), 5);
    assert.deepEqual(await sums(datapoints, ['count', 'sum'], { each: hourMs }), withHour);
    assert.deepEqual(await allValues(datapoints), [9]);
  },

  'a range counts the hours that begin in it': async (storage) => {
    const { datapoints } = storage;
    await datapoints.append([push([hours(-30, 1), hours(-28.5, 2), hours(-27, 4)])]);
    await takeAll(storage, { rawBefore: midnight });
    const range = { from: midnight - 29.5 * hourMs, to: midnight - 27 * hourMs };
    assert.deepEqual(await sums(datapoints, ['sum'], range), [[-48, 6]]);
    const whole = { from: midnight - 30 * hourMs, to: midnight - 28 * hourMs };
    assert.deepEqual(await sums(datapoints, ['sum'], whole), [[-48, 3]]);
  },

  'hours without a number are counted, and say nothing else': async (storage) => {
    const { datapoints } = storage;
    await datapoints.append([push([hours(-30, 'wet'), hours(-27, 'x'), hours(-26.9, '2.5')])]);
    await takeAll(storage, { rawBefore: midnight });
    assert.deepEqual(await sums(datapoints, ['count', 'sum', 'first', 'last'], { each: hourMs }), [
      [-30, 1, undefined, undefined, undefined],
      [-27, 2, 2.5, 2.5, 2.5],
    ]);
    assert.deepEqual(await sums(datapoints, ['count', 'first']), [[-48, 3, 2.5]]);
  },

  'hours with both kinds of numbers show a calibration as their datapoints did': async (
    storage,
  ) => {
    const { datapoints } = storage;
    const points = [
      { sensorValue: 0, realValue: 0 },
      { sensorValue: 10, realValue: 20 },
    ];
    const calibration = { points, spelling: 'ends' } as const;
    const mixed = [hours(-30, 5), hours(-29.9, '40'), hours(-29.8, 'wet'), hours(-29.7, 7)];
    await datapoints.append([push([...mixed, hours(-27, 3), hours(-26, '4'), hours(1, 9)])]);
    const shown = () => sums(datapoints, all, { each: hourMs, calibration });
    const before = asNumbers(await shown());
    assert.deepEqual(before[0], [-30, ...[21.3333333333333, 10, 40, 64, 4, 10, 14, 4]]);
    await takeAll(storage, { rawBefore: midnight });
    assert.equal((await datapoints.hours(sensor(), {}, 10)).count, 3);
    assert.deepEqual(asNumbers(await shown()), before);
  },

  'hours are of what corrections show, and these go with what they are about': async (storage) => {
    const { datapoints, corrections } = storage;
    await datapoints.append([push([hours(-30, 5), hours(-29, 999), hours(-28, 7), hours(1, 9)])]);
    const wrong = aRemoval(-29, -29);
    await corrections.insert(wrong);
    await corrections.insert(aRemoval(1, 2));
    await datapoints.append([push([hours(3, 10)])]);
    assert.equal(await takeAll(storage, { rawBefore: midnight }), 3);
    assert.deepEqual(await sums(datapoints, ['count', 'max']), [
      [-48, 2, 7],
      [0, 1, 10],
    ]);
    assert.equal((await corrections.list(sensor())).length, 1);
    assert.equal(await datapoints.count(sensor(), {}), 1);
  },

  'what a correction makes the last value of stays with it': async (storage) => {
    const { datapoints, corrections } = storage;
    await datapoints.append([push([hours(-60, 1), hours(-30, 5), hours(-29, 999)])]);
    await corrections.insert(aRemoval(-29, -29));
    assert.equal(await takeAll(storage, { rawBefore: midnight }), 1);
    assert.equal((await datapoints.lastValue(sensor()))?.value, 5);
    assert.equal((await corrections.list(sensor())).length, 1);
    await datapoints.append([push([hours(1, 6)])]);
    assert.equal(await takeAll(storage, { rawBefore: midnight }), 2);
    assert.equal((await datapoints.lastValue(sensor()))?.value, 6);
    assert.deepEqual(await corrections.list(sensor()), []);
  },

  'what is stored is counted as it becomes less': async (storage) => {
    const { datapoints, devices, retaining } = storage;
    const of = (id: string) => devices.storedBytes(sensor().deviceId, sensorId(id));
    const empty = await of('s2');
    const count = 500;
    const minutes = Array.from({ length: count }, (_, n) => hours(-30 + n / 60, n % 7));
    await datapoints.append([push(minutes)]);
    const full = await of('s1');
    assert.equal(full - empty, 32 * count);
    let freed = 0;
    for (let turn = 0; turn < 1_000; turn += 1) {
      const step = await retaining.step(sensor(), { rawBefore: midnight, hourlyBefore: midnight });
      freed += step.bytes;
      if (step.state === 'done') break;
      if (step.state === 'wait') await new Promise((resolve) => setTimeout(resolve, 1));
    }
    assert.equal(await of('s1'), empty);
    assert.equal(freed, 32 * count);
  },

  'whatever is pushed and taken, reads are those of a list': async (storage) => {
    const { datapoints } = storage;
    const value = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom('wet', '3', 0.25));
    const point = fc.tuple(fc.integer({ min: -200, max: 200 }), value);
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.array(point, { minLength: 1, maxLength: 12 }) },
      { weight: 1, arbitrary: fc.integer({ min: -3, max: 3 }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 8 }), async (steps) => {
        await storage.devices.removeSensor(sensor().deviceId, sensor().sensorId, noon);
        await storage.devices.putSensor(sensor().deviceId, { id: sensor().sensorId }, noon);
        let list: Datapoint[] = [];
        const closed = new Map<number, Datapoint[]>();
        for (const one of steps) {
          if (typeof one === 'number') {
            const rawBefore = midnight + one * dayMs;
            const old = list.filter((datapoint) => orderTime(datapoint) < rawBefore);
            assert.equal(await takeAll(storage, { rawBefore }), old.length);
            list = list.filter((datapoint) => !old.includes(datapoint));
            const late = Map.groupBy(old, hourOf);
            for (const [hour, those] of late) if (!closed.has(hour)) closed.set(hour, those);
            continue;
          }
          const fresh = one.map(([tens, given]) => hours(tens / 6, given));
          for (const datapoint of fresh) {
            const isKnown = list.some(
              (other) => other.timestamp === datapoint.timestamp && other.value === datapoint.value,
            );
            if (!isKnown) list.push(datapoint);
          }
          await datapoints.append([push(fresh)]);
        }
        list.sort((a, b) => orderTime(a) - orderTime(b));
        assert.deepEqual(
          await allValues(datapoints),
          list.map((datapoint) => datapoint.value),
        );
        const counted = [
          ...[...closed.values()].flat(),
          ...list.filter((datapoint) => !closed.has(hourOf(datapoint))),
        ].toSorted((a, b) => orderTime(a) - orderTime(b));
        const names: readonly Aggregate[] = ['count', 'min', 'max', 'sum', 'increase'];
        assert.deepEqual(
          rounded(await sums(datapoints, names)),
          rounded(await expected(counted, names)),
        );
      }),
      {
        ...{ numRuns: 60, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false },
        examples: [[timeInTwoChunks]],
      },
    );
  },
};

const hourOf = (datapoint: Datapoint): number => Math.floor(orderTime(datapoint) / hourMs);

/** Sums of the same numbers in another order. */
const rounded = (rows: Awaited<ReturnType<typeof sums>>) =>
  rows.map((row) => row.map((one) => (typeof one === 'number' ? Number(one.toFixed(6)) : one)));

/** What a list comes to by day. */
async function expected(list: readonly Datapoint[], names: readonly Aggregate[]) {
  const bucketOf = (at: number) => {
    const start = Math.floor(at / dayMs) * dayMs;
    return { start, end: start + dayMs };
  };
  async function* parts(): AsyncGenerator<SummarisedPart> {
    yield toDatapointColumns(list);
  }
  const buckets = [];
  for await (const step of aggregate(parts(), { aggregates: names, bucketOf })) {
    for (const { start, values } of step.buckets) {
      buckets.push([(start - midnight) / hourMs, ...values]);
    }
  }
  return buckets;
}

/** What is between these hours is taken away. */
function aRemoval(from: number, to: number): Correction {
  return {
    ...{ id: createHexId() as CorrectionId, ...sensor(), kind: 'removed', items: [], count: 1 },
    ...{ from: midnight + from * hourMs, to: midnight + to * hourMs },
    ...{ by: 'ana' as Username, createdAt: noon, reach: { until: midnight + to * hourMs + 300 } },
  };
}

export function retainingContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, async ({ devices }) => {
    const sensors = ['s1', 's2'].map((id) => ({ id: sensorId(id) }));
    await devices.insert(aDevice('d1', { sensors }));
  });
}
