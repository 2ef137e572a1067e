import type { Actor } from '../../domain/actor.ts';
import {
  type AggregationPlan,
  asksForNumbers,
  type Bucket,
  type BucketColumns,
} from '../../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../../domain/datapoints/bucket-page.ts';
import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import type { SensorDatapoint } from '../../domain/datapoints/merged-history.ts';
import type { SensorSelection } from '../../domain/datapoints/sensor-selection.ts';
import type { Summaries } from '../../domain/datapoints/summaries.ts';
import { limits } from '../../domain/limits.ts';
import type { Instant } from '../../lib/clock.ts';
import { joinedText, type LongText } from '../../lib/long-json.ts';
import { mapSteps, stepsOf } from '../../lib/steps.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import { csvHeader } from '../../wire/csv.ts';
import { type BucketRun, createBucketColumnRows, createBucketRows } from '../../wire/rows.ts';
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
import { prefersCsv } from '../accept.ts';
import { csvType, jsonType, type StreamAnswer } from '../answer.ts';

/** How a list is written, besides its items. */
interface Frame {
  readonly contentType: string;
  readonly head: string;
  readonly between: string;
  readonly tail: string;
}

/** How datapoints are written in one format. */
export interface Format<Item> extends Frame {
  readonly item: (item: Item) => string | LongText;
}

/** Writes a step of a long list at once; undefined: it is to be written item by item. */
type StepWriter<Item> = (step: readonly Item[]) => Uint8Array | undefined;

export const jsonFormat: Frame = { contentType: jsonType, head: '[', between: ',', tail: ']' };

/** CSV with the ids in each line. */
export const csvFormat = (spelling: Spelling): Frame => ({
  ...{ contentType: csvType, head: csvHeader(spelling), between: '', tail: '' },
});

/** Whether a read is to be answered as CSV [contract 6]. */
export function wantsCsv(format: 'json' | 'csv' | undefined, accept: string | undefined): boolean {
  return format === 'csv' || (format === undefined && prefersCsv(accept));
}

/** Number of items and, where retention took some of the range, since when they are kept. */
interface Counted {
  readonly total: number;
  readonly standsFrom?: Instant | undefined;
}

/** Headers with the counts of a read. */
export const headersOf = ({ total, standsFrom }: Counted): StreamAnswer['headers'] => ({
  'x-total-count': String(total),
  ...standingHeader(standsFrom),
});

/** Since when datapoints are kept, where retention took some of the range. */
export const standingHeader = (standsFrom: Instant | undefined): StreamAnswer['headers'] =>
  standsFrom === undefined ? {} : { 'x-summarised-before': formatTimestamp(standsFrom) };

/** The answer to a read: as a whole when it is short, as a stream when the page is long. */
export function answerWith<Item>(
  history: Counted & { readonly steps: AsyncIterable<readonly Item[]> },
  page: Pick<HistoryQuery, 'limit'>,
  format: Format<Item>,
  more?: Partial<StreamAnswer>,
  rows?: StepWriter<Item>,
): StreamAnswer {
  const isWholeIfShort = page.limit <= limits.datapointsPerStep;
  const chunks = listText(history.steps, format, isWholeIfShort ? undefined : rows);
  return answerOf(history, format, chunks, { ...more, isWholeIfShort });
}

/** The answer whose list is in these chunks. */
export const answerOf = (
  counted: Counted,
  { contentType }: Frame,
  chunks: StreamAnswer['chunks'],
  more: Partial<StreamAnswer>,
): StreamAnswer => ({
  ...{ ...more, kind: 'stream', contentType, chunks },
  headers: { ...headersOf(counted), ...more.headers },
});

/** The text of the list, step by step: as bytes where `rows` knows how. */
export const listText = <Item>(
  steps: AsyncIterable<readonly Item[]>,
  format: Format<Item>,
  rows?: StepWriter<Item>,
): StreamAnswer['chunks'] =>
  framed(
    mapSteps(steps, (step) => rows?.(step) ?? stepText(step, format)),
    format,
  );

