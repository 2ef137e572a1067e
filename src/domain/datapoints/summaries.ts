import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Access } from '../access/access.ts';
import type { Actor } from '../actor.ts';
import type { LongWork } from '../budgets/long-work.ts';
import type { DeviceStore } from '../devices/device-store.ts';
import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { type AggregationPlan, aggregate, type Bucket, tooManyBuckets } from './aggregation.ts';
import { orderTime, type SensorRef } from './datapoint.ts';
import { calibratedColumns, type DatapointColumns, timeIn } from './datapoint-columns.ts';
import type { DatapointStore, Page } from './datapoint-store.ts';
import { downsample } from './downsampling.ts';
import { type HistoryQuery, pageOf } from './history.ts';
import {
  createSourceOpening,
  type SensorDatapoint,
  type SensorSelection,
  type Source,
} from './merged-history.ts';
import { following } from './pages.ts';

export interface SensorBucket {
  readonly sensor: SensorRef;
  readonly bucket: Bucket;
}

/** What datapoints of some sensors come to, for those who may view the data of their devices. */
export interface Summaries {
  /**
   * Puts the datapoints of each sensor into buckets, which are answered oldest first; at the same
   * time in the order in which sensors are named. The page counts for each sensor.
   */
  aggregate(
    actor: Actor,
    selection: SensorSelection,
    query: HistoryQuery,
    plan: AggregationPlan,
  ): Promise<{ readonly buckets: readonly SensorBucket[]; readonly skipped: number }>;
  /**
   * Downsamples the page of each sensor to at most `pointsMax` datapoints, merged in the order of
   * the page; `total` are in the range.
   */
  downsample(
    actor: Actor,
    selection: SensorSelection,
    query: HistoryQuery,
    pointsMax: number,
  ): Promise<{
    readonly datapoints: readonly SensorDatapoint[];
    readonly skipped: number;
    readonly total: number;
  }>;
}

export function createSummaries(options: {
  readonly devices: DeviceStore;
  readonly datapoints: DatapointStore;
  readonly access: Access;
  readonly longWork: LongWork;
}): Summaries {
  const { datapoints, longWork } = options;
  const open = createSourceOpening(options);

  async function aggregateOne(source: Source, query: HistoryQuery, plan: AggregationPlan) {
    const total = query.isCountedFromNewest ? await datapoints.count(source.ref, query) : 0;
    const page = pageOf({ ...query, order: 'asc' }, total);
    return aggregate(scan({ datapoints, source, page, query }), plan);
  }

  async function downsampleOne(source: Source, query: HistoryQuery, pointsMax: number) {
    const total = await datapoints.count(source.ref, query);
    const page = pageOf(query, total);
    const count = Math.min(page.limit, Math.max(0, total - page.skip));
    const steps = scan({ datapoints, source, page, query });
    return { ...(await downsample(steps, { count, pointsMax })), total };
  }

  return {
    async aggregate(actor, selection, query, plan) {
      const buckets: SensorBucket[] = [];
      let skipped = 0;
      const sources = await open(actor, selection);
      await longWork.run(actor, async (pace) => {
        for (const source of sources) {
          const one = await aggregateOne(source, query, plan);
          if (pace.isOver()) await pace.rest();
          if (buckets.length + one.buckets.length > limits.bucketsMax) throw tooManyBuckets();
          for (const bucket of one.buckets) buckets.push({ sensor: source.ref, bucket });
          skipped += one.skipped;
        }
      });
      return { buckets: buckets.sort((a, b) => a.bucket.start - b.bucket.start), skipped };
    },
    async downsample(actor, selection, query, pointsMax) {
      const sources = await open(actor, selection);
      refuseTooManyPoints(sources.length, pointsMax);
      const merged: SensorDatapoint[] = [];
      let [skipped, total] = [0, 0];
      await longWork.run(actor, async (pace) => {
        for (const source of sources) {
          if (pace.isOver()) await pace.rest();
          const one = await downsampleOne(source, query, pointsMax);
          for (const datapoint of one.datapoints) merged.push({ sensor: source.ref, datapoint });
          skipped += one.skipped;
          total += one.total;
        }
      });
      const sign = query.order === 'asc' ? 1 : -1;
      merged.sort((a, b) => sign * (orderTime(a.datapoint) - orderTime(b.datapoint)));
      return { datapoints: merged, skipped, total };
    },
  };
}

function refuseTooManyPoints(sensors: number, pointsMax: number): void {
  if (sensors * pointsMax <= limits.downsampledAnswerMax) return;
  throw invalid(
    `${sensors} sensors of ${pointsMax} points are more than ${limits.downsampledAnswerMax}: ` +
      'ask for fewer points',
  );
}

/**
 * Walks a page column by column, as readSteps walks it datapoint by datapoint. Others have their
 * turn after each step: a summary of years is long work.
 */
async function* scan(options: {
  readonly datapoints: DatapointStore;
  readonly source: Source;
  readonly page: Page;
  readonly query: HistoryQuery;
}): AsyncGenerator<DatapointColumns, undefined> {
  const { datapoints, query } = options;
  const { ref, sensor } = options.source;
  const calibration = query.isCalibrated ? sensor.calibration : undefined;
  let { page } = options;
  let remaining = page.limit;
  while (remaining > 0) {
    const limit = Math.min(remaining, limits.datapointsPerScan);
    const { columns: step, isCut } = await datapoints.scan(
      ref,
      { ...page, limit },
      limits.datapointCharactersPerStep,
    );
    if (step.count > 0) yield calibratedColumns(step, calibration);
    if (step.count === 0 || (step.count < limit && !isCut)) return;
    remaining -= step.count;
    page = following(page, step.count, (index) => timeIn(step, index));
    await yieldToEventLoop();
  }
}
