import { isUtf8 } from 'node:buffer';
import { gatherBytes } from '../lib/gathered-bytes.ts';

/** A part of a body: its text, or why it has none. */
export type BodyElement = string | { readonly problem: 'too large' | 'not UTF-8' };

/** Cuts a body that arrives in pieces into its elements; keeps one unfinished element at most. */
export interface BodySplitter {
  /** Whether an empty element is nothing at all: a line may be empty, an element may not. */
  readonly passesEmpty: boolean;
  /** The elements that end in this piece, in order. */
  push(piece: Uint8Array): readonly BodyElement[];
  /** What is left at the end of the body. Throws BrokenBodyError when it ends too early. */
  end(): readonly BodyElement[];
}

/** The body as a whole is not what it should be; nothing after this spot can be read. */
export class BrokenBodyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'BrokenBodyError';
  }
}

const newline = 10;
const tooLarge: BodyElement = { problem: 'too large' };
const notUtf8: BodyElement = { problem: 'not UTF-8' };

/** Splits newline-delimited text; empty lines are elements too, so that lines can be counted. */
export function createLineSplitter(elementBytesMax: number): BodySplitter {
  const rest = createRest(elementBytesMax);
  return {
    passesEmpty: true,
    push(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const last = bytes.lastIndexOf(newline);
      if (last < 0) {
        rest.add(bytes);
        return [];
      }
      const first = bytes.indexOf(newline);
      rest.add(bytes.subarray(0, first));
      const elements = [rest.take()];
      if (last > first) {
        for (const line of linesOf(bytes.subarray(first + 1, last))) elements.push(line);
      }
      rest.add(bytes.subarray(last + 1));
      return elements;
    },
    end: () => (rest.isEmpty() ? [] : [rest.take()]),
  };

  function linesOf(bytes: Buffer): readonly BodyElement[] {
    if (isUtf8(bytes) && bytes.length <= elementBytesMax) return bytes.toString().split('\n');
    const lines: BodyElement[] = [];
    for (let start = 0; start <= bytes.length; ) {
      const found = bytes.indexOf(newline, start);
      const end = found < 0 ? bytes.length : found;
      lines.push(elementOf(bytes.subarray(start, end), elementBytesMax));
      start = end + 1;
    }
    return lines;
  }
}

const quote = 34;
const comma = 44;
const openBracket = 91;
const backslash = 92;
const closeBracket = 93;
const openBrace = 123;
const closeBrace = 125;

type ArrayPosition = 'before' | 'inside' | 'after';

/** Splits a JSON array into its elements, by brackets and quotes alone. */
export function createArraySplitter(elementBytesMax: number): BodySplitter {
  const rest = createRest(elementBytesMax);
  let place: ArrayPosition = 'before';
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let hasElements = false;

  /** Where the array begins, or the length of the bytes. */
  function skipToArray(bytes: Buffer): number {
    for (let at = 0; at < bytes.length; at += 1) {
      const code = bytes[at] ?? 0;
      if (code === openBracket) {
        place = 'inside';
        return at + 1;
      }
      if (!isWhiteSpace(code)) {
        throw new BrokenBodyError('the body must be a JSON array: it must begin with [');
      }
    }
    return bytes.length;
  }

  /** The position of the comma or bracket that ends the element, or the length of the bytes. */
  function endOfElement(bytes: Buffer, start: number): number {
    for (let at = start; at < bytes.length; at += 1) {
      const code = bytes[at];
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (code === backslash) isEscaped = true;
        else if (code === quote) isText = false;
      } else if (code === quote) {
        isText = true;
      } else if (code === openBracket || code === openBrace) {
        depth += 1;
      } else if (code === closeBracket || code === closeBrace) {
        if (depth === 0) return at;
        depth -= 1;
      } else if (code === comma && depth === 0) {
        return at;
      }
    }
    return bytes.length;
  }

  return {
    passesEmpty: false,
    push(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const elements: BodyElement[] = [];
      let at = place === 'before' ? skipToArray(bytes) : 0;
      while (place === 'inside' && at < bytes.length) {
        const end = endOfElement(bytes, at);
        rest.add(bytes.subarray(at, end));
        at = end + 1;
        if (end === bytes.length) break;
        const isLast = bytes[end] !== comma;
        if (isLast) place = 'after';
        const element = rest.take();
        const isNothing = typeof element === 'string' && element.trim() === '';
        if (isLast && isNothing && !hasElements) break;
        hasElements = true;
        elements.push(element);
      }
      if (place === 'after' && bytes.subarray(at).some((code) => !isWhiteSpace(code))) {
        throw new BrokenBodyError('something follows the end of the JSON array');
      }
      return elements;
    },
    end() {
      if (place === 'after') return [];
      const what = place === 'before' ? 'is empty: send a JSON array' : 'ends inside of the array';
      throw new BrokenBodyError(`the body ${what}`);
    },
  };
}

const isWhiteSpace = (code: number): boolean =>
  code === 32 || code === 10 || code === 13 || code === 9;

/** The bytes of the element that has not ended yet; those beyond the limit are dropped. */
function createRest(bytesMax: number) {
  const gathered = gatherBytes();
  let size = 0;
  return {
    add(bytes: Buffer): void {
      if (bytes.length === 0) return;
      size += bytes.length;
      if (size <= bytesMax) gathered.add(bytes);
      else gathered.take();
    },
    take(): BodyElement {
      const bytes = gathered.take();
      const element = size > bytesMax ? tooLarge : elementOf(bytes, bytesMax);
      size = 0;
      return element;
    },
    isEmpty: () => size === 0,
  };
}

function elementOf(bytes: Buffer, bytesMax: number): BodyElement {
  if (bytes.length > bytesMax) return tooLarge;
  return isUtf8(bytes) ? bytes.toString() : notUtf8;
}
