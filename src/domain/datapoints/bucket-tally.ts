import type { JsonValue } from '../../lib/json.ts';
import type { TimeBucket } from '../../lib/time-bucket.ts';
import { enlarged } from './column-batch.ts';
import { type DatapointColumns, numberIn } from './datapoint-columns.ts';
import { addGrown, type Grown, type Growth, increaseOf, significant } from './growth.ts';
import type { Stretches } from './stretches.ts';

/** Aggregates that may be asked of a bucket, in the order of the reference. */
export const aggregates = [
  ...(['avg', 'min', 'max', 'sum', 'count', 'first', 'last', 'increase'] as const),
] as const;

export type Aggregate = (typeof aggregates)[number];

/** Aggregates that need numbers. */
export const numeric: ReadonlySet<Aggregate> = new Set<Aggregate>([
  ...(['avg', 'min', 'max', 'sum', 'increase'] as const),
]);

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
    rise: 0,
    riseLost: 0,
    decimals: 0,
  };
}

/** So many of the largest numbers could be added with it. */
const scaleOfHugeSums = 2 ** -60;

/** Adds the numbers of some rows; answers how many rows have none. */
export function addRows(
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
export function aggregateOf(tally: Tally, name: Aggregate): JsonValue | undefined {
  if (name === 'count') return tally.count;
  if (name === 'first' || name === 'last') return tally[name];
  if (tally.numbers === 0) return undefined;
  if (name === 'min' || name === 'max') return tally[name];
  if (name === 'increase') return increaseOf(tally);
  const sum = tally.sum + tally.lost;
  const value = (name === 'sum' ? sum : sum / tally.numbers) / tally.scale;
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

export interface BucketColumnsBuilder {
  readonly count: number;
  /** Memory of the columns, in bytes. */
  readonly bytes: number;
  /** Adds what a bucket comes to, unless it has nothing to say. */
  add(tallied: Tally): void;
  /** The columns, the latest bucket first when `order` is desc. Nothing is added afterwards. */
  finish(order: 'asc' | 'desc'): BucketColumns;
}

/** The part of an AggregationPlan that matters here. */
interface Asked {
  readonly aggregates: readonly Aggregate[];
}

/** The others may be any JSON value. */
const withAnyValue: ReadonlySet<Aggregate> = new Set<Aggregate>(['first', 'last']);
const bucketsFirst = 512;
const bytesOfNumber = Float64Array.BYTES_PER_ELEMENT;

/** Whether all that is asked for are numbers, so that columns can hold them. */
export const asksForNumbers = ({ aggregates }: Asked): boolean =>
  !aggregates.some((name) => withAnyValue.has(name));

/** Nothing yet. What is asked for are numbers. */
export function createBucketColumns({ aggregates }: Asked): BucketColumnsBuilder {
  let starts = new Float64Array(bucketsFirst);
  let values = aggregates.map(() => new Float64Array(bucketsFirst));
  let count = 0;

  function enlarge(): void {
    const room = 2 * starts.length;
    starts = enlarged(starts, room);
    values = values.map((column) => enlarged(column, room));
  }

  return {
    get count() {
      return count;
    },
    get bytes() {
      return starts.length * (1 + values.length) * bytesOfNumber;
    },
    add(tallied) {
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
    finish(order) {
      const inOrder = (column: Float64Array): Float64Array => {
        const filled = column.subarray(0, count);
        return order === 'asc' ? filled : filled.reverse();
      };
      return { count, starts: inOrder(starts), values: values.map(inOrder) };
    },
  };
}
