import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createLocalClock } from '../../../test/local-clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import { createBuckets, parseInterval } from '../../lib/time-bucket.ts';
import { findTimeZone } from '../../lib/time-zone.ts';
import { type Aggregate, type AggregationPlan, aggregate, aggregates } from './aggregation.ts';
import { calibratedDatapoint, type Datapoint, orderTime } from './datapoint.ts';
import {
  calibratedColumns,
  type DatapointColumns,
  toDatapointColumns,
} from './datapoint-columns.ts';
import type { SummarisedPart } from './stretches.ts';

const minute = 60_000;
const noon = Date.parse('2016-06-08T12:00:00Z');

/** Datapoints a minute apart, oldest first. */
const series = (...values: readonly JsonValue[]): readonly Datapoint[] =>
  values.map((value, n) => ({ value, timestamp: noon + n * minute, receivedAt: noon }));

async function* inSteps(
  datapoints: readonly Datapoint[],
  size = 2,
): AsyncGenerator<DatapointColumns> {
  for (let at = 0; at < datapoints.length; at += size) {
    yield toDatapointColumns(datapoints.slice(at, at + size));
  }
}

/** All that the steps come to. */
async function bucketsOf(steps: AsyncIterable<DatapointColumns>, plan: AggregationPlan) {
  const parts = await Array.fromAsync(aggregate(steps, plan));
  return {
    buckets: parts.flatMap(({ buckets }) => buckets),
    skipped: parts.reduce((sum, { skipped }) => sum + skipped, 0),
  };
}

function planOf(names: readonly Aggregate[], interval?: string, zone = 'UTC'): AggregationPlan {
  if (interval === undefined) return { aggregates: names };
  const parsed = parseInterval(interval);
  const timeZone = findTimeZone(zone);
  assert.ok(parsed !== undefined && timeZone !== undefined);
  return { aggregates: names, bucketOf: createBuckets(parsed, timeZone) };
}

/** The values of the one bucket that holds everything. */
async function valuesOf(datapoints: readonly Datapoint[], ...names: readonly Aggregate[]) {
  const { buckets } = await bucketsOf(inSteps(datapoints), planOf(names));
  return buckets.map(({ values }) => values);
}

test('without an interval one bucket, which starts with its first datapoint, has all', async () => {
  const answer = await bucketsOf(inSteps(series(4, 1, 7, 2)), planOf(aggregates));
  assert.deepEqual(answer, {
    buckets: [{ start: noon, values: [3.5, 1, 7, 14, 4, 4, 2, 2] }],
    skipped: 0,
  });
});

test('nothing gives no buckets', async () => {
  const answer = await bucketsOf(inSteps([]), planOf(['count'], '1h'));
  assert.deepEqual(answer, { buckets: [], skipped: 0 });
});

test('buckets begin at multiples of the interval, and empty ones are absent', async () => {
  const datapoints = series(...Array.from({ length: 25 }, (_, n) => n)).filter(
    ({ value }) => Number(value) < 8 || Number(value) > 20,
  );
  const { buckets } = await bucketsOf(inSteps(datapoints), planOf(['count', 'min'], '5m'));
  assert.deepEqual(
    buckets.map(({ start, values }) => [(start - noon) / minute, ...values]),
    [
      [0, 5, 0],
      [5, 3, 5],
      [20, 4, 21],
    ],
  );
});

test('text that is a number counts as one, and other values are skipped and counted', async () => {
  const datapoints = series('25', null, ' 3.5 ', 'error', true, [1], 1.5);
  const answer = await bucketsOf(inSteps(datapoints), planOf(['avg', 'sum', 'min', 'max']));
  assert.deepEqual(answer.buckets[0]?.values, [10, 30, 1.5, 25]);
  assert.equal(answer.skipped, 4);
});

test('count, first and last take every datapoint and skip none', async () => {
  const datapoints = series({ state: 'dry' }, 5, 'error');
  const answer = await bucketsOf(inSteps(datapoints), planOf(['count', 'first', 'last']));
  assert.deepEqual(answer, {
    buckets: [{ start: noon, values: [3, { state: 'dry' }, 'error'] }],
    skipped: 0,
  });
});

