import type { Pace } from '../../lib/fair-turns.ts';
import type { Hold } from '../budgets/long-work.ts';
import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { type AggregationPlan, type Bucket, type TallyStep, toBucket } from './aggregation.ts';
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
 * One bucket for all sensors together [contract 10]: the datapoints of each count alike, and their
 * increases are added. Throws invalid for first and last, which many sensors have not.
 */
export async function readTotals(options: {
  readonly sources: readonly Source[];
  readonly read: (source: Source) => AsyncIterable<TallyStep>;
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
      for (const one of step.tallies) addTo(totals, one, plan);
      if (totals.size > limits.bucketsMax) throw tooManyBuckets();
      hold(totals.size * limits.summaryItemBytes);
    }
    if (pace.isOver()) await pace.rest();
  }
  const sign = page.order === 'asc' ? 1 : -1;
  const sorted = [...totals.values()].sort((a, b) => sign * (a.start - b.start));
  const buckets = sorted.flatMap((one) => toBucket(one, plan) ?? []);
  const chosen = buckets.slice(page.skip, page.skip + page.limit);
  const keptBytes = chosen.length * limits.summaryItemBytes;
  return { buckets: chosen, skipped, total: buckets.length, keptBytes };
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
