import { rowFrom } from '../../lib/ascending.ts';
import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { BucketOf, TimeBucket } from '../../lib/time-bucket.ts';
import { type DatapointColumns, numberIn, timeIn } from './datapoint-columns.ts';
import {
  addGrown,
  createGrowth,
  type Grown,
  type Growth,
  increaseOf,
  noGrowth,
  significant,
  withoutRest,
} from './growth.ts';
import { isStretchRun, type Stretches, type StretchRun, type SummarisedPart } from './stretches.ts';

/** Aggregates that may be asked of a bucket, in the order of the reference. */
export const aggregates = [
  ...(['avg', 'min', 'max', 'sum', 'count', 'first', 'last', 'increase'] as const),
] as const;

export type Aggregate = (typeof aggregates)[number];
/** Aggregates that need numbers. */
export const numeric: ReadonlySet<Aggregate> = new Set(['avg', 'min', 'max', 'sum', 'increase']);

/** State of the bucket under way. */
export interface Tally extends TimeBucket, Grown {
  /** Undefined: retention left no value of it. */
  first: JsonValue | undefined;
  last: JsonValue | undefined;
  count: number;
  /** How many of them are numbers; without any the rest means nothing. */
  numbers: number;
  sum: number;
  /** Part of the sum that rounding took. */
  lost: number;
  /** Factor of numbers before they are added: 1 while the sum is a double. */
  scale: number;
  min: number;
  max: number;
}

/** A bucket with nothing in it yet. */
export function openTally({ start, end }: TimeBucket): Tally {
  return {
    start,
    end,
    first: undefined,
    last: undefined,
    count: 0,
    numbers: 0,
    sum: 0,
    lost: 0,
    scale: 1,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    ...noGrowth(),
  };
}

/** So many of the largest numbers could be added with it. */
const scaleOfHugeSums = 2 ** -60;

/** Adds the numbers of some rows; answers how many rows have none. */
function addRows(
  tally: Tally,
  step: DatapointColumns,
  { from, to, growth }: { readonly from: number; readonly to: number; readonly growth?: Growth },
): number {
  let { min, max } = tally;
  const sums = { sum: tally.sum, lost: tally.lost, scale: tally.scale };
  let skipped = 0;
  for (let row = from; row < to; row += 1) {
    const number = numberIn(step, row);
    if (Number.isNaN(number)) {
      skipped += 1;
      continue;
    }
    addToSum(sums, number);
    if (number < min) min = number;
    if (number > max) max = number;
    growth?.add(number, tally);
  }
  Object.assign(tally, { min, max }, sums);
  tally.numbers += to - from - skipped;
  return skipped;
}

/** Adds what a stretch comes to; answers how many of its datapoints are no numbers. */
export function addStretch(
  tally: Tally,
  stretches: Stretches,
  at: number,
  growth?: Growth,
): number {
  const count = stretches.counts[at] ?? 0;
  const numbers = (stretches.numbers[at] ?? 0) + (stretches.textNumbers[at] ?? 0);
  tally.count += count;
  if (numbers === 0) return count;
  const first = stretches.first[at] ?? 0;
  const last = stretches.last[at] ?? 0;
  // Null is a value that a datapoint may have.
  if (tally.first === undefined) tally.first = first;
  tally.last = last;
  tally.numbers += numbers;
  addToSum(tally, stretches.sum[at] ?? 0);
  tally.min = Math.min(tally.min, stretches.min[at] ?? 0);
  tally.max = Math.max(tally.max, stretches.max[at] ?? 0);
  growth?.addStretch(stretches, at, tally);
  return count - numbers;
}

/** Adds the bucket of another sensor at the same time: its datapoints, not their order. */
export function addTally(into: Tally, other: Tally): void {
  into.count += other.count;
  into.numbers += other.numbers;
  into.min = Math.min(into.min, other.min);
  into.max = Math.max(into.max, other.max);
  addGrown(into, other);
  addToSum(into, (other.sum + other.lost) / other.scale);
}

/** Neumaier's summation: ten times 0.1 is 1. */
function addToSum(sums: Pick<Tally, 'sum' | 'lost' | 'scale'>, number: number): void {
  let addend = number * sums.scale;
  if (!Number.isFinite(sums.sum + addend)) {
    sums.sum *= scaleOfHugeSums;
    sums.lost *= scaleOfHugeSums;
    sums.scale *= scaleOfHugeSums;
    addend = number * sums.scale;
  }
  const { sum } = sums;
  const next = sum + addend;
  sums.lost += Math.abs(sum) >= Math.abs(addend) ? sum - next + addend : addend - next + sum;
  sums.sum = next;
}