test('a null that comes first stays the first value, whatever stretch follows it', async () => {
  const column = (...numbers: readonly number[]) => Float64Array.from(numbers);
  const times = { starts: column(noon + minute), ends: column(noon + 2 * minute) };
  const ends = { first: column(4), last: column(6), rise: column(2), fall: column(0) };
  const sizes = { counts: column(2), numbers: column(2), textNumbers: column(0) };
  const sums = { min: column(4), max: column(6), sum: column(10) };
  const stretches = { count: 1, ...times, ...sizes, ...sums, ...ends };
  async function* parts(): AsyncGenerator<SummarisedPart> {
    yield toDatapointColumns(series(null));
    const hasNumbersAtEnds = Uint8Array.of(1);
    yield { stretches: { ...stretches, hasNumbersAtEnds }, from: 0, to: 1 };
  }
  const steps = await Array.fromAsync(aggregate(parts(), planOf(['first', 'last', 'sum'])));
  const buckets = steps.flatMap((step) => step.buckets);
  assert.deepEqual(buckets, [{ start: noon, values: [null, 6, 10] }]);
});

test('a bucket without numbers has no average, and is absent when that was all', async () => {
  assert.deepEqual(await valuesOf(series('a', 'b'), 'avg', 'count'), [[undefined, 2]]);
  assert.deepEqual(await valuesOf(series('a', 'b'), 'avg', 'max'), []);
});

test('sums keep what rounding would take', async () => {
  const tenths = series(...Array.from({ length: 10 }, () => 0.1));
  assert.deepEqual(await valuesOf(tenths, 'sum', 'avg'), [[1, 0.1]]);
  const frost = series(-46.5512, 46, 14.1276, -13.6, 0);
  assert.deepEqual(await valuesOf(frost, 'sum', 'avg'), [[-0.0236, -0.00472]]);
  assert.deepEqual(await valuesOf(series(0.1, 0.2, -0.3), 'sum', 'avg'), [[0, 0]]);
  assert.deepEqual(await valuesOf(series(-1_000.017, 1_000.044), 'sum', 'avg'), [[0.027, 0.0135]]);
  assert.deepEqual(await valuesOf(series(100, 0.1, 0.3), 'avg'), [[33.4666666666667]]);
  assert.deepEqual(await valuesOf(series(-1, 0, 3), 'avg'), [[0.666666666666667]]);
  // These have as many digits themselves.
  const long = series(-1.2345678901234567, 1.3);
  assert.deepEqual(await valuesOf(long, 'sum'), [[0.0654321098765434]]);
  assert.deepEqual(await valuesOf(series(1e100, 1, -1e100), 'sum'), [[1]]);
  assert.deepEqual(await valuesOf(series(1e16, 0.5, -1e16), 'sum'), [[0.5]]);
  const zeros = Array.from({ length: 20 }, () => 0);
  assert.deepEqual(await valuesOf(series(1e14, -1e14, 0.5, ...zeros), 'sum'), [[0.5]]);
});

test('a sum beyond the range of a double is left out', async () => {
  assert.deepEqual(await valuesOf(series(1e308, 1e308), 'sum', 'max'), [[undefined, 1e308]]);
});

test('avg of huge numbers is there, also when their sum is beyond a double', async () => {
  const huge = Number.MAX_VALUE;
  assert.deepEqual(await valuesOf(series(huge, huge, huge), 'avg', 'sum'), [[huge, undefined]]);
  assert.deepEqual(await valuesOf(series(1e308, 1e308, -2e307, 3), 'avg'), [[4.5e307]]);
  assert.deepEqual(await valuesOf(series(huge, huge, -huge, -huge), 'avg', 'sum'), [[0, 0]]);
});

test('calibration comes before aggregation, and leaves text alone', async () => {
  const calibration = {
    isEnabled: true,
    spelling: 'ends',
    points: [
      { sensorValue: 0, realValue: 10 },
      { sensorValue: 10, realValue: 30 },
    ],
  } as const;
  const columns = calibratedColumns(toDatapointColumns(series(0, 5, '5')), calibration);
  async function* steps() {
    yield columns;
  }
  const { buckets } = await bucketsOf(steps(), planOf(['min', 'max', 'first', 'last']));
  assert.deepEqual(buckets[0]?.values, [5, 20, 10, '5']);
});

