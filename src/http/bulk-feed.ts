import type { BulkIngest, BulkLine } from '../domain/datapoints/ingest-many.ts';
import { limits } from '../domain/limits.ts';
import type { BodyElement, BodySplitter } from './body-elements.ts';
import type { StreamBody } from './stream-body.ts';

/** Hands the elements of a body over in steps; the sender waits while two steps are under way. */
export async function feedBulk(options: {
  readonly pieces: StreamBody['pieces'];
  readonly splitter: BodySplitter;
  /** What an element holds; its number counts from 1. */
  readonly read: (element: BodyElement, line: number) => BulkLine | readonly BulkLine[] | undefined;
  readonly handOver: (step: readonly BulkLine[]) => ReturnType<BulkIngest['add']>;
}): Promise<void> {
  const { pieces, splitter, read } = options;
  let line = 0;
  let bytes = 0;
  let step: BulkLine[] = [];
  const handOver = (): ReturnType<BulkIngest['add']> => {
    const full = step;
    step = [];
    bytes = 0;
    return options.handOver(full);
  };
  // In turns, since one piece may hold a step of lines and more.
  const take = async (elements: readonly BodyElement[]): Promise<void> => {
    for (const element of elements) {
      line += 1;
      const found = read(element, line);
      // Most elements are one line, which needs no array.
      if (Array.isArray(found)) for (const one of found) step.push(one);
      else if (found !== undefined) step.push(found as BulkLine);
      if (step.length >= limits.bulkLinesPerStep) await handOver();
    }
    if (bytes >= limits.bulkBytesPerStep) await handOver();
  };
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    await take(splitter.push(piece));
  }
  await take(splitter.end());
  await handOver();
}
