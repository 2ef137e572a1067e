import { BulkStep } from '../domain/datapoints/bulk-step.ts';
import type { BulkIngest } from '../domain/datapoints/ingest-many.ts';
import { limits } from '../domain/limits.ts';
import type { BodyElement, BodySplitter } from './body-elements.ts';
import type { StreamBody } from './stream-body.ts';

/** Hands the elements of a body over in steps; the sender waits while two steps are under way. */
export async function feedBulk(options: {
  readonly pieces: StreamBody['pieces'];
  readonly splitter: BodySplitter;
  /** Puts what an element holds into the step, if anything; its number counts from 1. */
  readonly read: (element: BodyElement, line: number, step: BulkStep) => void;
  readonly handOver: (step: BulkStep) => ReturnType<BulkIngest['add']>;
}): Promise<void> {
  const { pieces, splitter, read } = options;
  let line = 0;
  let bytes = 0;
  let step = new BulkStep();
  const handOver = (): ReturnType<BulkIngest['add']> => {
    const full = step;
    full.end();
    step = new BulkStep();
    bytes = 0;
    return options.handOver(full);
  };
  // In turns, since one piece may hold a step of lines and more.
  const take = async (elements: readonly BodyElement[]): Promise<void> => {
    for (const element of elements) {
      line += 1;
      read(element, line, step);
      if (step.count >= limits.bulkLinesPerStep) await handOver();
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
