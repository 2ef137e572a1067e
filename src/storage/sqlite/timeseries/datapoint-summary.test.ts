import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { aDevice, aSensor, aUser } from '../../../../test/contract/storage/builders.ts';
import { sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import {
  anyCalibration,
  farthest,
  minute,
  series,
  start,
  steepest,
  storeSeries,
} from '../../../../test/contract/storage/series-arbitraries.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { aggregate, aggregates } from '../../../domain/datapoints/aggregation.ts';
import { type Datapoint, orderTime } from '../../../domain/datapoints/datapoint.ts';
import {
  calibratedColumns,
  toDatapointColumns,
} from '../../../domain/datapoints/datapoint-columns.ts';
import type {
  DatapointStore,
  Page,
  Range,
  SummariseOptions,
} from '../../../domain/datapoints/datapoint-store.ts';
import { createDownsampling } from '../../../domain/datapoints/downsampling.ts';
import { calibratedRun } from '../../../domain/datapoints/standing.ts';
import { isStretchRun, type SummarisedPart } from '../../../domain/datapoints/stretches.ts';
import { createReader } from '../../../domain/datapoints/summary-reader.ts';
import { calibrate } from '../../../domain/devices/calibration.ts';
import { asNumber, type JsonValue } from '../../../lib/json.ts';
import { silentLog } from '../../../lib/log.ts';
import { type BucketOf, createBuckets, parseInterval } from '../../../lib/time-bucket.ts';
import { findTimeZone } from '../../../lib/time-zone.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { type DatapointLimits, datapointLimits } from './datapoint-limits.ts';

/** Blocks of two hours and less, some of them outside of chunks. */
const limits = {
  ...datapointLimits,
  chunkDatapointsMax: 96,
  chunkBlocksMax: 3,
  summaryDatapointsMin: 1,
  memtableEntryBytes: 0,
  memtableEntryBytesMax: 50 * 32,
  memtableBytesMax: 60 * 32,
  flushBytesPerStep: 300 * 32,
  summariesInMemoryMax: 3,
  summaryBytesMax: 65_536,
};

const rarely = (some: fc.Arbitrary<number>): fc.Arbitrary<number | undefined> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: some });

const question = fc.record({
  interval: fc.constantFrom(undefined, '1h', '1d', '15m', '7h', '1mo'),
  zone: fc.constantFrom(
    ...(['UTC', 'Africa/Nairobi', 'Europe/Paris', 'Asia/Kolkata', 'America/St_Johns'] as const),
  ),
  calibration: anyCalibration,
  names: fc.subarray([...aggregates], { minLength: 1 }),
  from: rarely(fc.integer({ min: 0, max: 500 * minute })),
  to: rarely(fc.integer({ min: 0, max: 900 * minute })),
  lastN: rarely(fc.integer({ min: 0, max: 700 })),
  exclude: rarely(fc.integer({ min: 0, max: 900 * minute })),
  rowsMax: fc.constantFrom(1, 50, 4_096),
  pointsMax: fc.integer({ min: 2, max: 20 }),
});
type Question = typeof question extends fc.Arbitrary<infer One> ? One : never;
type Series = typeof series extends fc.Arbitrary<infer One> ? One : never;
type Example = [points: Series, asked: Question[]];

function bucketsOf({ interval, zone }: Question): BucketOf | undefined {
  const parsed = interval === undefined ? undefined : parseInterval(interval);
  const found = findTimeZone(zone);
  assert.ok(found !== undefined);
  return parsed === undefined ? undefined : createBuckets(parsed, found);
}

function rangeOf({ from, to }: Question): Range {
  return { ...(from !== undefined && { from: start + from }), ...(to && { to: start + to }) };
}

interface Answer {
  readonly start: number;
  readonly values: readonly (JsonValue | undefined)[];
}

