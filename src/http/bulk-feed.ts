import { type BulkRow, BulkStep } from '../domain/datapoints/bulk-step.ts';
import type { BulkIngest } from '../domain/datapoints/ingest-many.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { withoutPadding } from '../lib/bare-value.ts';
import { withoutStackTraces } from '../lib/stackless.ts';
import { isPaddingByte, markBytes } from '../wire/bare-value.ts';
import { createBulkByteReader, readBulkLine } from '../wire/bulk.ts';
import type { Spelling } from '../wire/spelling.ts';
import { type BodyElement, type BodySplitter, textOfElement } from './body-elements.ts';
import type { StreamBody } from './body-reader.ts';

/** Lines between two readings of the clock: empty or broken ones cost little, but can be many. */
const linesPerLook = 32;

/**
 * Hands the elements of a body over in steps; the sender waits while two steps are under way. Other
 * work runs between slices of lines.
 */
export async function feedBulk(options: {
  readonly pieces: StreamBody['pieces'];
  readonly splitter: BodySplitter;
  /** Puts what an element holds into the step, if anything; its number counts from 1. */
  readonly read: (element: BodyElement, line: number, step: BulkStep) => void;
  readonly handOver: (step: BulkStep) => ReturnType<BulkIngest['add']>;
  readonly work: BulkIngest['work'];
}): Promise<void> {
  const { pieces, splitter, read, work } = options;
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
  // In slices, since one piece may hold a step of lines and more.
  const take = async (elements: readonly BodyElement[]): Promise<void> => {
    for (const element of elements) {
      line += 1;
      read(element, line, step);
      if ('bytes' in element && element.feeds !== undefined) line += element.feeds;
      if (step.count >= limits.bulkLinesPerStep) await handOver();
      if (line % linesPerLook === 0 && work.pace.isOver()) await work.pace.rest();
    }
    if (bytes >= limits.bulkBytesPerStep) await handOver();
  };
  for await (const piece of withoutMark(pieces)) {
    const turn = work.arrive();
    if (turn !== undefined) await turn;
    bytes += piece.byteLength;
    await take(splitter.push(piece));
  }
  await take(splitter.end());
  await handOver();
}

/** The pieces without a byte order mark before them, wherever they are cut. */
async function* withoutMark(pieces: StreamBody['pieces']): AsyncGenerator<Uint8Array> {
  let start: Uint8Array | undefined = new Uint8Array(0);
  for await (const piece of pieces) {
    if (start === undefined) {
      yield piece;
      continue;
    }
    const bytes: Buffer = start.length === 0 ? asBuffer(piece) : Buffer.concat([start, piece]);
    const beginning = bytes.subarray(0, markBytes.length);
    const isMark = markBytes.subarray(0, beginning.length).equals(beginning);
    start = isMark && beginning.length < markBytes.length ? bytes : undefined;
    if (start === undefined) yield isMark ? bytes.subarray(markBytes.length) : bytes;
  }
  if (start !== undefined) yield start;
}

const asBuffer = (piece: Uint8Array): Buffer =>
  Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);

/** Steps of a bulk request: usual elements from their bytes, as `readBulkLine` reads the rest. */
export function createBulkElementReader(
  spelling: Spelling,
): (element: BodyElement, line: number, step: BulkStep) => void {
  const readBytes = createBulkByteReader(spelling);
  return (element, line, step) => {
    if ('bytes' in element && readBytes(element.bytes, element.start, element.end, line, step)) {
      return;
    }
    // Thousands may be refused: each costs what it is to say why, and no more.
    step.put(withoutStackTraces(() => readElement(element, line, spelling)));
  };
}

function readElement(element: BodyElement, line: number, spelling: Spelling): BulkRow {
  const text = textOfElement(element);
  return typeof text === 'string'
    ? readBulkLine(withoutPadding(text), line, spelling)
    : { line, refusal: refusalOf(text.problem) };
}

const refusalOf = (problem: 'too large' | 'not UTF-8'): DomainError =>
  problem === 'too large'
    ? new DomainError('too_large', `a line may have ${limits.bulkLineBytesMax} bytes`)
    : invalid('the line is not valid UTF-8');

/** Whether a line is empty but for NULs and white space. */
export function isEmptyLine(element: BodyElement): boolean {
  if (!('bytes' in element)) return false;
  const { bytes, start, end } = element;
  let at = start;
  while (at < end && isPaddingByte(bytes[at])) at += 1;
  return at === end;
}
