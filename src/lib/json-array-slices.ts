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

/** How many bytes are scanned between two answers. */
const bytesPerStep = 65_536;

/**
 * Cuts the JSON array whose first element begins at `start` into slices of at least `sliceBytes`,
 * by brackets and quotes alone: each slice is for a JSON reader to judge. Answers undefined now and
 * then while it searches for an end, so that other work may run. Throws JsonError, with a position
 * in bytes, when the array does not end or something follows it.
 */
export function* sliceJsonArray(
  bytes: Buffer,
  start: number,
  sliceBytes: number,
): Generator<ArraySlice | undefined, void> {
  let from = start;
  let depth = 0;
  let isText = false;
  for (let at = start; at < bytes.length; at += 1) {
    if (at % bytesPerStep === 0) yield undefined;
    const code = bytes[at];
    if (isText) {
      if (code === backslash) at += 1;
      else if (code === quote) isText = false;
    } else if (code === quote) {
      isText = true;
    } else if (code === openBracket || code === openBrace) {
      depth += 1;
    } else if (code === closeBracket || code === closeBrace) {
      depth -= 1;
      if (depth >= 0) continue;
      if (code !== closeBracket) throw unexpected(bytes, at);
      yield { from, to: at, isLast: true };
      const next = skipWhiteSpace(bytes, at + 1);
      if (next < bytes.length) throw unexpected(bytes, next);
      return;
    } else if (code === comma && depth === 0 && at - from >= sliceBytes) {
      yield { from, to: at, isLast: false };
      from = at + 1;
    }
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