/** What is asked, as the store answers it step by step; `rows` counts what it hands over. */
async function* partsOf(
  store: DatapointStore,
  asked: Question,
  told: { readonly mayStand: SummariseOptions['mayStand']; rows: number },
): AsyncGenerator<SummarisedPart> {
  const { calibration, rowsMax, exclude, lastN } = asked;
  const total = await store.count(sensor(), rangeOf(asked));
  const skip = lastN === undefined ? 0 : Math.max(0, total - lastN);
  const options = {
    ...{ rowsMax, charactersMax: 10_000, mayStand: told.mayStand },
    ...(exclude !== undefined && {
      exclude: [{ from: start + exclude, to: start + exclude + 90 * minute }],
    }),
  };
  const all = { ...rangeOf(asked), order: 'asc', skip, limit: Number.POSITIVE_INFINITY } as const;
  for (let page: Page | undefined = all; page !== undefined; ) {
    const step = await store.summarise(sensor(), page, options);
    for (const part of step.parts) {
      if (!isStretchRun(part)) told.rows += part.count;
      yield isStretchRun(part)
        ? calibratedRun(part, calibration)
        : calibratedColumns(part, calibration);
    }
    page = step.next;
  }
}

/** What the store says by its summaries, and how many datapoints it handed over as they are. */
async function summed(store: DatapointStore, asked: Question) {
  const { calibration, rowsMax, lastN, exclude } = asked;
  const bucketOf = bucketsOf(asked);
  const plan = { aggregates: asked.names, ...(bucketOf && { bucketOf }) };
  let rows = 0;
  const counted: DatapointStore = {
    ...store,
    async summarise(ref, page, options) {
      const from = start + (exclude ?? 0);
      const ranges = exclude === undefined ? {} : { exclude: [{ from, to: from + 90 * minute }] };
      const step = await store.summarise(ref, page, { ...options, ...ranges });
      for (const part of step.parts) if (!isStretchRun(part)) rows += part.count;
      return step;
    },
  };
  const stores = { datapoints: counted, pushedDatapoints: counted };
  const paged = {
    ...rangeOf(asked),
    order: 'asc',
    skip: 0,
    limit: Number.POSITIVE_INFINITY,
  } as const;
  const query = { ...paged, isCalibrated: true, ...(lastN !== undefined && { lastN }) };
  const pace = { isOver: () => false, rest: async () => undefined, begin: () => undefined };
  const on = createReader({ stores, query, plan, pace });
  const source = {
    ref: sensor(),
    sensor: { id: sensor().sensorId, ...(calibration && { calibration }) },
  };
  const room = { rowsMax, charactersMax: 10_000 };
  const buckets: Answer[] = [];
  const steps = on({ source, room }, (parts, growth) => aggregate(parts, plan, growth));
  for await (const step of steps) buckets.push(...step.buckets);
  return { buckets, rows };
}

/** The same for a plot of it; `count` are to be downsampled. */
async function thinned(store: DatapointStore, asked: Question, count: number) {
  const { calibration, pointsMax } = asked;
  const downsampling = createDownsampling({ count, pointsMax });
  const told = { mayStand: downsampling.mayStandFor(calibration), rows: 0 };
  for await (const part of partsOf(store, asked, told)) downsampling.add(part);
  const plot = await downsampling.finish(async function* (range) {
    const page = { ...range, order: 'asc', skip: 0, limit: 5_000 } as const;
    const { columns } = await store.scan(sensor(), page, Number.POSITIVE_INFINITY);
    yield calibratedColumns(columns, calibration);
  });
  return { plot, rows: told.rows };
}

/** The same, computed from every datapoint. */
function thinnedOf(datapoints: readonly Datapoint[], { calibration, pointsMax }: Question) {
  const downsampling = createDownsampling({ count: datapoints.length, pointsMax });
  downsampling.add(calibratedColumns(toDatapointColumns(datapoints), calibration));
  return downsampling.finish();
}

interface Expected extends Answer {
  /** By how much sums of the bucket may be wrong: what its doubles lose of all sizes. */
  readonly slack: number;
  readonly numbers: number;
}

