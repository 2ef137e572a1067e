/** One cell; whether it stood in quotes tells "25" from 25. */
export interface CsvCell {
  readonly text: string;
  readonly isQuoted: boolean;
}

export interface CsvRecord {
  /** Where it begins, from 1; a quoted cell may go over several lines. */
  readonly line: number;
  readonly cells: readonly CsvCell[];
}

export type CsvDelimiter = ',' | ';';

/** Text that is no CSV from here on. */
export class CsvError extends Error {
  readonly line: number;

  constructor(problem: string, line: number) {
    super(`line ${line}: ${problem}`);
    this.name = 'CsvError';
    this.line = line;
  }
}

/** Reads CSV that arrives in pieces, cut anywhere; keeps one unfinished record at most. */
export interface CsvReader {
  /** The records that end in this piece. Throws CsvError. */
  push(text: string): readonly CsvRecord[];
  /** The last record, if no line end follows it. Throws CsvError. */
  end(): readonly CsvRecord[];
  /** What separates cells; known from the first record on. */
  readonly delimiter: CsvDelimiter;
}

interface Found {
  readonly cells: readonly CsvCell[];
  /** After the line end. */
  readonly end: number;
}

/**
 * A reader by RFC 4180, as tolerant as spreadsheets: lines may end in CRLF, LF or CR, empty lines
 * are passed over, a byte order mark too, and the first record says whether cells are separated by
 * commas or semicolons.
 */
export function createCsvReader(options: { readonly recordCharactersMax: number }): CsvReader {
  const { recordCharactersMax } = options;
  let delimiter: CsvDelimiter | undefined;
  let rest = '';
  let line = 1;
  let isStart = true;

  function read(isEnd: boolean): readonly CsvRecord[] {
    const records: CsvRecord[] = [];
    let at = 0;
    while (at < rest.length) {
      delimiter ??= delimiterOf(rest, isEnd);
      if (delimiter === undefined) break;
      const found = recordAt({ text: rest, delimiter, isEnd, line }, at);
      if (found === undefined) break;
      const [first] = found.cells;
      const isEmpty = found.cells.length === 1 && first?.text === '' && !first.isQuoted;
      if (!isEmpty) records.push({ line, cells: found.cells });
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
    push(text) {
      rest += isStart && text.startsWith('\ufeff') ? text.slice(1) : text;
      isStart &&= text === '';
      return read(false);
    },
    end: () => read(true),
    get delimiter() {
      return delimiter ?? ',';
    },
  };
}

/** The separator that comes first outside of quotes; undefined when that is not to be seen yet. */
function delimiterOf(text: string, isEnd: boolean): CsvDelimiter | undefined {
  let isQuoted = false;
  for (const character of text) {
    if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === ',' || character === ';') return character;
    else if (character === '\r' || character === '\n') return ',';
  }
  return isEnd ? ',' : undefined;
}

interface Source {
  readonly text: string;
  readonly delimiter: CsvDelimiter;
  /** No more text comes. */
  readonly isEnd: boolean;
  readonly line: number;
}

/** The record that begins there, or undefined when its end may not have come yet. */
function recordAt(source: Source, start: number): Found | undefined {
  const { text, delimiter, isEnd } = source;
  const cells: CsvCell[] = [];
  for (let at = start; ; at += 1) {
    const cell = text[at] === '"' ? quotedCell(source, at) : bareCell(text, delimiter, at);
    if (cell === undefined) return undefined;
    cells.push({ text: cell.text, isQuoted: cell.isQuoted });
    at = cell.end;
    if (at === text.length) return isEnd ? { cells, end: at } : undefined;
    if (text[at] === delimiter) continue;
    if (text[at] === '\n') return { cells, end: at + 1 };
    if (text[at] !== '\r') throw new CsvError('text follows a closing quote', source.line);
    // A line feed that belongs to it may be on its way.
    if (at + 1 === text.length && !isEnd) return undefined;
    return { cells, end: text[at + 1] === '\n' ? at + 2 : at + 1 };
  }
}

interface FoundCell extends CsvCell {
  readonly end: number;
}

const bareTexts: Readonly<Record<CsvDelimiter, RegExp>> = { ',': /[^,\r\n]*/y, ';': /[^;\r\n]*/y };

function bareCell(text: string, delimiter: CsvDelimiter, start: number): FoundCell {
  const pattern = bareTexts[delimiter];
  pattern.lastIndex = start;
  const [found = ''] = pattern.exec(text) ?? [];
  return { text: found, isQuoted: false, end: start + found.length };
}

function quotedCell({ text, isEnd, line }: Source, start: number): FoundCell | undefined {
  for (let at = start + 1; ; at += 2) {
    at = text.indexOf('"', at);
    const isClosed = at >= 0 && (at + 1 < text.length || isEnd);
    if (!isClosed) {
      if (!isEnd) return undefined;
      throw new CsvError('a quote is never closed', line);
    }
    if (text[at + 1] === '"') continue;
    const inside = text.slice(start + 1, at);
    return { text: inside.replaceAll('""', '"'), isQuoted: true, end: at + 1 };
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
