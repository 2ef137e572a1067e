/** A cell; whether it was quoted distinguishes "25" from 25. */
export interface CsvCell {
  readonly text: string;
  readonly isQuoted: boolean;
}

export interface CsvRecord {
  /** Where it begins, from 1; a quoted cell may go over several lines. */
  readonly line: number;
  readonly cells: readonly CsvCell[];
}

/** The separator of cells. */
export type CsvDelimiter = ',' | ';' | '\t' | '|';

/** Text that is no CSV from here on. */
export class CsvError extends Error {
  readonly line: number;
  readonly problem: string;

  constructor(problem: string, line: number) {
    super(`line ${line}: ${problem}`);
    this.name = 'CsvError';
    this.line = line;
    this.problem = problem;
  }
}

/** Limits of a CSV that is read. */
export const csvLimits = {
  /** Of a record: spreadsheets have as many columns. */
  csvRecordCellsMax: 16_384,
  /** Of a push: what is longer is read piece by piece. A row may have two bytes. */
  csvSliceBytes: 8_192,
} as const;

interface Found {
  readonly cells: readonly CsvCell[];
  /** After the line end. */
  readonly end: number;
}

/**
 * A reader by RFC 4180, as tolerant as spreadsheets: lines may end in CRLF, LF or CR, rows of empty
 * cells are passed over, a byte order mark too. A line `sep=;`, else the first record says what
 * separates cells: commas, semicolons or tabs. A record has up to 16,384 cells.
 */
export function createCsvReader(options: { readonly recordCharactersMax: number }) {
  const { recordCharactersMax } = options;
  let delimiter: CsvDelimiter | undefined;
  let rest = '';
  /** A little text that came since: the rest is copied each time something is added to it. */
  let waiting = '';
  let line = 1;
  let isStart = true;
  const findDelimiter = createDelimiterFinder();
  /** The record that has begun: what arrives behind it is read once, however long it gets. */
  let begun: Begun | undefined;

  function read(isEnd: boolean): readonly CsvRecord[] {
    const records: CsvRecord[] = [];
    let at = 0;
    rest += waiting;
    waiting = '';
    while (at < rest.length) {
      if (delimiter === undefined) {
        const said = separatorLine(rest, isEnd);
        if (said === undefined) break;
        delimiter = said.delimiter ?? findDelimiter(rest, isEnd);
        if (delimiter === undefined) break;
        at = said.end;
        line += lineEnds(rest, 0, at);
        continue;
      }
      begun ??= { cells: [], at, seen: at };
      const found = recordAt({ text: rest, delimiter, isEnd, line }, begun);
      if (found === undefined) {
        begun.seen -= at;
        begun.at -= at;
        break;
      }
      begun = undefined;
      if (!found.cells.every(isBlank)) records.push({ line, cells: found.cells });
      line += lineEnds(rest, at, found.end);
      at = found.end;
    }
    rest = rest.slice(at);
    if (rest.length > recordCharactersMax) {
      throw new CsvError(`a record may have ${recordCharactersMax} characters`, line);
    }
    return records;
  }

  return {
    /** The records that end in this piece. Throws CsvError. */
    push(text: string): readonly CsvRecord[] {
      waiting += isStart && text.startsWith('\ufeff') ? text.slice(1) : text;
      isStart &&= text === '';
      const isShort = rest.length + waiting.length <= recordCharactersMax;
      const isLittle = waiting.length < Math.min(rest.length, csvLimits.csvSliceBytes);
      return isShort && isLittle ? [] : read(false);
    },
    /** The last record, if no line end follows it. Throws CsvError. */
    end: (): readonly CsvRecord[] => read(true),
    /** The separator of cells; known from the first record on. */
    get delimiter(): CsvDelimiter {
      return delimiter ?? ',';
    },
  };
}

const blank = /^[\s\0]*$/;
/** Whether a cell says nothing: an empty text stands in quotes. */
export const isBlank = ({ text, isQuoted }: CsvCell): boolean => !isQuoted && blank.test(text);
const separator = /^"?sep=([,;\t|])"?[,;\t| ]*(?:\r\n|[\r\n]|$)/i;

/** The line that names the separator, as spreadsheets write it; undefined: not to be seen yet. */
function separatorLine(
  text: string,
  isEnd: boolean,
): { readonly delimiter?: CsvDelimiter; readonly end: number } | undefined {
  const begin = text.slice(0, '"sep='.length).toLowerCase();
  const mayBe = '"sep='.startsWith(begin) || 'sep='.startsWith(begin.slice(0, 'sep='.length));
  if (!mayBe) return { end: 0 };
  // A line feed that belongs to it may be on its way.
  if (!isEnd && !/\n|\r./s.test(text)) return undefined;
  const [line = '', delimiter] = separator.exec(text) ?? [];
  // The pattern takes no other.
  return delimiter === undefined
    ? { end: 0 }
    : { delimiter: delimiter as CsvDelimiter, end: line.length };
}

