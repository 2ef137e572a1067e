import type { Actor } from '../../domain/actor.ts';
import {
  type AggregationPlan,
  asksForNumbers,
  type BucketColumns,
} from '../../domain/datapoints/aggregation.ts';
import type { SensorBucket } from '../../domain/datapoints/bucket-page.ts';
import type { SensorRows } from '../../domain/datapoints/datapoint-columns.ts';
import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import type { SensorSelection } from '../../domain/datapoints/sensor-selection.ts';
import type { Summaries } from '../../domain/datapoints/summaries.ts';
import { limits } from '../../domain/limits.ts';
import type { Instant } from '../../lib/clock.ts';
import { createBreather } from '../../lib/event-loop.ts';
import { joinedText, type LongText } from '../../lib/long-json.ts';
import { mapSteps, stepsOf } from '../../lib/steps.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import { csvHeader, csvHeaderWithoutIds } from '../../wire/csv.ts';
import {
  type BucketRun,
  createBucketColumnRows,
  createBucketRows,
  createCsvRows,
  createJsonRows,
} from '../../wire/rows.ts';
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

/** A piece of an answer: as bytes where that is quicker. */
type Piece = string | Buffer | LongText;

/** How a list is written, a step at once. */
export interface Format<Step> extends Frame {
  readonly write: (step: Step) => Piece;
}

const jsonFrame: Frame = { contentType: jsonType, head: '[', between: ',', tail: ']' };
const csvFrame: Frame = { contentType: csvType, head: '', between: '', tail: '' };

/** How datapoints are written. */
export function rowsFormat(isCsv: boolean, spelling: Spelling): Format<readonly SensorRows[]> {
  if (!isCsv) return { ...jsonFrame, write: createJsonRows(spelling) };
  const head = spelling.hasIdsInCsv ? csvHeader(spelling) : csvHeaderWithoutIds;
  return { ...csvFrame, head, write: createCsvRows(spelling) };
}

/** How items are written one by one; of a step at once where `rows` knows how. */
const itemsFormat = <Item>(
  frame: Frame,
  write: (item: Item) => string | LongText,
  rows?: (items: readonly Item[]) => Buffer | undefined,
): Format<readonly Item[]> => ({
  ...frame,
  write(items) {
    const bytes = rows?.(items);
    if (bytes !== undefined) return bytes;
    const texts = items.map(write);
    const areShort = texts.every((text) => typeof text === 'string');
    if (areShort) return texts.join(frame.between);
    return joinedText(texts.flatMap((text, at) => (at === 0 ? text : [frame.between, text])));
  },
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
export const answerWith = <Step>(
  history: Counted & { readonly steps: AsyncIterable<Step> },
  page: Pick<HistoryQuery, 'limit'>,
  format: Format<Step>,
  more?: Partial<StreamAnswer>,
): StreamAnswer => {
  const isWholeIfShort = page.limit <= limits.datapointsPerStep;
  return {
    ...{ ...more, kind: 'stream', contentType: format.contentType, isWholeIfShort },
    chunks: listText(history.steps, format, isWholeIfShort),
    headers: { ...headersOf(history), ...more?.headers },
  };
};

/** The text of the list, step by step; `isWhole`: as text, which is answered as a whole. */
export const listText = <Step>(
  steps: AsyncIterable<Step>,
  format: Format<Step>,
  isWhole = false,
): StreamAnswer['chunks'] =>
  framed(
    mapSteps(steps, (step) => {
      const piece = format.write(step);
      return isWhole && piece instanceof Uint8Array ? piece.toString() : piece;
    }),
    format,
  );

/** The pieces of a list with what stands before, between and after them. */
function framed(pieces: AsyncIterable<Piece>, frame: Frame): AsyncIterable<Piece> {
  const source = pieces[Symbol.asyncIterator]();
  let separator: string | undefined = frame.head;
  let next: Piece | undefined;

  async function advance(): Promise<Piece | undefined> {
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
  readonly format: Format<readonly SensorRows[]>;
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

/** Range and lastN say what is aggregated; limit, offset and sort which buckets are answered. */
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
    const head = totalCsvHeader(plan);
    const format = isCsv
      ? itemsFormat({ ...csvFrame, head }, totalCsvRow)
      : itemsFormat(jsonFrame, writeOne);
    return listed(inSteps(buckets), buckets.length, format, counts);
  }
  const { buckets, ...counts } = await summaries.aggregate(actor, selection, page, plan);
  const writeJson = isOfOneSensor
    ? ({ bucket }: SensorBucket) => writeOne(bucket)
    : createSensorBucketWriter(plan, spelling);
  const isLong = buckets.length > limits.datapointsPerStep;
  const rows = isLong ? createBucketRows(plan, isOfOneSensor, spelling) : undefined;
  const format = isCsv
    ? itemsFormat({ ...csvFrame, head: bucketCsvHeader(plan, spelling) }, bucketCsvRow)
    : itemsFormat(jsonFrame, writeJson, rows);
  return listed(inSteps(buckets), buckets.length, format, counts);
}

async function answerColumns(
  summaries: Summaries,
  { actor, selection, query }: SummaryRequest,
  plan: AggregationPlan,
): Promise<StreamAnswer> {
  const { columns, ...counts } = await summaries.aggregateOne(actor, selection, query, plan);
  const format = { ...jsonFrame, write: createBucketColumnRows(plan) };
  return listed(runsOf(columns), columns.count, format, counts);
}

/** So many buckets at a time. */
function* runsOf(columns: BucketColumns): Generator<BucketRun> {
  for (let from = 0; from < columns.count; from += limits.datapointsPerStep) {
    yield { columns, from, to: Math.min(columns.count, from + limits.datapointsPerStep) };
  }
}

async function answerDownsampled(
  summaries: Summaries,
  request: SummaryRequest,
  points: number,
): Promise<StreamAnswer> {
  const { actor, selection, query, limit, format } = request;
  const isLimited = query.lastN !== undefined || limit !== undefined;
  const page = isLimited ? query : { ...query, limit: Number.POSITIVE_INFINITY };
  const { steps, count, ...counts } = await summaries.downsample(actor, selection, page, points);
  return listed(steps.values(), count, format, counts);
}

/** Written as a whole, or as a stream when the list is long. */
function listed<Step>(
  steps: Iterable<Step>,
  limit: number,
  format: Format<Step>,
  counts: Counted & { readonly skipped: number; readonly keptBytes: number },
): StreamAnswer {
  const { skipped, keptBytes, ...counted } = counts;
  const more = { headers: { 'x-skipped-count': String(skipped) }, keptBytes };
  const left = steps[Symbol.iterator]();
  const breathe = createBreather();
  const next = async (): Promise<Step | undefined> => {
    await breathe();
    return left.next().value;
  };
  return answerWith({ ...counted, steps: stepsOf(next) }, { limit }, format, more);
}

/** Items that are written at once: each takes some microseconds. */
const itemsPerStep = 1_000;

function* inSteps<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += itemsPerStep) yield items.slice(at, at + itemsPerStep);
}
