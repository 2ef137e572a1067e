import { type BodySplitter, createElementRest } from '../body-elements.ts';

const newline = 10;
const space = 32;
const quote = 34;
const comma = 44;
const equals = 61;
const backslash = 92;
const noBytes = Buffer.alloc(0);

/**
 * Splits line protocol into its lines as InfluxDB 1.6 does [decision 0023]: a line feed in a quoted
 * text or behind a backslash ends none, so a text that is not closed takes all that follows along.
 */
export function createPointSplitter(elementBytesMax: number): BodySplitter {
  const rest = createElementRest(elementBytesMax);
  let line = newLine();

  /** The line feed that ends the line, or the length of the bytes. */
  function endOfLine(bytes: Buffer, start: number): number {
    // As a local variable: this runs for every byte.
    const state = line;
    let at = start;
    for (; at < bytes.length; at += 1) {
      const code = bytes[at];
      if (state.isEscaped) {
        state.isEscaped = false;
        if (code === newline) state.feeds += 1;
      } else if (code === backslash) state.isEscaped = true;
      else if (code === newline) {
        if (!state.isQuoted) break;
        state.feeds += 1;
      } else if (code === space) state.hasFields = true;
      else if (state.hasFields) {
        if (code === quote) state.isQuoted = state.values > 0 && !state.isQuoted;
        else if (code === equals && !state.isQuoted) state.values += 1;
        else if (code === comma && !state.isQuoted) state.values -= 1;
      }
    }
    return at;
  }

  return {
    passesEmpty: true,
    push(piece) {
      const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
      const elements = [];
      const plainEnd = plainLines(bytes);
      let start = 0;
      while (start < bytes.length) {
        const isNew = rest.isEmpty() && !line.isBegun;
        if (isNew && bytes[start] === newline) {
          const next = endOfFeeds(bytes, start);
          elements.push({ bytes, start, end: start, feeds: next - start - 1 });
          start = next;
          continue;
        }
        const plain = isNew ? plainEnd(start) : -1;
        line.isBegun = true;
        const end = plain < 0 ? endOfLine(bytes, start) : plain;
        if (end === bytes.length) break;
        const element = rest.end(bytes, start, end);
        elements.push(
          line.feeds > 0 && 'bytes' in element ? { ...element, feeds: line.feeds } : element,
        );
        line = newLine();
        start = end + 1;
      }
      rest.add(bytes.subarray(start));
      return elements;
    },
    end: () => (rest.isEmpty() ? [] : [rest.end(noBytes, 0, 0)]),
  };
}

const newLine = () => ({
  isBegun: false,
  isEscaped: false,
  isQuoted: false,
  hasFields: false,
  /** Equals signs less commas of the fields: above 0 a double quote begins or ends a text. */
  values: 0,
  feeds: 0,
});

/** Where the line feeds end: empty lines are one element, however many a bomb has of them. */
function endOfFeeds(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === newline) at += 1;
  return at;
}

/** Finds the end of a line that has neither quotes nor backslashes; below 0: it has, or no end. */
function plainLines(bytes: Buffer): (start: number) => number {
  const nextQuote = nextOf(bytes, quote);
  const nextBackslash = nextOf(bytes, backslash);
  return (start) => {
    const end = bytes.indexOf(newline, start);
    return end < nextQuote(start) && end < nextBackslash(start) ? end : -1;
  };
}

/** Where the next byte of this kind is, or the length of the bytes; asked for ever later starts. */
function nextOf(bytes: Buffer, code: number): (start: number) => number {
  let next = -1;
  return (start) => {
    if (next < start) {
      const found = bytes.indexOf(code, start);
      next = found < 0 ? bytes.length : found;
    }
    return next;
  };
}
