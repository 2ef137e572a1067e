import type { BucketColumns } from '../../domain/datapoints/aggregation.ts';
import type { BucketColumnsPage } from '../../domain/datapoints/bucket-page.ts';
import type { DatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import { limits } from '../../domain/limits.ts';
import type { Instant } from '../../lib/clock.ts';
import { joinedText, type LongText } from '../../lib/long-json.ts';
import { mapSteps, stepsOf } from '../../lib/steps.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import { csvHeader } from '../../wire/csv.ts';
import type { BucketRun, RowsWriter } from '../../wire/rows.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { prefersCsv } from '../accept.ts';
import { csvType, jsonType, type StreamAnswer } from '../answer.ts';

/** How a list is written, besides its items. */
export interface Frame {
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
export type StepWriter<Item> = (step: readonly Item[]) => Uint8Array | undefined;

export const jsonFormat: Frame = { contentType: jsonType, head: '[', between: ',', tail: ']' };

/** CSV with the ids in each line. */
export const csvFormat = (spelling: Spelling): Frame => ({
  ...{ contentType: csvType, head: csvHeader(spelling), between: '', tail: '' },
});

/** Whether a read is to be answered as CSV [contract 6]. */
export function wantsCsv(format: 'json' | 'csv' | undefined, accept: string | undefined): boolean {
  return format === 'csv' || (format === undefined && prefersCsv(accept));
}

/** How many there are and, where retention took some of the range, since when they are kept. */
export const headersOf = ({
  total,
  standsFrom,
}: {
  readonly total: number;
  readonly standsFrom?: Instant | undefined;
}): Readonly<Record<string, string>> => ({
  'x-total-count': String(total),
  ...standingHeader(standsFrom),
});

/** Since when datapoints are kept, where retention took some of the range. */
export const standingHeader = (
  standsFrom: Instant | undefined,
): Readonly<Record<string, string>> =>
  standsFrom === undefined ? {} : { 'x-summarised-before': formatTimestamp(standsFrom) };

/** The answer to a read: as a whole when it is short, as a stream when the page is long. */
export function answerWith<Item>(
  history: {
    readonly total: number;
    readonly standsFrom?: Instant | undefined;
    readonly steps: AsyncIterable<readonly Item[]>;
  },
  page: Pick<HistoryQuery, 'limit'>,
  format: Format<Item>,
  {
    rows,
    ...more
  }: Pick<StreamAnswer, 'keptBytes'> &
    Partial<Pick<StreamAnswer, 'headers'>> & { readonly rows?: StepWriter<Item> | undefined } = {},
): StreamAnswer {
  const headers = { ...headersOf(history), ...more.headers };
  const isWholeIfShort = page.limit <= limits.datapointsPerStep;
  const chunks = isWholeIfShort
    ? listText(history.steps, format)
    : listPieces(history.steps, format, rows);
  return {
    ...more,
    kind: 'stream',
    contentType: format.contentType,
    chunks,
    headers,
    isWholeIfShort,
  };
}

/** The same for a long page of one sensor, which is written from its columns. */
export function answerWithRows(
  history: {
    readonly total: number;
    readonly standsFrom?: Instant | undefined;
    readonly columns: AsyncIterable<DatapointColumns>;
  },
  frame: Frame,
  rows: RowsWriter,
): StreamAnswer {
  return {
    kind: 'stream',
    contentType: frame.contentType,
    chunks: listBytes(history.columns, frame, rows),
    headers: headersOf(history),
    isWholeIfShort: false,
  };
}

/** All buckets of one sensor: as a whole when they are few, as a stream when they are many. */
export function answerWithBuckets(
  page: Omit<BucketColumnsPage, 'skipped'> & { readonly standsFrom: Instant | undefined },
  rows: (run: BucketRun) => Uint8Array,
  headers: StreamAnswer['headers'],
): StreamAnswer {
  const { columns, keptBytes } = page;
  const isWholeIfShort = columns.count <= limits.datapointsPerStep;
  const toText = (bytes: Uint8Array) => (isWholeIfShort ? Buffer.from(bytes).toString() : bytes);
  return {
    ...{ kind: 'stream', contentType: jsonType, keptBytes, isWholeIfShort },
    headers: { ...headersOf(page), ...headers },
    chunks: framed(
      mapSteps(runsOf(columns), (run) => toText(rows(run))),
      jsonFormat,
    ),
  };
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

const listBytes = (
  steps: AsyncIterable<DatapointColumns>,
  frame: Frame,
  rows: RowsWriter,
): AsyncIterable<string | Uint8Array | LongText> => framed(mapSteps(steps, rows), frame);

/** The text of the list, step by step. */
export const listText = <Item>(
  steps: AsyncIterable<readonly Item[]>,
  format: Format<Item>,
): AsyncIterable<string | LongText> =>
  framed(
    mapSteps(steps, (step) => stepText(step, format)),
    format,
  );

/** The list step by step, as bytes where its format knows how. */
const listPieces = <Item>(
  steps: AsyncIterable<readonly Item[]>,
  format: Format<Item>,
  rows: StepWriter<Item> | undefined,
): AsyncIterable<string | Uint8Array | LongText> =>
  framed(
    mapSteps(steps, (step) => rows?.(step) ?? stepText(step, format)),
    format,
  );

/** The pieces of a list with what stands before, between and after them. */
function framed<Piece extends string | Uint8Array | LongText>(
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
