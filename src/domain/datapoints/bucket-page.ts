import { writeJson } from '../../lib/long-json.ts';
import { createMerge } from '../../lib/merge.ts';
import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import { inOneStep } from '../../lib/steps.ts';
import type { Hold } from '../budgets/long-work.ts';
import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import {
  type Aggregate,
  type AggregationPlan,
  type AggregationStep,
  addTally,
  type Bucket,
  type BucketColumns,
  type BucketColumnsBuilder,
  type Tally,
  toBucket,
} from './aggregation.ts';
import type { SensorRef } from './datapoint.ts';
import type { Page, StepBudget } from './datapoint-store.ts';
import type { Source } from './sensor-selection.ts';

export interface SensorBucket {
  readonly sensor: SensorRef;
  readonly bucket: Bucket;
}

export interface BucketPage {
  readonly buckets: readonly SensorBucket[];
  /** Datapoints that avg, min, max and sum passed over because they are no numbers. */
  readonly skipped: number;
  /** All buckets, whatever the page. */
  readonly total: number;
  /** About what the buckets take in memory. */
  readonly keptBytes: number;
}

/** All buckets of one sensor, with the same counts. */
export interface BucketColumnsPage extends Omit<BucketPage, 'buckets'> {
  readonly columns: BucketColumns;
}

interface PageParts {
  readonly sources: readonly Source[];
  readonly page: Pick<Page, 'order' | 'skip' | 'limit'>;
  readonly pace: Pace;
  readonly hold: Hold;
}

/** The aggregation of one sensor, from its beginning. */
type ReadBuckets = (source: Source, room: StepBudget) => AsyncGenerator<AggregationStep>;

/** Limits of a step where one sensor is read alone. */
export const wholeStep: StepBudget = {
  rowsMax: limits.datapointsPerScan,
  charactersMax: limits.datapointCharactersPerStep,
};

/**
 * Reads a page of the buckets of all sensors, in order of time, at the same time in the order of
 * the sensors. While they are few all are kept from the pass that counts them; else a second pass
 * merges the sensors and keeps the page alone. Throws invalid when all were wanted of too many.
 */
export async function readBucketPage(
  options: PageParts & { readonly read: ReadBuckets },
): Promise<BucketPage> {
  const { sources, read, page, pace, hold } = options;
  const isAll = page.limit === Number.POSITIVE_INFINITY;
  const room = createBucketBudget(hold);
  let kept: Bucket[][] | undefined = [];
  let [total, skipped] = [0, 0];
  for (const source of sources) {
    const ofSource: Bucket[] = [];
    for await (const step of read(source, wholeStep)) {
      skipped += step.skipped;
      total += step.buckets.length;
      if (kept === undefined) continue;
      const refusal = room.take(step.buckets);
      if (refusal !== undefined && isAll) throw refusal;
      if (refusal === undefined) for (const bucket of step.buckets) ofSource.push(bucket);
      else kept = undefined;
      if (kept === undefined) hold(0);
    }
    kept?.push(ofSource);
    if (pace.isOver()) await pace.rest();
  }
  // The page's buckets are among the kept ones, which are counted already.
  const ofPage = createBucketBudget(kept === undefined ? hold : () => undefined);
  const answer = { sources, page, total, pace, room: ofPage };
  const streams = kept?.map(inOneStep) ?? readAgain(sources, read);
  const buckets = await takePage({ ...answer, streams });
  return { buckets, skipped, total, keptBytes: ofPage.bytes };
}

/** Of all sensors at once no more is read than of a few. */
function readAgain(
  sources: readonly Source[],
  read: ReadBuckets,
): readonly AsyncGenerator<readonly Bucket[]>[] {
  const share = Math.ceil(limits.mergedScanRowsMax / sources.length);
  const charactersMax = limits.mergedCharactersMax / sources.length;
  const room = {
    rowsMax: Math.min(wholeStep.rowsMax, Math.max(share, limits.mergedDatapointsPerStepMin)),
    charactersMax: Math.min(wholeStep.charactersMax, charactersMax),
  };
  return sources.map(async function* (source) {
    for await (const { buckets } of read(source, room)) yield buckets;
  });
}

/** Buckets between two checks of the clock. */
const bucketsPerLook = 64;

