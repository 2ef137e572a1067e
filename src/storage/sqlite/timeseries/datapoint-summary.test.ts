import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aggregate, aggregates } from '../../../domain/datapoints/aggregation.ts';
import { toDatapoints } from '../../../domain/datapoints/column-batch.ts';
import { type Datapoint, orderTime } from '../../../domain/datapoints/datapoint.ts';
import { calibratedColumns } from '../../../domain/datapoints/datapoint-columns.ts';
import type { DatapointStore, Page, Range } from '../../../domain/datapoints/datapoint-store.ts';
import { calibratedRun, mayStandFor } from '../../../domain/datapoints/standing.ts';
import { isStretchRun, type SummarisedPart } from '../../../domain/datapoints/stretches.ts';
import { type Calibration, calibrate } from '../../../domain/devices/calibration.ts';
import { asNumber, type JsonValue } from '../../../lib/json.ts';
import { silentLog } from '../../../lib/log.ts';
import { type BucketOf, createBuckets, parseInterval } from '../../../lib/time-bucket.ts';
import { findTimeZone } from '../../../lib/time-zone.ts';
import { aDevice, aSensor, aUser } from '../../contract/builders.ts';
import { push, sensor } from '../../contract/datapoint-builders.ts';
import { temporaryDirectory } from '../../contract/temporary-directory.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { datapointLimits } from './datapoint-limits.ts';

const minute = 60_000;
/** Clocks are changed in Europe, and a day later in the time that is looked at. */
const start = Date.parse('2024-10-26T20:00:00Z');

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
};

const tenths = fc.integer({ min: -300, max: 900 }).map((n) => n / 10);
const kinds: Readonly<Record<string, fc.Arbitrary<JsonValue>>> = {
  tenths,
  doubles: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  counter: fc.integer({ min: 0, max: 100_000 }),
  'text numbers': tenths.map((n) => n.toFixed(2)),
  booleans: fc.boolean(),
  anything: fc.oneof(tenths, tenths.map(String), fc.constantFrom('wet', null, true, 1e300, -1e300)),
};
const anyCalibration: fc.Arbitrary<Calibration | undefined> = fc.constantFrom(
  undefined,
  calibrationOf([0, 0], [10, 21]),
  calibrationOf([0, 100], [10, 0]),
  calibrationOf([-10, 0], [20, 30], [40, 10], [41, 10]),
);

function calibrationOf(...points: readonly (readonly [number, number])[]): Calibration {
  const spelled = points.map(([sensorValue, realValue]) => ({ sensorValue, realValue }));
  return { points: spelled, spelling: 'points' };
}

/** Mostly a datapoint a minute; gaps, and others that come late or without a timestamp. */
const series = fc.constantFrom(...Object.keys(kinds)).chain((kind) =>
  fc.array(
    fc.record({
      value: kinds[kind] ?? tenths,
      gap: fc.oneof(
        { weight: 50, arbitrary: fc.constantFrom(minute, minute, 0, 30_000) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 300 * minute }) },
      ),
      late: fc.oneof(
        { weight: 40, arbitrary: fc.constant(0) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 400 * minute }) },
      ),
      isTimed: fc.integer({ min: 0, max: 30 }).map((n) => n > 0),
    }),
    { minLength: 300, maxLength: 700 },
  ),
);

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
});
type Question = typeof question extends fc.Arbitrary<infer One> ? One : never;

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

/** What the store says by its summaries, and how many datapoints it handed over as they are. */
async function summed(store: DatapointStore, asked: Question) {
  const bucketOf = bucketsOf(asked);
  const plan = { aggregates: asked.names, ...(bucketOf && { bucketOf }) };
  const { calibration, rowsMax, exclude } = asked;
  const total = await store.count(sensor(), rangeOf(asked));
  const skip = asked.lastN === undefined ? 0 : Math.max(0, total - asked.lastN);
  let rows = 0;
  const options = {
    ...{ rowsMax, charactersMax: 10_000, mayStand: mayStandFor(plan, calibration) },
    ...(exclude !== undefined && {
      exclude: [{ from: start + exclude, to: start + exclude + 90 * minute }],
    }),
  };
  async function* parts(): AsyncGenerator<SummarisedPart> {
    const all = { ...rangeOf(asked), order: 'asc', skip, limit: Number.POSITIVE_INFINITY } as const;
    for (let page: Page | undefined = all; page !== undefined; ) {
      const step = await store.summarise(sensor(), page, options);
      for (const part of step.parts) {
        if (!isStretchRun(part)) rows += part.count;
        yield isStretchRun(part)
          ? calibratedRun(part, calibration)
          : calibratedColumns(part, calibration);
      }
      page = step.next;
    }
  }
  const buckets: Answer[] = [];
  let skipped = 0;
  for await (const step of aggregate(parts(), plan)) {
    buckets.push(...step.buckets);
    skipped += step.skipped;
  }
  return { buckets, skipped, rows, total };
}

