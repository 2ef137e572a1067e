import {
  type CsvCell,
  CsvError,
  type CsvRecord,
  createCsvReader,
} from '../../../src/lib/csv-reader.ts';

/** One row of a CSV as the service takes it in bulk. */
export interface UploadRow {
  readonly line: number;
  readonly device_id: string;
  readonly sensor_id: string;
  readonly value: unknown;
  readonly timestamp?: string;
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
  const records = readRecords(text);
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

function textAt(cells: readonly CsvCell[], place: number): string | undefined {
  const text = place < 0 ? undefined : cells[place]?.text.trim();
  return text === undefined || text === '' ? undefined : text;
}

const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/;

/** Bare cells are numbers, true, false, null; quoted JSON objects and arrays are such. */
function cellValue({ text, isQuoted }: CsvCell): unknown {
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

/** A whole file at once: it is in memory already. */
function readRecords(text: string): readonly CsvRecord[] {
  const reader = createCsvReader({ recordCharactersMax: text.length });
  try {
    return [...reader.push(text), ...reader.end()];
  } catch (error) {
    if (error instanceof CsvError) throw new CsvFault(error.line, '"');
    throw error;
  }
}