/** Undefined: no datapoint of the bucket is a number, or the result is none. */
function aggregateOf(tally: Tally, name: Aggregate): JsonValue | undefined {
  if (name === 'count') return tally.count;
  if (name === 'first' || name === 'last') return tally[name];
  if (tally.numbers === 0) return undefined;
  if (name === 'min' || name === 'max') return tally[name];
  if (name === 'increase') return increaseOf(tally);
  const { numbers, scale, min, max } = tally;
  const sum = withoutRest(tally.sum + tally.lost, Math.max(-min, max) * scale, numbers);
  const value = (name === 'sum' ? sum : sum / numbers) / scale;
  // Sums beyond the range of a double have no JSON.
  return Number.isFinite(value) ? significant(value) : undefined;
}

/** Buckets of one sensor, column by column: all of their values are numbers, or absent. */
export interface BucketColumns {
  readonly count: number;
  /** Where each begins, as an Instant. */
  readonly starts: Float64Array;
  /** A column for each aggregate of the plan, in its order; NaN: the bucket has none. */
  readonly values: readonly Float64Array[];
}

export type BucketColumnsBuilder = ReturnType<typeof createBucketColumns>;
/** The part of an AggregationPlan that matters here. */
type Asked = Pick<AggregationPlan, 'aggregates'>;
/** The others may be any JSON value. */
const withAnyValue: ReadonlySet<Aggregate> = new Set<Aggregate>(['first', 'last']);
const bucketsFirst = 512;
const bytesOfNumber = Float64Array.BYTES_PER_ELEMENT;

/** Whether all that is asked for are numbers, so that columns can hold them. */
export const asksForNumbers = ({ aggregates }: Asked): boolean =>
  !aggregates.some((name) => withAnyValue.has(name));

/** Columns without buckets yet; what is asked for are numbers. */
export function createBucketColumns({ aggregates }: Asked) {
  let starts = new Float64Array(bucketsFirst);
  let values = aggregates.map(() => new Float64Array(bucketsFirst));
  let count = 0;

  function enlarge(): void {
    const enlarged = (column: Float64Array) => {
      const larger = new Float64Array(2 * column.length);
      larger.set(column);
      return larger;
    };
    starts = enlarged(starts);
    values = values.map(enlarged);
  }

  return {
    get count() {
      return count;
    },
    /** Memory of the columns, in bytes. */
    get bytes() {
      return starts.length * (1 + values.length) * bytesOfNumber;
    },
    /** Adds what a bucket comes to, unless it has nothing to say. */
    add(tallied: Tally): void {
      if (count === starts.length) enlarge();
      let isEmpty = true;
      for (let at = 0; at < values.length; at += 1) {
        const value = aggregateOf(tallied, aggregates[at] as Aggregate);
        (values[at] as Float64Array)[count] = typeof value === 'number' ? value : Number.NaN;
        if (value !== undefined) isEmpty = false;
      }
      if (isEmpty) return;
      starts[count] = tallied.start;
      count += 1;
    },
    /** The columns, the latest bucket first when `order` is desc. Nothing is added afterwards. */
    finish(order: 'asc' | 'desc'): BucketColumns {
      const inOrder = (column: Float64Array): Float64Array => {
        const filled = column.subarray(0, count);
        return order === 'asc' ? filled : filled.reverse();
      };
      return { count, starts: inOrder(starts), values: values.map(inOrder) };
    },
  };
}

