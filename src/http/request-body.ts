const lf = 0x0a;

/** Where the body of a request ends. */
export interface BodyEnd {
  /**
   * How many of the bytes are of the body, which is over when there are fewer than were given or
   * `isOver`; -1: they are no body.
   */
  take(bytes: Buffer): number;
  readonly isOver: boolean;
}

export function bodyOfLength(length: number): BodyEnd {
  let left = length;
  return {
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

/**
 * A body in chunks [RFC 9112 7.1], as strict as node:http reads it: lines end with CRLF, and the
 * size of a chunk is digits that an extension or the end of the line follow.
 */
export function chunkedBody(): BodyEnd {
  let state: 'size' | 'data' | 'after data' | 'trailer' | 'over' = 'size';
  let left = 0;
  let line = '';

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
    if (!line.endsWith('\r\n')) return -1;
    line = line.slice(0, -2);
    if (line.includes('\r') || !takeLine()) return -1;
    line = '';
    return end;
  }

  return {
    take(bytes) {
      let at = 0;
      while (at < bytes.length && state !== 'over') {
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
