import { isUtf8 } from 'node:buffer';
import { gatherBytes } from '../lib/gathered-bytes.ts';
import { ElementScanner, skipWhiteSpace } from '../lib/json-array-slices.ts';
import { isPaddingByte } from '../wire/bare-value.ts';

/** A part of a body: its bytes from `start` to `end`, or why it has none. */
export type BodyElement =
  | {
      readonly bytes: Buffer;
      readonly start: number;
      readonly end: number;
      /** Line feeds inside of it, where it may have some. */
      readonly feeds?: number;
    }
  | { readonly problem: 'too large' };

/** Cuts a body that arrives in pieces into its elements; keeps one unfinished element at most. */
export interface BodySplitter {
  /** Whether an empty element is nothing at all: a line may be empty, an element may not. */
  readonly passesEmpty: boolean;
  /** The elements that end in this piece, in order. */
  push(piece: Uint8Array): readonly BodyElement[];
  /** The elements left at the end of the body. Throws BrokenBodyError when it ends too early. */
  end(): readonly BodyElement[];
}

/** The text of an element, or why it has none. */
export type ElementText = string | { readonly problem: 'too large' | 'not UTF-8' };
const notUtf8: ElementText = { problem: 'not UTF-8' };

export function textOfElement(element: BodyElement): ElementText {
  if ('problem' in element) return element;
  const { bytes, start, end } = element;
  return isUtf8(bytes.subarray(start, end)) ? bytes.toString('utf8', start, end) : notUtf8;
}

/** The body as a whole is not what it should be; nothing after this spot can be read. */
export class BrokenBodyError extends Error {
  override readonly name = 'BrokenBodyError';
}

const newline = 10;
const noBytes = Buffer.alloc(0);
const tooLarge: BodyElement = { problem: 'too large' };
const emptyLine: BodyElement = { bytes: noBytes, start: 0, end: 0 };

const nextNewline = (bytes: Buffer, start: number): number =>
  bytes[start] === newline ? start : bytes.indexOf(newline, start);

/** Splits newline-delimited text; empty lines are elements too, so that lines can be counted. */
export function createLineSplitter(elementBytesMax: number): BodySplitter {
  const rest = createElementRest(elementBytesMax);
  return {
    passesEmpty: true,
    push(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const elements: BodyElement[] = [];
      let start = 0;
      for (let at = bytes.indexOf(newline); at >= 0; at = nextNewline(bytes, start)) {
        // Of millions of empty lines each is the same one.
        const isEmpty = at === start && start > 0;
        elements.push(isEmpty ? emptyLine : rest.end(bytes, start, at));
        start = at + 1;
      }
      rest.add(bytes.subarray(start));
      return elements;
    },
    end: () => (rest.isEmpty() ? [] : [rest.end(noBytes, 0, 0)]),
  };
}

const comma = 44;
const openBracket = 91;

/** Splits a JSON array into its elements, by brackets and quotes alone. */
export function createArraySplitter(elementBytesMax: number): BodySplitter {
  const rest = createElementRest(elementBytesMax);
  let place: 'before' | 'inside' | 'after' = 'before';
  const scanner = new ElementScanner();
  let hasElements = false;

  /** Where the array begins, or the length of the bytes. */
  function skipToArray(bytes: Buffer): number {
    const at = skipWhiteSpace(bytes, 0);
    if (at === bytes.length) return at;
    if (bytes[at] !== openBracket) {
      throw new BrokenBodyError('the body must be a JSON array: it must begin with [');
    }
    place = 'inside';
    return at + 1;
  }

  return {
    passesEmpty: false,
    push(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const elements: BodyElement[] = [];
      let at = place === 'before' ? skipToArray(bytes) : 0;
      while (place === 'inside' && at < bytes.length) {
        const end = scanner.endOf(bytes, at, bytes.length);
        if (end === bytes.length) {
          rest.add(bytes.subarray(at));
          break;
        }
        const element = rest.end(bytes, at, end);
        at = end + 1;
        const isLast = bytes[end] !== comma;
        if (isLast) place = 'after';
        if (isLast && !hasElements && isBlank(element)) break;
        hasElements = true;
        elements.push(element);
      }
      if (place === 'after' && !bytes.subarray(at).every(isPaddingByte)) {
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

function isBlank(element: BodyElement): boolean {
  const text = textOfElement(element);
  return typeof text === 'string' && text.trim() === '';
}

/** The bytes of the element that has not ended yet; those beyond the limit are dropped. */
export function createElementRest(bytesMax: number) {
  const gathered = gatherBytes();
  let size = 0;

  function add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    size += bytes.length;
    if (size <= bytesMax) gathered.add(bytes);
    else gathered.take();
  }
  return {
    add,
    /** The element that ends with these bytes. */
    end(bytes: Buffer, start: number, end: number): BodyElement {
      // Most begin and end in one piece.
      if (size === 0) return end - start > bytesMax ? tooLarge : { bytes, start, end };
      add(bytes.subarray(start, end));
      const whole = gathered.take();
      const isTooLarge = size > bytesMax;
      size = 0;
      return isTooLarge ? tooLarge : { bytes: whole, start: 0, end: whole.length };
    },
    isEmpty: () => size === 0,
  };
}
