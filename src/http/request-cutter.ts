import {
  HeadReader,
  headEnd,
  headStart,
  isBareLine,
  mayBeRequest,
  type RequestHead,
  readBareRequest,
  readLoneLine,
} from './request-head.ts';
import { requestLimits } from './request-limits.ts';

/** Bytes of one request and of no other, from its first one on if it has a head. */
export interface Piece {
  readonly bytes: Buffer;
  readonly head: RequestHead | undefined;
}

/** Why nothing is cut off: more is to come, it may not begin, or it is no request. */
export type NoPiece = 'more' | 'wait' | 'broken' | 'too large';
const nothing = Buffer.alloc(0);
const isLoneCr = (bytes: Buffer): boolean => bytes.length === 1 && bytes[0] === 0x0d;

/** Cuts the bytes of a connection into those of one request after the other. */
export class RequestCutter {
  readonly #heads = new HeadReader();
  #rest: Buffer = nothing;
  /** Up to here no end of a head was found in them. */
  #searched = 0;
  /** Bytes of empty lines before the next head. */
  #skipped = 0;
  #body: BodyEnd | undefined;
  /** Of the head that was cut off last. */
  headBytes = 0;

  /** Bytes that have arrived and were not cut off. */
  get rest(): Buffer {
    return this.#rest;
  }

  /** Whether a head has begun that is not whole, or may not begin. */
  get isInHead(): boolean {
    return this.#rest.length > 0 && this.#body === undefined;
  }

  /** Whether nothing more of the request is to come that was cut off last. */
  get isBetween(): boolean {
    return this.#body === undefined;
  }

  add(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
  }

  drop(): void {
    this.#rest = nothing;
  }

  /** Reads a request line of a sketch as a request, if it is all there is; answers whether. */
  completeLine(): boolean {
    const whole = this.isInHead ? readLoneLine(this.#rest) : undefined;
    if (whole === undefined) return false;
    this.#rest = whole;
    this.#searched = 0;
    return true;
  }

  /** The next piece; the functions say whether a request may begin, or go on, now. */
  next(mayBegin: () => boolean, mayGoOn: () => boolean): Piece | NoPiece {
    if (this.#body === undefined) return this.#nextHead(mayBegin);
    const isLong = this.#body.isChunked && this.#rest.length >= requestLimits.chunkedBytesMin;
    return isLong && !mayGoOn() ? 'wait' : this.#cut(this.#body, undefined, 0);
  }

  #nextHead(mayBegin: () => boolean): Piece | NoPiece {
    const start = headStart(this.#rest);
    if (start > 0) this.#rest = this.#rest.subarray(start);
    this.#skipped += start;
    if (this.#skipped > requestLimits.emptyLineBytesMax) return 'broken';
    const bytes = this.#rest;
    // Empty lines may come alone, and in pieces.
    if (bytes.length === 0 || isLoneCr(bytes)) return 'more';
    const end = headEnd(bytes, this.#searched);
    if (end < 0 && !isBareLine(bytes)) {
      if (!mayBeRequest(bytes)) return 'broken';
      this.#searched = Math.max(0, bytes.length - 2);
      return bytes.length > requestLimits.headBytesMax ? 'too large' : 'more';
    }
    const head = end < 0 ? readBareRequest(bytes.toString('latin1')) : this.#heads.read(bytes, end);
    if (head === undefined) return 'broken';
    if (head.fields > requestLimits.headFieldsMax) return 'too large';
    if (!mayBegin()) return 'wait';
    this.#searched = 0;
    this.#skipped = 0;
    const { body, instead } = head;
    if (typeof body === 'number' && instead === undefined && end + body <= bytes.length) {
      return this.#split(end + body, head);
    }
    const bodyEnd = body === 'chunked' ? chunkedBody() : bodyOfLength(body);
    if (instead === undefined) return this.#cut(bodyEnd, head, end);
    this.#rest = Buffer.concat([instead, end < 0 ? nothing : bytes.subarray(end)]);
    // What is known of a head is kept with its connection, its bytes are not.
    return this.#cut(bodyEnd, { ...head, instead: undefined }, instead.length);
  }

  /** Cuts off the head, of so many bytes, and what there is of the body. */
  #cut(body: BodyEnd, head: RequestHead | undefined, headLength: number): Piece | NoPiece {
    const bytes = this.#rest;
    const taken = body.take(bytes.subarray(headLength));
    if (taken < 0) return 'broken';
    this.#body = body.isOver ? undefined : body;
    if (head !== undefined) this.headBytes = headLength;
    return this.#split(headLength + taken, head);
  }

  #split(length: number, head: RequestHead | undefined): Piece {
    const bytes = this.#rest;
    const isAll = length === bytes.length;
    this.#rest = isAll ? nothing : bytes.subarray(length);
    return { bytes: isAll ? bytes : bytes.subarray(0, length), head };
  }
}

const lf = 0x0a;

/** Where the body of a request ends. */
interface BodyEnd {
  /** How many of the bytes are of the body, or of its next piece; -1: they are no body. */
  take(bytes: Buffer): number;
  readonly isOver: boolean;
  /** Whether the body comes in chunks, each of which node:http hands on as a piece of its own. */
  readonly isChunked: boolean;
}

function bodyOfLength(length: number): BodyEnd {
  let left = length;
  return {
    isChunked: false,
    take(bytes) {
      const taken = Math.min(left, bytes.length);
      left -= taken;
      return taken;
    },
    get isOver() {
      return left === 0;
    },
  };
}

/** The longest line between chunks, as extensions and trailers are never used here. */
const lineBytesMax = 4_096;
/** Lines between chunks that are read at once. */
const linesPerPiece = 1_024;

/**
 * A body in chunks [RFC 9112 7.1], as strict as node:http reads it: lines end with CRLF, and the
 * size of a chunk is digits that an extension or the end of the line follow.
 */
function chunkedBody(): BodyEnd {
  let state: 'size' | 'data' | 'after data' | 'trailer' | 'over' = 'size';
  let left = 0;
  let line = '';
  let lines = 0;

  /** Takes a whole line without its end; false: it is none. */
  function takeLine(): boolean {
    if (state === 'after data') {
      state = 'size';
      return line === '';
    }
    if (state === 'trailer') {
      if (line === '') state = 'over';
      return true;
    }
    const [, digits] = /^([\da-f]{1,13})(?:;.*)?$/i.exec(line) ?? [];
    if (digits === undefined) return false;
    left = Number.parseInt(digits, 16);
    state = left === 0 ? 'trailer' : 'data';
    return true;
  }

  /** Reads a piece of a line up to its end; answers where it goes on, or -1. */
  function readLine(bytes: Buffer, at: number): number {
    const found = bytes.indexOf(lf, at);
    const end = found < 0 ? bytes.length : found + 1;
    line += bytes.toString('latin1', at, end);
    if (line.length > lineBytesMax) return -1;
    if (found < 0) return end;
    lines += 1;
    if (!line.endsWith('\r\n')) return -1;
    line = line.slice(0, -2);
    if (line.includes('\r') || !takeLine()) return -1;
    line = '';
    return end;
  }

  return {
    isChunked: true,
    take(bytes) {
      let at = 0;
      for (lines = 0; at < bytes.length && lines < linesPerPiece && state !== 'over'; ) {
        if (state !== 'data') {
          at = readLine(bytes, at);
          if (at < 0) return -1;
          continue;
        }
        const taken = Math.min(left, bytes.length - at);
        left -= taken;
        at += taken;
        if (left === 0) state = 'after data';
      }
      return at;
    },
    get isOver() {
      return state === 'over';
    },
  };
}
