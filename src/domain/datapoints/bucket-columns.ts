import { type Aggregate, aggregateOf, type Tally } from './bucket-tally.ts';

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
    starts = enlarged(starts);
    values = values.map(enlarged);
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

function enlarged(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * column.length);
  larger.set(column);
  return larger;
}
