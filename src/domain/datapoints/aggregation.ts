import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { BucketOf } from '../../lib/time-bucket.ts';
import { type DatapointColumns, numberIn, timeIn } from './datapoint-columns.ts';

/** What may be asked of the datapoints of a bucket, in the order of the reference. */
export const aggregates = ['avg', 'min', 'max', 'sum', 'count', 'first', 'last'] as const;

export type Aggregate = (typeof aggregates)[number];

export interface AggregationPlan {
  /** One or more, each once. */
  readonly aggregates: readonly Aggregate[];
  /** Absent: one bucket holds everything. */
  readonly bucketOf?: BucketOf;
}

export interface Bucket {
  /** Where the bucket starts; without an interval the time of its first datapoint. */
  readonly start: Instant;
  /** In the order of the plan; undefined where no datapoint of the bucket has a number. */
  readonly values: readonly (JsonValue | undefined)[];
}

/** What one more step of datapoints came to. */
export interface AggregationStep {
  /** Those that are complete and have something to say, oldest first. */
  readonly buckets: readonly Bucket[];
  /** Datapoints that avg, min, max and sum passed over because they are no numbers. */
  readonly skipped: number;
}

const numeric: ReadonlySet<Aggregate> = new Set<Aggregate>(['avg', 'min', 'max', 'sum']);

/**
 * Puts datapoints, oldest first, into buckets. Text that is a number counts as one [contract 6];
 * count, first and last take every datapoint.
 */
export async function* aggregate(
  steps: AsyncIterable<DatapointColumns>,
  plan: AggregationPlan,
): AsyncGenerator<AggregationStep, undefined> {
  const needsNumbers = plan.aggregates.some((name) => numeric.has(name));
  let tally: Tally | undefined;
  for await (const step of steps) {
    const buckets: Bucket[] = [];
    let skipped = 0;
    let row = 0;
    while (row < step.count) {
      if (tally === undefined || timeIn(step, row) >= tally.end) {
        if (tally !== undefined) addBucket(buckets, tally, plan);
        tally = openTally(step, row, plan);
      }
      const end = rowOfTime(step, row, tally.end);
      if (needsNumbers) skipped += addNumbers(tally, step, row, end);
      tally.count += end - row;
      if (end > row) tally.last = step.at(end - 1).value;
      row = end;
    }
    yield { buckets, skipped };
  }
  const last: Bucket[] = [];
  if (tally !== undefined) addBucket(last, tally, plan);
  yield { buckets: last, skipped: 0 };
}

function addBucket(buckets: Bucket[], tally: Tally, { aggregates: names }: AggregationPlan): void {
  const values = names.map((name) => aggregateOf(tally, name));
  if (values.some((value) => value !== undefined)) buckets.push({ start: tally.start, values });
}

/** What is known of the bucket under way. */
interface Tally {
  readonly start: Instant;
  readonly end: Instant;
  readonly first: JsonValue;
  last: JsonValue;
  count: number;
  /** How many of them are numbers; without any the rest means nothing. */
  numbers: number;
  sum: number;
  /** What rounding took from the sum. */
  lost: number;
  /** What numbers are multiplied with before they are added: 1 while the sum is a double. */
  scale: number;
  min: number;
  max: number;
}

function openTally(step: DatapointColumns, row: number, { bucketOf }: AggregationPlan): Tally {
  const time = timeIn(step, row);
  const bucket = bucketOf?.(time) ?? { start: time, end: Number.POSITIVE_INFINITY };
  const { value } = step.at(row);
  return {
    ...bucket,
    first: value,
    last: value,
    count: 0,
    numbers: 0,
    sum: 0,
    lost: 0,
    scale: 1,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
  };
}

/** The first row from `row` on whose time is `end` or later. */
function rowOfTime(step: DatapointColumns, row: number, end: Instant): number {
  let low = row;
  let high = step.count;
  if (timeIn(step, high - 1) < end) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (timeIn(step, middle) < end) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** So many of the largest numbers could be added with it. */
const scaleOfHugeSums = 2 ** -60;

/** Adds the numbers of some rows; answers how many rows have none. */
function addNumbers(tally: Tally, step: DatapointColumns, from: number, to: number): number {
  let { sum, lost, scale, min, max } = tally;
  let skipped = 0;
  for (let row = from; row < to; row += 1) {
    const number = numberIn(step, row);
    if (Number.isNaN(number)) {
      skipped += 1;
      continue;
    }
    let addend = number * scale;
    if (!Number.isFinite(sum + addend)) {
      sum *= scaleOfHugeSums;
      lost *= scaleOfHugeSums;
      scale *= scaleOfHugeSums;
      addend = number * scale;
    }
    // Neumaier's summation: ten times 0.1 is 1.
    const next = sum + addend;
    lost += Math.abs(sum) >= Math.abs(addend) ? sum - next + addend : addend - next + sum;
    sum = next;
    if (number < min) min = number;
    if (number > max) max = number;
  }
  Object.assign(tally, { sum, lost, scale, min, max });
  tally.numbers += to - from - skipped;
  return skipped;
}

function aggregateOf(tally: Tally, name: Aggregate): JsonValue | undefined {
  if (name === 'count') return tally.count;
  if (name === 'first' || name === 'last') return tally[name];
  if (tally.numbers === 0) return undefined;
  if (name === 'min' || name === 'max') return tally[name];
  const sum = tally.sum + tally.lost;
  const value = (name === 'sum' ? sum : sum / tally.numbers) / tally.scale;
  // Sums beyond the range of a double have no JSON.
  return Number.isFinite(value) ? value : undefined;
}
