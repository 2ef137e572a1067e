import { JsonError } from './json.ts';

/** Whole elements of a JSON array, without its brackets, as positions in bytes. */
export interface ArraySlice {
  readonly from: number;
  readonly to: number;
  readonly isLast: boolean;
}

const tab = 9;
const newline = 10;
const carriageReturn = 13;
const space = 32;
const quote = 34;
const comma = 44;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

/** Finds where elements of an array end, by brackets and quotes alone, piece by piece. */
export class ElementScanner {
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  /** The position of the comma or bracket that ends the element, or the end of the piece. */
  endOf(bytes: Uint8Array, start: number, pieceEnd: number): number {
    // As local variables: this runs for every byte.
    let [level, inText, escaped] = [this.#depth, this.#isText, this.#isEscaped];
    let at = start;
    for (; at < pieceEnd; at += 1) {
      const code = bytes[at];
      if (inText) {
        if (escaped) escaped = false;
        else if (code === backslash) escaped = true;
        else if (code === quote) inText = false;
      } else if (code === quote) {
        inText = true;
      } else if (code === openBracket || code === openBrace) {
        level += 1;
      } else if (code === closeBracket || code === closeBrace) {
        if (level === 0) break;
        level -= 1;
      } else if (code === comma && level === 0) {
        break;
      }
    }
    [this.#depth, this.#isText, this.#isEscaped] = [level, inText, escaped];
    return at;
  }
}

/** How many bytes are scanned between two answers. */
const bytesPerStep = 65_536;

/**
 * Cuts the JSON array whose first element begins at `start` into slices of at least `sliceBytes`:
 * each slice is for a JSON reader to judge. Answers undefined now and then while it searches for an
 * end, so that other work may run. Throws JsonError, with a position in bytes, when the array does
 * not end or something follows it.
 */
export function* sliceJsonArray(
  bytes: Buffer,
  start: number,
  sliceBytes: number,
): Generator<ArraySlice | undefined, void> {
  const scanner = new ElementScanner();
  let from = start;
  let [at, pieceEnd] = [start, start];
  while (at < bytes.length) {
    if (at >= pieceEnd) {
      pieceEnd = Math.min(bytes.length, at + bytesPerStep);
      yield undefined;
    }
    const end = scanner.endOf(bytes, at, pieceEnd);
    at = end === pieceEnd ? end : end + 1;
    if (end === pieceEnd || (bytes[end] === comma && end - from < sliceBytes)) continue;
    const isLast = bytes[end] !== comma;
    if (isLast && bytes[end] !== closeBracket) throw unexpected(bytes, end);
    yield { from, to: end, isLast };
    from = at;
    if (!isLast) continue;
    const next = skipWhiteSpace(bytes, at);
    if (next < bytes.length) throw unexpected(bytes, next);
    return;
  }
  throw new JsonError('unexpected end', bytes.length);
}

/** The position of the first byte from `at` on that is no JSON white space, or the length. */
export function skipWhiteSpace(bytes: Buffer, at: number): number {
  let position = at;
  for (; position < bytes.length; position += 1) {
    const code = bytes[position];
    const isSpace = code === space || code === newline || code === carriageReturn || code === tab;
    if (!isSpace) break;
  }
  return position;
}

function unexpected(bytes: Buffer, at: number): JsonError {
  return new JsonError(`unexpected ${JSON.stringify(String.fromCharCode(bytes[at] ?? 0))}`, at);
}
