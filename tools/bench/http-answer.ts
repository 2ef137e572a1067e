import { benchLimits } from './bench-limits.ts';

/** How long the answer at the start of some bytes is, and its status. */
export interface MeasuredAnswer {
  readonly status: number;
  readonly length: number;
}

const endOfHead = '\r\n\r\n';

/**
 * Measures the HTTP/1.1 answer at the start of `bytes`; undefined while its end has not come.
 * Reads what a benchmark needs: a status and a Content-Length. Throws for anything else.
 */
export function measureAnswer(bytes: Buffer): MeasuredAnswer | undefined {
  const end = bytes.indexOf(endOfHead, 0, 'latin1');
  if (end === -1) {
    requireShort(bytes.length);
    return undefined;
  }
  const status = Number(bytes.toString('latin1', 9, 12));
  if (!(status >= 100 && status < 600)) throw new Error('the answer is no HTTP/1.1');
  const headLength = end + endOfHead.length;
  const length = headLength + (status === 204 ? 0 : bodyLengthOf(bytes.toString('latin1', 0, end)));
  requireShort(length);
  return bytes.length < length ? undefined : { status, length };
}

function bodyLengthOf(head: string): number {
  const [, digits] = /\r\ncontent-length:\s*(\d+)/i.exec(head) ?? [];
  if (digits === undefined) throw new Error('the answer has no Content-Length');
  return Number(digits);
}

function requireShort(length: number): void {
  if (length <= benchLimits.answerBytesMax) return;
  throw new Error(`the answer is longer than ${benchLimits.answerBytesMax} bytes`);
}