/** The pieces of a list with what stands before, between and after them. */
export function framed<Piece extends string | Uint8Array | LongText>(
  pieces: AsyncIterable<Piece>,
  frame: Frame,
): AsyncIterable<string | Piece> {
  const source = pieces[Symbol.asyncIterator]();
  let separator: string | undefined = frame.head;
  let next: Piece | undefined;

  async function advance(): Promise<string | Piece | undefined> {
    if (separator === undefined) return undefined;
    const before = separator;
    const { done, value } = await source.next();
    if (done === true) {
      separator = undefined;
      return before === frame.head ? frame.head + frame.tail : frame.tail;
    }
    separator = frame.between;
    if (typeof value === 'string') return before + value;
    if (before === '') return value;
    next = value;
    return before;
  }

  return stepsOf(
    async () => {
      const waiting = next;
      next = undefined;
      return waiting ?? (await advance());
    },
    async () => void (await source.return?.()),
  );
}

/** The text of a step: in one piece, but for long items. */
function stepText<Item>(
  step: readonly Item[],
  { item: write, between }: Format<Item>,
): string | LongText {
  const parts: (string | LongText)[] = [];
  let text = '';
  for (const [at, item] of step.entries()) {
    if (at > 0) text += between;
    const written = write(item);
    if (typeof written === 'string') text += written;
    else {
      parts.push(text, written);
      text = '';
    }
  }
  return parts.length === 0 ? text : joinedText([...parts, text]);
}

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
  const { summary, limit, query, isOfOneSensor, isCsv } = request;
  if (summary.kind !== 'aggregate') return answerDownsampled(summaries, request, summary.points);
  const { plan } = summary;
  // All buckets of one sensor, in numbers alone, as JSON: what charts of a year ask for.
  const isAll = limit === undefined && query.skip === 0;
  const mayBeColumns = isAll && isOfOneSensor && !isCsv && asksForNumbers(plan);
  return mayBeColumns
    ? answerColumns(summaries, request, plan)
    : answerBuckets(summaries, request, plan);
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
  const writeOne = createBucketWriter(plan);
  if (request.isTotal === true) {
    const { buckets, ...counts } = await summaries.totals(actor, selection, page, plan);
    const format: Format<Bucket> = isCsv
      ? { ...csvFormat(spelling), head: totalCsvHeader(plan), item: totalCsvRow }
      : { ...jsonFormat, item: writeOne };
    return listed(buckets, format, counts);
  }
  const { buckets, ...counts } = await summaries.aggregate(actor, selection, page, plan);
  const item: Format<SensorBucket>['item'] = isOfOneSensor
    ? ({ bucket }) => writeOne(bucket)
    : createSensorBucketWriter(plan, spelling);
  const format: Format<SensorBucket> = isCsv
    ? { ...csvFormat(spelling), head: bucketCsvHeader(plan, spelling), item: bucketCsvRow }
    : { ...jsonFormat, item };
  const rows = isCsv ? undefined : createBucketRows(plan, isOfOneSensor, spelling);
  return listed(buckets, format, counts, rows);
}

async function answerColumns(
  summaries: Summaries,
  { actor, selection, query }: SummaryRequest,
  plan: AggregationPlan,
): Promise<StreamAnswer> {
  const { columns, keptBytes, skipped, ...counted } = await summaries.aggregateOne(
    ...([actor, selection, query, plan] as const),
  );
  const isWholeIfShort = columns.count <= limits.datapointsPerStep;
  const rows = createBucketColumnRows(plan);
  const pieces = mapSteps(runsOf(columns), (run) =>
    isWholeIfShort ? Buffer.from(rows(run)).toString() : rows(run),
  );
  const headers = { 'x-skipped-count': String(skipped) };
  const more = { keptBytes, isWholeIfShort, headers };
  return answerOf(counted, jsonFormat, framed(pieces, jsonFormat), more);
}

/** So many buckets at a time. */
function runsOf(columns: BucketColumns): AsyncIterable<BucketRun> {
  let from = 0;
  return stepsOf(async () => {
    if (from === columns.count) return undefined;
    const to = Math.min(columns.count, from + limits.datapointsPerStep);
    const run = { columns, from, to };
    from = to;
    return run;
  });
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
  counts: Counted & { readonly skipped: number; readonly keptBytes: number },
  rows?: StepWriter<Item>,
): StreamAnswer {
  const { skipped, keptBytes, ...counted } = counts;
  const more = { headers: { 'x-skipped-count': String(skipped) }, keptBytes };
  const history = { ...counted, steps: inSteps(items) };
  return answerWith(history, { limit: items.length }, format, more, rows);
}

async function* inSteps<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let at = 0; at < items.length; at += limits.datapointsPerStep) {
    yield items.slice(at, at + limits.datapointsPerStep);
  }
}