/** The same, as simply as possible. */
function naive(datapoints: readonly Datapoint[], asked: Question): Answer[] {
  const bucketOf = bucketsOf(asked);
  const buckets = new Map<number, { values: JsonValue[]; numbers: number[]; rise: number }>();
  let before = Number.NaN;
  for (const datapoint of datapoints) {
    const time = orderTime(datapoint);
    const first = bucketOf === undefined ? [...buckets.keys()][0] : undefined;
    const at = bucketOf?.(time).start ?? first ?? time;
    const bucket = buckets.get(at) ?? { values: [], numbers: [], rise: 0 };
    buckets.set(at, bucket);
    const value = calibrate(asked.calibration, datapoint.value);
    bucket.values.push(value);
    const number = asNumber(value);
    if (number === undefined) continue;
    bucket.numbers.push(number);
    if (number > before) bucket.rise += number - before;
    before = number;
  }
  return [...buckets].flatMap(([at, { values, numbers, rise }]) => {
    // What is added to a huge number is lost here, and not there.
    const isHuge = numbers.some((one) => Math.abs(one) > 1e100);
    const sum = isHuge ? Number.NaN : numbers.reduce((all, one) => all + one, 0);
    const some = <Value>(value: Value) => (numbers.length === 0 ? undefined : value);
    const answers = {
      ...{ avg: some(sum / numbers.length), min: some(Math.min(...numbers)), sum: some(sum) },
      ...{ max: some(Math.max(...numbers)), count: values.length, first: values[0] },
      ...{ last: values.at(-1), increase: some(isHuge ? Number.NaN : rise) },
    };
    const told = asked.names.map((name) => answers[name]);
    return told.every((value) => value === undefined) ? [] : [{ start: at, values: told }];
  });
}

function assertAlike(found: readonly Answer[], expected: readonly Answer[], asked: Question): void {
  assert.deepEqual(
    found.map((one) => one.start),
    expected.map((one) => one.start),
  );
  for (const [at, { values }] of found.entries()) {
    for (const [index, name] of asked.names.entries()) {
      const [one, other] = [values[index], expected[at]?.values[index]];
      const isRounded = name === 'avg' || name === 'sum' || name === 'increase';
      if (isRounded && typeof one === 'number' && typeof other === 'number') {
        const size = Math.max(1e6 * 700, Math.abs(other));
        const isClose = Math.abs(one - other) <= 1e-12 * size;
        assert.ok(isClose || Number.isNaN(other), `${name} ${one} ${other}`);
      } else if (!isRounded) {
        assert.deepEqual(one, other, name);
      }
    }
  }
}

test('summaries answer what a look at every datapoint answers', async (context) => {
  let [handedOver, all] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      series,
      fc.array(question, { minLength: 6, maxLength: 6 }),
      async (points, asked) => {
        const directory = temporaryDirectory(context);
        const storage = await openSqlite({ directory, log: silentLog, datapointLimits: limits });
        context.after(() => storage.close());
        await storage.users.insert(aUser('alice'), 'hash');
        await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
        let now = start;
        const datapoints = points.map(({ value, gap, late, isTimed }): Datapoint => {
          now += gap;
          return isTimed
            ? { value, timestamp: now - late, receivedAt: now }
            : { value, receivedAt: now };
        });
        const { datapoints: store } = storage;
        const stored: Datapoint[] = [];
        for (let at = 0; at < datapoints.length; at += 60) {
          const [outcome] = await store.append([push(datapoints.slice(at, at + 60))]);
          assert.equal(outcome?.kind, 'stored');
          if (outcome?.kind === 'stored') stored.push(...toDatapoints(outcome.fresh));
        }
        stored.sort((a, b) => orderTime(a) - orderTime(b));
        for (const one of asked) {
          const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = rangeOf(one);
          const inRange = stored.filter(
            (point) => orderTime(point) >= from && orderTime(point) <= to,
          );
          const chosen =
            one.lastN === undefined
              ? inRange
              : inRange.slice(Math.max(0, inRange.length - one.lastN));
          const { buckets, rows } = await summed(store, one);
          assertAlike(buckets, naive(chosen, one), one);
          handedOver += rows;
          all += chosen.length;
        }
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
  assert.ok(handedOver < 0.9 * all, `${handedOver} of ${all} datapoints were handed over`);
});
