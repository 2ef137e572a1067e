import type { Actor } from '../../domain/actor.ts';
import {
  type AggregationPlan,
  asksForNumbers,
  type Bucket,
} from '../../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../../domain/datapoints/bucket-page.ts';
import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import type { SensorDatapoint } from '../../domain/datapoints/merged-history.ts';
import type { SensorSelection } from '../../domain/datapoints/sensor-selection.ts';
import type { Summaries } from '../../domain/datapoints/summaries.ts';
import { limits } from '../../domain/limits.ts';
import type { Instant } from '../../lib/clock.ts';
import { createBucketColumnRows, createBucketRows } from '../../wire/rows.ts';
import type { Spelling } from '../../wire/spelling.ts';
import {
  bucketCsvHeader,
  bucketCsvRow,
  createBucketWriter,
  createSensorBucketWriter,
  type Summary,
  totalCsvHeader,
  totalCsvRow,
} from '../../wire/summary.ts';
import type { StreamAnswer } from '../answer.ts';
import {
  answerWith,
  answerWithBuckets,
  csvFormat,
  type Format,
  jsonFormat,
  type StepWriter,
} from './datapoint-answer.ts';

/** A read that is to be summed up. */
export interface SummaryRequest {
  readonly actor: Actor;
  readonly selection: SensorSelection;
  /** The path names the sensor: buckets in JSON do not repeat it. */
  readonly isOfOneSensor: boolean;
  /** Buckets are of all sensors together, and name none. */
  readonly isTotal?: boolean;
  readonly query: HistoryQuery;
  /** As the client gave it; without one everything is answered. */
  readonly limit: number | undefined;
  readonly summary: Summary;
  readonly isCsv: boolean;
  /** How datapoints are written; buckets have a form of their own. */
  readonly format: Format<SensorDatapoint>;
  readonly spelling: Spelling;
}

/** Answers buckets or downsampled datapoints, with the number passed over in X-Skipped-Count. */
export function answerSummary(
  summaries: Summaries,
  request: SummaryRequest,
): Promise<StreamAnswer> {
  const { summary } = request;
  if (summary.kind === 'aggregate' && mayBeColumns(request, summary.plan)) {
    return answerColumns(summaries, request, summary.plan);
  }
  if (summary.kind === 'aggregate' && request.isTotal === true) {
    return answerTotals(summaries, request, summary.plan);
  }
  return summary.kind === 'aggregate'
    ? answerBuckets(summaries, request, summary.plan)
    : answerDownsampled(summaries, request, summary.points);
}

/**
 * Range and lastN say which datapoints are aggregated; limit, offset and sort which of the buckets
 * are answered.
 */
async function answerBuckets(
  summaries: Summaries,
  request: SummaryRequest,
  plan: AggregationPlan,
): Promise<StreamAnswer> {
  const { actor, selection, isOfOneSensor, query, limit, isCsv, spelling } = request;
  const page = { ...query, limit: limit ?? Number.POSITIVE_INFINITY };
  const { buckets, ...counts } = await summaries.aggregate(actor, selection, page, plan);
  const writeOne = createBucketWriter(plan);
  const item: Format<SensorBucket>['item'] = isOfOneSensor
    ? ({ bucket }) => writeOne(bucket)
    : createSensorBucketWriter(plan, spelling);
  const format: Format<SensorBucket> = isCsv
    ? { ...csvFormat(spelling), head: bucketCsvHeader(plan, spelling), item: bucketCsvRow }
    : { ...jsonFormat, item };
  const rows = isCsv ? undefined : createBucketRows(plan, isOfOneSensor, spelling);
  return listed(buckets, format, counts, rows);
}

/** All buckets of one sensor, in numbers alone, as JSON: what charts of a year ask for. */
function mayBeColumns(request: SummaryRequest, plan: AggregationPlan): boolean {
  const isAll = request.limit === undefined && request.query.skip === 0;
  return isAll && request.isOfOneSensor && !request.isCsv && asksForNumbers(plan);
}

async function answerColumns(
  summaries: Summaries,
  { actor, selection, query }: SummaryRequest,
  plan: AggregationPlan,
): Promise<StreamAnswer> {
  const page = await summaries.aggregateOne(actor, selection, query, plan);
  const headers = { 'x-skipped-count': String(page.skipped) };
  return answerWithBuckets(page, createBucketColumnRows(plan), headers);
}

async function answerTotals(
  summaries: Summaries,
  request: SummaryRequest,
  plan: AggregationPlan,
): Promise<StreamAnswer> {
  const { actor, selection, query, limit, isCsv, spelling } = request;
  const page = { ...query, limit: limit ?? Number.POSITIVE_INFINITY };
  const { buckets, ...counts } = await summaries.totals(actor, selection, page, plan);
  const format: Format<Bucket> = isCsv
    ? { ...csvFormat(spelling), head: totalCsvHeader(plan), item: totalCsvRow }
    : { ...jsonFormat, item: createBucketWriter(plan) };
  return listed(buckets, format, counts);
}

async function answerDownsampled(
  summaries: Summaries,
  request: SummaryRequest,
  points: number,
): Promise<StreamAnswer> {
  const { actor, selection, query, limit, format } = request;
  const isLimited = query.lastN !== undefined || limit !== undefined;
  const page = isLimited ? query : { ...query, limit: Number.POSITIVE_INFINITY };
  const { datapoints, ...counts } = await summaries.downsample(actor, selection, page, points);
  return listed(datapoints, format, counts);
}

/** Written as a whole, or as a stream when the list is long. */
function listed<Item>(
  items: readonly Item[],
  format: Format<Item>,
  counts: {
    readonly total: number;
    readonly skipped: number;
    readonly keptBytes: number;
    readonly standsFrom: Instant | undefined;
  },
  rows?: StepWriter<Item>,
): StreamAnswer {
  const { total, standsFrom } = counts;
  const history = { total, standsFrom, steps: inSteps(items) };
  return answerWith(history, { limit: items.length }, format, {
    headers: { 'x-skipped-count': String(counts.skipped) },
    keptBytes: counts.keptBytes,
    rows,
  });
}

async function* inSteps<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let at = 0; at < items.length; at += limits.datapointsPerStep) {
    yield items.slice(at, at + limits.datapointsPerStep);
  }
}
