/** One cell and whether it stood in quotes, which tells "25" from 25. */
export interface CsvCell {
  readonly text: string;
  readonly isQuoted: boolean;
}

/**
 * The records of a CSV text by the letter of RFC 4180: CRLF ends every record, the last one
 * included; quotes only around whole cells; all records of one length. Throws on anything else.
 */
export function readCsv(text: string): readonly (readonly CsvCell[])[] {
  const records: CsvCell[][] = [];
  let at = 0;
  while (at < text.length) {
    const record: CsvCell[] = [];
    while (true) {
      const cell = text[at] === '"' ? quotedCell(text, at) : bareCell(text, at);
      record.push({ text: cell.text, isQuoted: cell.isQuoted });
      at = cell.end;
      if (text[at] !== ',') break;
      at += 1;
    }
    if (!text.startsWith('\r\n', at)) throw new Error(`no CRLF at character ${at}`);
    at += 2;
    records.push(record);
    if (record.length !== records[0]?.length) {
      throw new Error(`record ${records.length} has ${record.length} cells`);
    }
  }
  return records;
}

/** The same, without telling which cells were quoted. */
export const readCsvTexts = (text: string): readonly (readonly string[])[] =>
  readCsv(text).map((record) => record.map((cell) => cell.text));

interface FoundCell extends CsvCell {
  readonly end: number;
}

const bareText = /[^",\r\n]*/y;

function bareCell(text: string, at: number): FoundCell {
  bareText.lastIndex = at;
  const [found = ''] = bareText.exec(text) ?? [];
  return { text: found, isQuoted: false, end: at + found.length };
}

const quotedText = /"((?:[^"]|"")*)"/y;

function quotedCell(text: string, at: number): FoundCell {
  quotedText.lastIndex = at;
  const match = quotedText.exec(text);
  if (match?.[1] === undefined) throw new Error(`the quote at character ${at} is never closed`);
  const end = at + match[0].length;
  return { text: match[1].replaceAll('""', '"'), isQuoted: true, end };
}