/**
 * Finds the separator that comes first outside of quotes, where the line has others after commas
 * between digits: those are of decimals. Undefined when that is not to be seen yet; asked again
 * with more of the text, it goes on where it was.
 */
function createDelimiterFinder() {
  let at = 0;
  let isQuoted = false;
  return (text: string, isEnd: boolean): CsvDelimiter | undefined => {
    for (; at < text.length; at += 1) {
      const character = text[at];
      if (character === '"') isQuoted = !isQuoted;
      else if (isQuoted) continue;
      else if (character === '\r' || character === '\n') return ',';
      else if (character === ';' || character === '\t') return character;
      else if (character !== ',' || /^\d,\d/.test(text.slice(at - 1, at + 2))) continue;
      else if (at + 1 < text.length || isEnd) return ',';
      else break;
    }
    return isEnd ? ',' : undefined;
  };
}

/** A record whose end has not come yet. */
interface Begun {
  readonly cells: CsvCell[];
  /** Where its cell under way begins. */
  at: number;
  /** Up to where that cell was read. */
  seen: number;
}

interface Source {
  readonly text: string;
  readonly delimiter: CsvDelimiter;
  /** No more text comes. */
  readonly isEnd: boolean;
  readonly line: number;
}

/** The record under way, or undefined when its end may not have come yet. */
function recordAt(source: Source, begun: Begun): Found | undefined {
  const { text, delimiter, isEnd } = source;
  const { cells } = begun;
  for (;;) {
    const isQuoted = text[begun.at] === '"';
    const end = isQuoted ? quotedEnd(source, begun) : bareEnd(text, delimiter, begun);
    if (end === undefined || (end === text.length && !isEnd)) return undefined;
    // A line feed that belongs to it may be on its way.
    if (text[end] === '\r' && end + 1 === text.length && !isEnd) return undefined;
    cells.push({ text: cellText(text.slice(begun.at, end), isQuoted), isQuoted });
    begun.at = end + 1;
    begun.seen = begun.at;
    if (end === text.length) return { cells, end };
    if (text[end] === delimiter) {
      if (cells.length === csvLimits.csvRecordCellsMax) {
        const problem = `a record may have ${csvLimits.csvRecordCellsMax} cells`;
        throw new CsvError(problem, source.line);
      }
      continue;
    }
    if (text[end] === '\n') return { cells, end: end + 1 };
    if (text[end] !== '\r') throw new CsvError('text follows a closing quote', source.line);
    return { cells, end: text[end + 1] === '\n' ? end + 2 : end + 1 };
  }
}

const cellText = (text: string, isQuoted: boolean): string =>
  isQuoted ? text.slice(1, -1).replaceAll('""', '"') : text;

const bareTexts: Readonly<Record<CsvDelimiter, RegExp>> = {
  ...{ ',': /[^,\r\n]*/y, ';': /[^;\r\n]*/y },
  ...{ '\t': /[^\t\r\n]*/y, '|': /[^|\r\n]*/y },
};

function bareEnd(text: string, delimiter: CsvDelimiter, begun: Begun): number {
  const pattern = bareTexts[delimiter];
  pattern.lastIndex = begun.seen;
  begun.seen += pattern.exec(text)?.[0].length ?? 0;
  return begun.seen;
}

/** Behind the closing quote; undefined: it has not come yet. */
function quotedEnd({ text, isEnd, line }: Source, begun: Begun): number | undefined {
  for (let at = Math.max(begun.seen, begun.at + 1); ; at += 2) {
    const quote = text.indexOf('"', at);
    const isClosed = quote >= 0 && (quote + 1 < text.length || isEnd);
    if (!isClosed) {
      if (isEnd) throw new CsvError('a quote is never closed', line);
      begun.seen = quote < 0 ? text.length : quote;
      return undefined;
    }
    at = quote;
    if (text[at + 1] !== '"') {
      begun.seen = at;
      return at + 1;
    }
  }
}

function lineEnds(text: string, start: number, end: number): number {
  let count = 0;
  for (let at = start; at < end; at += 1) {
    const isReturn = text[at] === '\r' && text[at + 1] !== '\n';
    if (isReturn || text[at] === '\n') count += 1;
  }
  return count;
}
