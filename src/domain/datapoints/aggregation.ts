import type { Instant } from '../../lib/clock.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { BucketOf } from '../../lib/time-bucket.ts';
import {
  type Aggregate,
  addRows,
  addStretch,
  aggregateOf,
  aggregates,
  type BucketColumnsBuilder,
  numeric,
  openTally,
  type Tally,
} from './bucket-tally.ts';
import { type DatapointColumns, timeIn } from './datapoint-columns.ts';
import { createGrowth, type Growth } from './growth.ts';
import { isStretchRun, type StretchRun, type SummarisedPart } from './stretches.ts';

export { type Aggregate, aggregates };

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
  if (values.every(isAbsent)) return undefined;
  return { start: tallied.start, values } satisfies Bucket;
}

const isAbsent = (value: unknown): boolean => value === undefined;

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
    const bucket = bucketOf?.(time) ?? { start: time, end: Number.POSITIVE_INFINITY };
    current = openTally(bucket);
    return current;
  }

  return {
    addColumns(step: DatapointColumns): void {
      let row = 0;
      while (row < step.count) {
        const from = row;
        const open = tallyAt(timeIn(step, row));
        const end = rowOfTime(step, row, open.end);
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
