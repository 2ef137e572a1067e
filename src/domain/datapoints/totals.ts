import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import type { Hold } from '../budgets/long-work.ts';
import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { type AggregationPlan, type Bucket, toBucket } from './aggregation.ts';
import { type Aggregate, addTally, type Tally } from './bucket-tally.ts';
import type { Page } from './datapoint-store.ts';
import type { Source } from './sensor-selection.ts';

export interface Totals {
  readonly buckets: readonly Bucket[];
  /** Datapoints that are no numbers, where numbers were asked for. */
  readonly skipped: number;
  /** All buckets, whatever the page. */
  readonly total: number;
  /** About what the buckets take in memory. */
  readonly keptBytes: number;
}

const withOrder: ReadonlySet<Aggregate> = new Set<Aggregate>(['first', 'last']);

/**
 * Adds up all sensors in one bucket [contract 10]: the datapoints of each count alike, and their
 * increases are added. Throws invalid for first and last, which many sensors have not.
 */
export async function readTotals(options: {
  readonly sources: readonly Source[];
  readonly read: (
    source: Source,
  ) => AsyncIterable<{ readonly made: readonly Tally[]; readonly skipped: number }>;
  readonly plan: AggregationPlan;
  readonly page: Pick<Page, 'order' | 'skip' | 'limit'>;
  readonly pace: Pace;
  readonly hold: Hold;
}): Promise<Totals> {
  const { sources, read, plan, page, pace, hold } = options;
  const odd = plan.aggregates.find((name) => withOrder.has(name));
  if (odd !== undefined) throw invalid(`${odd} is of one sensor: leave across out`);
  const totals = new Map<number, Tally>();
  let skipped = 0;
  for (const source of sources) {
    for await (const step of read(source)) {
      skipped += step.skipped;
      for (const one of step.made) addTo(totals, one, plan);
      if (totals.size > limits.bucketsMax) throw tooManyBuckets();
      hold(totals.size * tallyBytes);
      if (pace.isOver()) await pace.rest();
    }
    if (pace.isOver()) await pace.rest();
  }
  const { buckets, total } = await chosen({ totals, plan, page, pace });
  return { buckets, skipped, total, keptBytes: buckets.length * limits.summaryItemBytes };
}

/** About what one takes in memory, with its place in the map. */
const tallyBytes = 256;

/** Buckets between two checks of the clock. */
const bucketsPerLook = 64;

/** The page of those that have something to say, and how many have. */
async function chosen(options: {
  readonly totals: ReadonlyMap<number, Tally>;
  readonly plan: AggregationPlan;
  readonly page: Pick<Page, 'order' | 'skip' | 'limit'>;
  readonly pace: Pace;
}): Promise<{ readonly buckets: readonly Bucket[]; readonly total: number }> {
  const { totals, plan, page, pace } = options;
  // Sorted as numbers: a hundred thousand are in order within a slice.
  const keys = Float64Array.from(totals.keys()).sort();
  if (page.order === 'desc') keys.reverse();
  const buckets: Bucket[] = [];
  let total = 0;
  for (const [at, key] of keys.entries()) {
    const one = totals.get(key);
    const bucket = one && toBucket(one, plan);
    if (bucket !== undefined) {
      if (total >= page.skip && buckets.length < page.limit) buckets.push(bucket);
      total += 1;
    }
    if (at % bucketsPerLook === 0 && pace.isOver()) await pace.rest();
  }
  return { buckets, total };
}

function addTo(totals: Map<number, Tally>, one: Tally, { bucketOf }: AggregationPlan): void {
  // Without an interval there is one bucket, which begins with the first datapoint of all.
  const key = bucketOf === undefined ? Number.NEGATIVE_INFINITY : one.start;
  const known = totals.get(key);
  if (known === undefined) {
    totals.set(key, { ...one });
    return;
  }
  addTally(known, one);
  if (one.start < known.start) totals.set(key, { ...known, start: one.start });
}

const tooManyBuckets = (): Error =>
  invalid(
    `the answer would have more than ${limits.bucketsMax} buckets: ask for a longer interval or ` +
      'a shorter range',
  );