const anyDatapoints = (around: readonly string[]): fc.Arbitrary<readonly Datapoint[]> =>
  fc.constantFrom(...around.map((text) => Date.parse(text))).chain((change) =>
    fc
      .array(
        fc.record({
          timestamp: fc
            .integer({ min: -3 * 1_440, max: 3 * 1_440 })
            .map((minutes) => change + minutes * minute),
          value: fc.oneof(fc.integer({ min: -50, max: 50 }), fc.constantFrom('12', 'wet', null)),
          receivedAt: fc.constant(0),
        }),
        { maxLength: 200 },
      )
      .map((datapoints) => datapoints.toSorted((a, b) => a.timestamp - b.timestamp)),
  );

/** What a counter grew by at each datapoint, glitches passed over. */
function growthsByHand(datapoints: readonly Datapoint[]): ReadonlyMap<Datapoint, number> {
  const all = datapoints.flatMap((datapoint) => {
    const number = datapoint.value === '12' ? 12 : datapoint.value;
    return typeof number === 'number' ? [{ datapoint, number }] : [];
  });
  const kept = all.filter(({ number }, at) => {
    const [before, next] = [all[at - 1]?.number, all[at + 1]?.number];
    if (before === undefined || next === undefined || next < before) return true;
    return number >= before && number <= next;
  });
  return new Map(
    kept.slice(1).map(({ datapoint, number }, at) => {
      const before = kept[at]?.number ?? 0;
      return [datapoint, number < before ? Math.max(0, number) : number - before];
    }),
  );
}

/** What a person with a calendar and a pocket calculator would find, day by day. */
function byHand(datapoints: readonly Datapoint[], zone: string) {
  const localTime = createLocalClock(zone);
  const growths = growthsByHand(datapoints);
  const days = Map.groupBy(datapoints, (one) =>
    new Date(localTime(orderTime(one))).toISOString().slice(0, 10),
  );
  return [...days].map(([date, ofDay]) => {
    const numbers = ofDay
      .map(({ value }) => (value === '12' ? 12 : value))
      .filter((value) => typeof value === 'number');
    const sum = numbers.reduce((total, number) => total + number, 0);
    const known = numbers.length > 0;
    const increase = ofDay.reduce((all, one) => all + (growths.get(one) ?? 0), 0);
    return {
      date,
      avg: known ? Number((sum / numbers.length).toPrecision(15)) : undefined,
      min: known ? Math.min(...numbers) : undefined,
      max: known ? Math.max(...numbers) : undefined,
      sum: known ? sum : undefined,
      count: ofDay.length,
      first: ofDay[0]?.value,
      last: ofDay.at(-1)?.value,
      increase: known ? increase : undefined,
    };
  });
}

const changes: Readonly<Record<string, readonly string[]>> = {
  'Europe/Paris': ['2024-03-31T01:00Z', '2024-10-27T01:00Z'],
  'Africa/Casablanca': ['2023-03-19T02:00Z', '2023-04-23T02:00Z'],
  'America/Sao_Paulo': ['2018-11-04T03:00Z'],
};

for (const [zone, around] of Object.entries(changes)) {
  test(`days over a change of the clocks in ${zone} are as computed by hand`, async () => {
    const localTime = createLocalClock(zone);
    await fc.assert(
      fc.asyncProperty(
        anyDatapoints(around),
        fc.integer({ min: 1, max: 40 }),
        async (all, size) => {
          const { buckets, skipped } = await bucketsOf(
            inSteps(all, size),
            planOf(aggregates, '1d', zone),
          );
          const found = buckets.map(({ start, values }) => ({
            date: new Date(localTime(start)).toISOString().slice(0, 10),
            ...Object.fromEntries(aggregates.map((name, at) => [name, values[at]])),
          }));
          assert.deepEqual(found, byHand(all, zone));
          assert.equal(
            skipped,
            all.filter(({ value }) => value === 'wet' || value === null).length,
          );
          for (const { start } of buckets) {
            const dateBefore = new Date(localTime(start - 1)).toISOString().slice(0, 10);
            const date = new Date(localTime(start)).toISOString().slice(0, 10);
            assert.notEqual(dateBefore, date, 'a bucket starts with its day');
          }
        },
      ),
      { numRuns: 60 },
    );
  });
}

test('a calibrated number is never minus zero', () => {
  const points = [
    { sensorValue: 0, realValue: 0 },
    { sensorValue: 10, realValue: 21 },
  ];
  const calibration = { points, spelling: 'points' } as const;
  const { value } = calibratedDatapoint({ calibration }, { value: -0, receivedAt: 1 });
  assert.ok(Object.is(value, 0));
});