/** What a counter grew by at each of all its datapoints, as simply as possible. */
function growthsOf(all: readonly Datapoint[], { calibration }: Question) {
  const numbers = all.flatMap((datapoint) => {
    const number = asNumber(calibrate(calibration, datapoint.value));
    return number === undefined ? [] : [{ datapoint, number }];
  });
  const kept = numbers.filter(({ number }, at) => {
    const [before, next] = [numbers[at - 1]?.number, numbers[at + 1]?.number];
    if (before === undefined || next === undefined || next < before) return true;
    return number >= before && number <= next;
  });
  const growths = new Map<Datapoint, readonly number[]>();
  for (const [at, { datapoint, number }] of kept.entries()) {
    const before = kept[at - 1]?.number;
    if (before === undefined) continue;
    growths.set(datapoint, number >= before ? [number, -before] : [Math.max(0, number)]);
  }
  return growths;
}

/** The same, as simply as possible; `all` are those around them, too. */
function naive(
  datapoints: readonly Datapoint[],
  all: readonly Datapoint[],
  asked: Question,
): Expected[] {
  const growths = growthsOf(all, asked);
  const bucketOf = bucketsOf(asked);
  const buckets = new Map<
    number,
    { values: JsonValue[]; numbers: number[]; steps: number[]; sizes: number }
  >();
  for (const datapoint of datapoints) {
    const time = orderTime(datapoint);
    const first = bucketOf === undefined ? [...buckets.keys()][0] : undefined;
    const at = bucketOf?.(time).start ?? first ?? time;
    const bucket = buckets.get(at) ?? { values: [], numbers: [], steps: [], sizes: 0 };
    buckets.set(at, bucket);
    const value = calibrate(asked.calibration, datapoint.value);
    bucket.values.push(value);
    const number = asNumber(value);
    if (number === undefined) continue;
    bucket.numbers.push(number);
    bucket.sizes += Math.abs(number);
    if (asked.calibration !== undefined) {
      bucket.sizes += steepest * (Math.abs(Number(datapoint.value)) + farthest);
    }
    bucket.steps.push(...(growths.get(datapoint) ?? []));
  }
  return [...buckets].flatMap(([at, { values, numbers, steps, sizes }]) => {
    // What is added to a huge number is lost here, and not there.
    const isHuge = [...numbers, ...steps].some((one) => Math.abs(one) > 1e100);
    const sum = isHuge ? Number.NaN : exactSum(numbers);
    const some = <Value>(value: Value) => (numbers.length === 0 ? undefined : value);
    const answers = {
      ...{ avg: some(sum / numbers.length), min: some(Math.min(...numbers)), sum: some(sum) },
      ...{ max: some(Math.max(...numbers)), count: values.length, first: values[0] },
      ...{ last: values.at(-1), increase: some(isHuge ? Number.NaN : exactSum(steps)) },
    };
    const told = asked.names.map((name) => answers[name]);
    const size = sizes + exactSum(steps.map(Math.abs).filter((one) => one < 1e100));
    const slack = 8 * Number.EPSILON * size + 2 ** -190;
    const one = { start: at, values: told, slack, numbers: numbers.length };
    return told.every((value) => value === undefined) ? [] : [one];
  });
}

/** The double next to the true sum, but for what is smaller than 2^-200. */
function exactSum(numbers: readonly number[]): number {
  const bits = 200;
  let sum = 0n;
  for (const number of numbers) {
    const high = Math.trunc(number);
    sum += (BigInt(high) << BigInt(bits)) + BigInt(Math.trunc((number - high) * 2 ** bits));
  }
  return Number(sum) / 2 ** bits;
}

function assertAlike(found: readonly Answer[], expected: readonly Expected[], asked: Question) {
  assert.deepEqual(
    found.map((one) => one.start),
    expected.map((one) => one.start),
  );
  for (const [at, { values }] of found.entries()) {
    const { slack = 0, numbers = 1, values: right = [] } = expected[at] ?? {};
    for (const [index, name] of asked.names.entries()) {
      const [one, other] = [values[index], right[index]];
      const isRounded = name === 'avg' || name === 'sum' || name === 'increase';
      if (isRounded && typeof one === 'number' && typeof other === 'number') {
        // Sums have 15 digits.
        const off = slack + 1e-14 * Math.abs(other);
        const offMax = name === 'avg' ? slack / numbers + 1e-14 * Math.abs(other) : off;
        const isClose = Math.abs(one - other) <= offMax;
        assert.ok(isClose || Number.isNaN(other), `${name} ${one} ${other}, ${offMax}`);
      } else if (!isRounded) {
        assert.deepEqual(one, other, name);
      }
    }
  }
}

