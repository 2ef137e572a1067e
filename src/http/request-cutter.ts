import { type BodyEnd, bodyOfLength, chunkedBody } from './request-body.ts';
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

  /** The next piece. `mayBegin` says whether a request with this head may begin now. */
  next(mayBegin: (head: RequestHead) => boolean): Piece | NoPiece {
    return this.#body === undefined
      ? this.#nextHead(mayBegin)
      : this.#cut(this.#body, undefined, 0);
  }

  #nextHead(mayBegin: (head: RequestHead) => boolean): Piece | NoPiece {
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
    if (!mayBegin(head)) return 'wait';
    this.#searched = 0;
    this.#skipped = 0;
    const { body, instead } = head;
    if (typeof body === 'number' && instead === undefined && end + body <= bytes.length) {
      return this.#split(end + body, head);
    }
    const bodyEnd = body === 'chunked' ? chunkedBody() : bodyOfLength(body);
    if (instead === undefined) return this.#cut(bodyEnd, head, end);
    this.#rest = Buffer.concat([instead, end < 0 ? nothing : bytes.subarray(end)]);
    return this.#cut(bodyEnd, head, instead.length);
  }

  /** Cuts off the head, of so many bytes, and what there is of the body. */
  #cut(body: BodyEnd, head: RequestHead | undefined, headLength: number): Piece | NoPiece {
    const bytes = this.#rest;
    const taken = body.take(bytes.subarray(headLength));
    if (taken < 0) return 'broken';
    this.#body = body.isOver ? undefined : body;
    return this.#split(headLength + taken, head);
  }

  #split(length: number, head: RequestHead | undefined): Piece {
    const bytes = this.#rest;
    const isAll = length === bytes.length;
    this.#rest = isAll ? nothing : bytes.subarray(length);
    return { bytes: isAll ? bytes : bytes.subarray(0, length), head };
  }
}
