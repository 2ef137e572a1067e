import type { HistoryQuery } from '../../domain/datapoints/history.ts';
import { limits } from '../../domain/limits.ts';
import { csvHeader } from '../../wire/csv.ts';
import type { Spelling } from '../../wire/spelling.ts';
import { prefersCsv } from '../accept.ts';
import { csvType, jsonType, type StreamAnswer, stream, type TextAnswer, text } from '../answer.ts';

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

/** The answer to a read: written as a whole, or as a stream when the page is long. */
export async function answerWith<Item>(
  history: { readonly total: number; readonly steps: AsyncIterable<readonly Item[]> },
  page: Pick<HistoryQuery, 'limit'>,
  format: Format<Item>,
): Promise<TextAnswer | StreamAnswer> {
  const headers = { 'x-total-count': String(history.total) };
  const chunks = written(history.steps, format);
  if (page.limit > limits.datapointsPerStep) return stream(format.contentType, chunks, headers);
  let whole = '';
  for await (const chunk of chunks) whole += chunk;
  return text(format.contentType, whole, headers);
}

/** The text of the list, step by step. */
export async function* written<Item>(
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
