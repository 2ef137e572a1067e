/** One row of a CSV as the service takes it in bulk. */
export interface UploadRow {
  readonly line: number;
  readonly device_id: string;
  readonly sensor_id: string;
  readonly value: unknown;
  readonly timestamp?: string;
}

/** Cells of one record; a cell in quotes is a text, however it looks. */
interface Cell {
  readonly text: string;
  readonly isQuoted: boolean;
}

interface CsvRecord {
  readonly line: number;
  readonly cells: readonly Cell[];
}

/** Why a file cannot be read, and where. */
export class CsvFault extends Error {
  readonly line: number;

  constructor(line: number, reason: string) {
    super(reason);
    this.name = 'CsvFault';
    this.line = line;
  }
}

/**
 * The rows of a CSV: two columns (timestamp, value) are of the sensor given; what the service
 * writes names device and sensor itself. Throws CsvFault for what is no such CSV.
 */
export function readCsvRows(
  text: string,
  sensor: { readonly device: string; readonly sensor: string },
): readonly UploadRow[] {
  const records = readRecords(text.replace(/^\uFEFF/, ''));
  const [header, ...rows] = records;
  if (header === undefined) return [];
  const columns = header.cells.map((cell) => cell.text.trim().toLowerCase());
  const place = (name: string): number => columns.indexOf(name);
  if (place('value') < 0) throw new CsvFault(header.line, 'columns');
  return rows.flatMap(({ line, cells }) => {
    const value = cells[place('value')];
    if (value === undefined || (value.text === '' && !value.isQuoted)) return [];
    const time = textAt(cells, place('timestamp')) ?? textAt(cells, place('date_received'));
    return [
      {
        line,
        device_id: textAt(cells, place('device_id')) ?? sensor.device,
        sensor_id: textAt(cells, place('sensor_id')) ?? sensor.sensor,
        value: cellValue(value),
        ...(time !== undefined && { timestamp: time }),
      },
    ];
  });
}

function textAt(cells: readonly Cell[], place: number): string | undefined {
  const text = place < 0 ? undefined : cells[place]?.text.trim();
  return text === undefined || text === '' ? undefined : text;
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

/** Bare cells are numbers, true, false, null; quoted JSON objects and arrays are such. */
function cellValue({ text, isQuoted }: Cell): unknown {
  if (isQuoted) return /^[[{"]/.test(text) ? parsed(text) : text;
  if (text === 'true' || text === 'false' || text === 'null' || number.test(text)) {
    return JSON.parse(text) as unknown;
  }
  return text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** RFC 4180, with comma or semicolon, whichever the first line holds first. */
function readRecords(text: string): readonly CsvRecord[] {
  const firstLine = text.slice(0, text.search(/[\r\n]|$/));
  const separator = /[,;]/.exec(firstLine)?.[0] ?? ',';
  const records: CsvRecord[] = [];
  let line = 1;
  let at = 0;
  while (at < text.length) {
    const start = line;
    const cells: Cell[] = [];
    let isEnd = false;
    while (!isEnd) {
      const cell = readCell(text, at, separator, line);
      cells.push(cell.cell);
      at = cell.end;
      line = cell.line;
      if (text[at] === separator) at += 1;
      else isEnd = true;
    }
    if (text[at] === '\r') at += 1;
    if (text[at] === '\n') at += 1;
    line += 1;
    if (cells.length > 1 || cells[0]?.text !== '') records.push({ line: start, cells });
  }
  return records;
}

function readCell(
  text: string,
  from: number,
  separator: string,
  line: number,
): { readonly cell: Cell; readonly end: number; readonly line: number } {
  if (text[from] !== '"') {
    let end = from;
    while (end < text.length && text[end] !== separator && !isBreak(text[end])) end += 1;
    return { cell: { text: text.slice(from, end), isQuoted: false }, end, line };
  }
  let content = '';
  let at = from + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) throw new CsvFault(line, '"');
    content += text.slice(at, quote);
    at = quote + 1;
    if (text[at] !== '"') break;
    content += '"';
    at += 1;
  }
  const next = text[at];
  if (next !== undefined && next !== separator && !isBreak(next)) throw new CsvFault(line, '"');
  const breaks = content.split('\n').length - 1;
  return { cell: { text: content, isQuoted: true }, end: at, line: line + breaks };
}

const isBreak = (char: string | undefined): boolean => char === '\r' || char === '\n';