interface Compared {
  readonly handedOver: number;
  readonly counted: number;
  readonly inPlots: number;
  readonly all: number;
}

/** Asks a store that cuts its blocks by these limits, and compares; answers what was read. */
async function compareAll(
  context: TestContext,
  datapointLimits: DatapointLimits,
  given: typeof series,
  { always = [], examples = [] }: { always?: readonly Question[]; examples?: Example[] } = {},
): Promise<Compared> {
  let [handedOver, counted, inPlots, all] = [0, 0, 0, 0];
  const questions = fc.array(question, { minLength: 6, maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(given, questions, async (points, asked) => {
      const directory = temporaryDirectory(context);
      const storage = await openSqlite({ directory, log: silentLog, datapointLimits });
      context.after(() => storage.close());
      await storage.users.insert(aUser('alice'), 'hash');
      await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
      const { datapoints: store } = storage;
      const stored = await storeSeries(store, points);
      for (const one of [...asked, ...always]) {
        const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = rangeOf(one);
        const inRange = stored.filter(
          (point) => orderTime(point) >= from && orderTime(point) <= to,
        );
        const chosen =
          one.lastN === undefined
            ? inRange
            : inRange.slice(Math.max(0, inRange.length - one.lastN));
        const { buckets, rows } = await summed(store, one);
        assertAlike(buckets, naive(chosen, stored, one), one);
        const { plot, rows: rowsOfPlot } = await thinned(store, one, chosen.length);
        assert.deepEqual(plot, await thinnedOf(chosen, one));
        // Counters are read around the range as well, and wherever their numbers fall.
        handedOver += one.names.includes('increase') ? 0 : rows;
        counted += one.names.includes('increase') ? 0 : chosen.length;
        inPlots += rowsOfPlot;
        all += chosen.length;
      }
    }),
    { numRuns: 18 + examples.length, examples, endOnFailure: true },
  );
  return { handedOver, counted, inPlots, all };
}

/** Datapoints of a minute each; the last ones, still in memory, belong between those of chunks. */
const someCameLate = Array.from({ length: 305 }, (_, n) => ({
  ...{ value: n, gap: minute, isTimed: true },
  late: n < 300 ? 0 : (40 * (n - 299) + 0.5) * minute,
}));
const lastOfHours: Question = {
  ...{ interval: '1h', zone: 'UTC', calibration: undefined, names: ['count', 'last'] },
  ...{ from: undefined, to: undefined, lastN: undefined, exclude: undefined },
  ...{ rowsMax: 4_096, pointsMax: 20 },
};

test('summaries answer what a look at every datapoint answers', async (context) => {
  const examples: Example[] = [[someCameLate, [lastOfHours]]];
  const options = { examples };
  const { handedOver, counted, inPlots, all } = await compareAll(context, limits, series, options);
  assert.ok(handedOver < 0.9 * counted, `${handedOver} of ${counted} datapoints were handed over`);
  assert.ok(inPlots < 0.9 * all, `${inPlots} of ${all} datapoints were handed over for plots`);
});

/** Question that a block answers by its count, whatever values it has, text among them or not. */
const countOfMonths: Question = { ...lastOfHours, interval: '1mo', names: ['count'] };

test('the same of values that are further apart, in blocks of days', async (context) => {
  const apart = series.map((points) => points.map((one) => ({ ...one, gap: one.gap * 8 })));
  const inDays = { ...limits, chunkDatapointsMax: 512 };
  const { handedOver, counted } = await compareAll(context, inDays, apart, {
    always: [countOfMonths],
  });
  assert.ok(handedOver < counted, `${handedOver} of ${counted} datapoints were handed over`);
});