export interface AggregationPlan {
  /** At least one aggregate, each once. */
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

/** Result of one more step of datapoints. */
export interface AggregationStep {
  /** Complete buckets that have a value, oldest first. */
  readonly buckets: readonly Bucket[];
  /** Datapoints that those of numbers passed over because they are no numbers. */
  readonly skipped: number;
}

/**
 * Puts datapoints, oldest first, into buckets. Text that is a number counts as one [contract 6];
 * count, first and last take every datapoint. A stretch lies in one bucket. `growth` knows the
 * numbers before them, and receives the one after them before the parts end.
 */
export async function* aggregate(
  parts: AsyncIterable<SummarisedPart>,
  plan: AggregationPlan,
  growth?: Growth,
): AsyncGenerator<AggregationStep, undefined> {
  for await (const { made, skipped } of tally({ parts, plan, growth }, (one) =>
    toBucket(one, plan),
  )) {
    yield { buckets: made, skipped };
  }
}

/**
 * Puts datapoints into buckets as `aggregate` does, and what they come to into columns, whose plan
 * asks for numbers; answers how many datapoints were skipped by each step.
 */
export async function* aggregateInto(
  columns: BucketColumnsBuilder,
  parts: AsyncIterable<SummarisedPart>,
  { plan, growth }: { readonly plan: AggregationPlan; readonly growth?: Growth | undefined },
): AsyncGenerator<number, undefined> {
  const add = (one: Tally): undefined => void columns.add(one);
  for await (const { skipped } of tally({ parts, plan, growth }, add)) yield skipped;
}

/** The bucket of a tally; undefined: it has nothing to say. */
export function toBucket(tallied: Tally, { aggregates: names }: AggregationPlan) {
  const values = names.map((name) => aggregateOf(tallied, name));
  if (values.every((value) => value === undefined)) return undefined;
  return { start: tallied.start, values } satisfies Bucket;
}

/** Puts datapoints into buckets, and makes of each one that is complete what is asked for. */
export async function* tally<Made>(
  options: {
    readonly parts: AsyncIterable<SummarisedPart>;
    readonly plan: AggregationPlan;
    readonly growth: Growth | undefined;
  },
  make: (tallied: Tally) => Made | undefined,
): AsyncGenerator<{ readonly made: readonly Made[]; readonly skipped: number }, undefined> {
  const { parts, plan } = options;
  const growth = plan.aggregates.includes('increase')
    ? (options.growth ?? createGrowth())
    : undefined;
  const buckets = createTallyList(plan, make, growth);
  for await (const part of parts) {
    if (isStretchRun(part)) buckets.addRun(part);
    else buckets.addColumns(part);
    yield buckets.take();
  }
  yield buckets.takeLast();
}

/** The buckets of one pass: what those came to that are complete, and the one under way. */
function createTallyList<Made>(
  plan: AggregationPlan,
  make: (tallied: Tally) => Made | undefined,
  growth: Growth | undefined,
) {
  const { bucketOf } = plan;
  const follow = growth === undefined ? {} : { growth };
  const needsNumbers = plan.aggregates.some((name) => numeric.has(name));
  let current: Tally | undefined;
  let made: Made[] = [];
  let skipped = 0;
  // The growth to the last number of a bucket is known when the next number is.
  let waiting: Tally[] = [];

  function finish(tallied: Tally): void {
    const one = make(tallied);
    if (one !== undefined) made.push(one);
  }

  function close(): void {
    if (current === undefined) return;
    if (growth === undefined) finish(current);
    else waiting.push(current);
  }

  function finishJudged(): void {
    const open = waiting.indexOf(growth?.waitsFor as Tally);
    const end = open < 0 ? waiting.length : open;
    for (let at = 0; at < end; at += 1) finish(waiting[at] as Tally);
    waiting = waiting.slice(end);
  }

  function tallyAt(time: Instant): Tally {
    if (current !== undefined && time < current.end) return current;
    close();
    current = openTally(bucketOf?.(time) ?? { start: time, end: Number.POSITIVE_INFINITY });
    return current;
  }

  return {
    addColumns(step: DatapointColumns): void {
      let row = 0;
      while (row < step.count) {
        const from = row;
        const open = tallyAt(timeIn(step, row));
        const isOver = timeIn(step, step.count - 1) >= open.end;
        const end = isOver ? rowFrom(step.times, open.end, row, step.count) : step.count;
        if (needsNumbers) skipped += addRows(open, step, { from: row, to: end, ...follow });
        open.count += end - row;
        if (open.first === undefined) open.first = step.at(from).value;
        if (end > row) open.last = step.at(end - 1).value;
        row = end;
      }
    },
    addRun({ stretches, from, to }: StretchRun): void {
      for (let at = from; at < to; at += 1) {
        const open = tallyAt(stretches.starts[at] ?? 0);
        skipped += addStretch(open, stretches, at, growth);
      }
    },
    /** Takes what is complete since the last time. */
    take(): { readonly made: readonly Made[]; readonly skipped: number } {
      if (growth !== undefined) finishJudged();
      const step = { made, skipped: needsNumbers ? skipped : 0 };
      made = [];
      skipped = 0;
      return step;
    },
    takeLast() {
      growth?.end();
      close();
      return this.take();
    },
  };
}
