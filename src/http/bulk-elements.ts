import type { BulkRow, BulkStep } from '../domain/datapoints/bulk-step.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { withoutPadding } from '../lib/bare-value.ts';
import { withoutStackTraces } from '../lib/stackless.ts';
import { isPaddingByte } from '../wire/bare-value.ts';
import { readBulkLine } from '../wire/bulk.ts';
import { createBulkByteReader } from '../wire/bulk-bytes.ts';
import type { Spelling } from '../wire/spelling.ts';
import { type BodyElement, textOfElement } from './body-elements.ts';

/**
 * Puts the elements of one bulk request into its steps: the usual shape from its bytes, all else by
 * `readBulkLine`, with equal results.
 */
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