/** The page of the buckets of all sensors; those of each come oldest first. */
async function takePage(
  options: Omit<PageParts, 'hold'> & {
    readonly streams: readonly AsyncGenerator<readonly Bucket[]>[];
    readonly total: number;
    readonly room: ReturnType<typeof createBucketBudget>;
  },
): Promise<readonly SensorBucket[]> {
  const { streams, sources, page, total, pace, room } = options;
  const count = Math.min(page.limit, limits.bucketsMax, Math.max(0, total - page.skip));
  const first = page.order === 'asc' ? page.skip : total - page.skip - count;
  const merge = createMerge<readonly Bucket[]>((step) => step.map(({ start }) => start));
  for (const stream of count > 0 ? streams : []) {
    await merge.add(stream);
    if (pace.isOver()) await pace.rest();
  }
  const buckets: SensorBucket[] = [];
  for (let at = 0; buckets.length < count; ) {
    const wanted = at < first ? first - at : count - buckets.length;
    const run = merge.run(Math.min(bucketsPerLook, wanted));
    const source = sources[run?.place ?? -1];
    if (run === undefined || source === undefined) break;
    const found = run.step.slice(run.from, run.to);
    const refusal = at < first ? undefined : room.take(found);
    if (refusal !== undefined) throw refusal;
    if (at >= first) buckets.push(...found.map((bucket) => ({ sensor: source.ref, bucket })));
    at += found.length;
    await merge.pass(found.length);
    if (pace.isOver()) await pace.rest();
  }
  return page.order === 'asc' ? buckets : buckets.reverse();
}

/** All buckets of a sensor as columns, in the page's order. Throws invalid for too many. */
export async function readBucketColumns(options: {
  readonly columns: BucketColumnsBuilder;
  /** Counts of the datapoints that each step of the read skipped. */
  readonly steps: AsyncIterable<number>;
  readonly order: Page['order'];
  readonly hold: Hold;
}): Promise<BucketColumnsPage> {
  const { columns, steps, order, hold } = options;
  let skipped = 0;
  for await (const more of steps) {
    skipped += more;
    if (columns.count > limits.bucketsMax) throw tooManyBuckets();
    hold(columns.bytes);
  }
  const { count: total, bytes: keptBytes } = columns;
  return { columns: columns.finish(order), skipped, total, keptBytes };
}

/** Counts what is kept of buckets until they are answered. */
function createBucketBudget(hold: Hold) {
  let count = 0;
  let textCharacters = 0;
  return {
    get bytes() {
      return count * limits.summaryItemBytes + textCharacters;
    },
    /** The refusal of these, when the budget is full. Throws rate_limited. */
    take(buckets: readonly Bucket[]): Error | undefined {
      count += buckets.length;
      for (const { values } of buckets) {
        for (const value of values) textCharacters += charactersOf(value);
      }
      if (count > limits.bucketsMax) return tooManyBuckets();
      if (textCharacters > limits.bucketsTextCharactersMax) return tooLongBuckets();
      hold(this.bytes);
      return undefined;
    },
  };
}

/** Numbers weigh nothing: their count is bounded already. */
function charactersOf(value: Bucket['values'][number]): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? writeJson(value).length : 0;
}

const tooManyBuckets = (): Error =>
  invalid(
    `the answer would have more than ${limits.bucketsMax} buckets: ask for a longer interval, ` +
      'a shorter range, or pages by limit and offset',
  );

const tooLongBuckets = (): Error =>
  invalid(
    'the values are too long for one answer: ask for a shorter range, or pages by limit and offset',
  );

/** Buckets of all sensors together. */
export interface Totals extends Omit<BucketPage, 'buckets'> {
  readonly buckets: readonly Bucket[];
}

const withOrder: ReadonlySet<Aggregate> = new Set<Aggregate>(['first', 'last']);

/**
 * Adds up all sensors in one bucket [contract 10]: the datapoints of each count alike, and their
 * increases are added. Throws invalid for first and last, which many sensors have not.
 */
export async function readTotals(
  options: PageParts & {
    readonly read: (
      source: Source,
    ) => AsyncIterable<{ readonly made: readonly Tally[]; readonly skipped: number }>;
    readonly plan: AggregationPlan;
  },
): Promise<Totals> {
  const { sources, read, plan, page, pace, hold } = options;
  const odd = plan.aggregates.find((name) => withOrder.has(name));
  if (odd !== undefined) throw invalid(`${odd} is of one sensor: leave across out`);
  const totals = new Map<number, Tally>();
  let skipped = 0;
  for (const source of sources) {
    for await (const step of read(source)) {
      skipped += step.skipped;
      for (const one of step.made) addTo(totals, one, plan);
      if (totals.size > limits.bucketsMax) throw tooManyTotals();
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

/** The page of those that have something to say, and how many have. */
async function chosen(
  options: Pick<PageParts, 'page' | 'pace'> & {
    readonly totals: ReadonlyMap<number, Tally>;
    readonly plan: AggregationPlan;
  },
): Promise<{ readonly buckets: readonly Bucket[]; readonly total: number }> {
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

const tooManyTotals = (): Error =>
  invalid(
    `the answer would have more than ${limits.bucketsMax} buckets: ask for a longer interval or ` +
      'a shorter range',
  );
