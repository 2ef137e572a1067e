import type { DatapointColumns } from '../../domain/datapoints/datapoint-columns.ts';
import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import { limits } from '../../domain/limits.ts';
import { csvHeader } from '../../wire/csv.ts';
import type { RowsWriter } from '../../wire/datapoint-rows.ts';
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
  readonly item: (item: Item) => string;
}

export const jsonFormat: Frame = { contentType: jsonType, head: '[', between: ',', tail: ']' };

/** CSV with the ids in each line. */
export const csvFormat = (spelling: Spelling): Frame => ({
  ...{ contentType: csvType, head: csvHeader(spelling), between: '', tail: '' },
});

/** Whether a read is to be answered as CSV [contract 6]. */
export function wantsCsv(format: 'json' | 'csv' | undefined, accept: string | undefined): boolean {
  return format === 'csv' || (format === undefined && prefersCsv(accept));
}

/** The answer to a read: as a whole when it is short, as a stream when the page is long. */
export function answerWith<Item>(
  history: { readonly total: number; readonly steps: AsyncIterable<readonly Item[]> },
  page: Pick<HistoryQuery, 'limit'>,
  format: Format<Item>,
  more: Pick<StreamAnswer, 'keptBytes'> & Partial<Pick<StreamAnswer, 'headers'>> = {},
): StreamAnswer {
  const headers = { 'x-total-count': String(history.total), ...more.headers };
  const chunks = listText(history.steps, format);
  const isWholeIfShort = page.limit <= limits.datapointsPerStep;
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
  history: { readonly total: number; readonly columns: AsyncIterable<DatapointColumns> },
  frame: Frame,
  rows: RowsWriter,
): StreamAnswer {
  return {
    kind: 'stream',
    contentType: frame.contentType,
    chunks: listBytes(history.columns, frame, rows),
    headers: { 'x-total-count': String(history.total) },
    isWholeIfShort: false,
  };
}

async function* listBytes(
  steps: AsyncIterable<DatapointColumns>,
  frame: Frame,
  rows: RowsWriter,
): AsyncGenerator<string | Uint8Array> {
  let separator = frame.head;
  for await (const step of steps) {
    if (separator !== '') yield separator;
    yield rows(step);
    separator = frame.between;
  }
  yield separator === frame.head ? frame.head + frame.tail : frame.tail;
}

/** The text of the list, step by step. */
export async function* listText<Item>(
  steps: AsyncIterable<readonly Item[]>,
  format: Format<Item>,
): AsyncGenerator<string> {
  let separator = format.head;
  for await (const step of steps) {
    yield separator + step.map(format.item).join(format.between);
    separator = format.between;
  }
  yield separator === format.head ? format.head + format.tail : format.tail;
}
