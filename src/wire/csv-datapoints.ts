import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import type { NewDatapoint } from '../domain/datapoints/ingest.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { type CsvCell, CsvError, type CsvRecord, createCsvReader } from '../lib/csv-reader.ts';
import type { JsonValue } from '../lib/json.ts';
import { parseTimestamp } from '../lib/timestamp.ts';
import { parseValueCell } from './csv.ts';
import { readInstant } from './datapoint.ts';
import { type Spelling, v2Spelling } from './spelling.ts';

/** One row of a CSV with datapoints: what it says, or why it says nothing. */
export type CsvRow =
  | {
      readonly line: number;
      /** Present when the CSV has the column. */
      readonly deviceId?: string;
      readonly sensorId?: string;
      readonly datapoint: NewDatapoint;
    }
  | { readonly line: number; readonly refusal: DomainError };

/** Reads rows from CSV that arrives in pieces. Both throw DomainError invalid for broken quotes. */
export interface CsvDatapoints {
  push(text: string): readonly CsvRow[];
  end(): readonly CsvRow[];
}

/** Where a column is; absent: there is none. */
interface Columns {
  readonly count: number;
  readonly value: number;
  readonly timestamp?: number;
  readonly received?: number;
  readonly device?: number;
  readonly sensor?: number;
}

const withoutHeader: Readonly<Record<number, Columns>> = {
  2: { count: 2, timestamp: 0, value: 1 },
  // As the service writes them.
  5: { count: 5, device: 0, sensor: 1, value: 2, timestamp: 3, received: 4 },
};

/**
 * Datapoints from CSV [contract 6]: `timestamp,value`, with or without a first line that names the
 * columns, or what a read answers. A row without a timestamp takes its date_received, if it has
 * one: what it was ordered by stays, and a second import stores nothing twice.
 */
export function createCsvDatapoints(spelling: Spelling = v2Spelling): CsvDatapoints {
  const reader = createCsvReader({ recordCharactersMax: limits.csvRecordCharactersMax });
  let columns: Columns | undefined;

  function rowsOf(records: readonly CsvRecord[]): readonly CsvRow[] {
    const rows: CsvRow[] = [];
    for (const record of records) {
      if (columns === undefined) {
        const isHeader = namesColumns(record.cells);
        columns = isHeader ? columnsOf(record, spelling) : withoutHeader[record.cells.length];
        if (columns === undefined) {
          throw invalid(`line ${record.line} must name the columns, for instance timestamp,value`);
        }
        if (isHeader) continue;
      }
      rows.push(readRow(record, columns, reader.delimiter === ';'));
    }
    return rows;
  }

  return {
    push: (text) => rowsOf(refusing(() => reader.push(text))),
    end: () => rowsOf(refusing(() => reader.end())),
  };
}

/** The datapoints of one sensor. Throws DomainError invalid, naming the line, for anything else. */
export function readCsvPush(
  text: string,
  sensor: SensorRef,
  spelling: Spelling = v2Spelling,
): readonly NewDatapoint[] {
  const csv = createCsvPush(sensor, spelling);
  csv.push(text);
  return csv.end();
}

/** The same for CSV that arrives in pieces; both throw like readCsvPush. */
export function createCsvPush(sensor: SensorRef, spelling: Spelling = v2Spelling) {
  const csv = createCsvDatapoints(spelling);
  const datapoints: NewDatapoint[] = [];

  function take(row: CsvRow): void {
    if ('refusal' in row) throw invalid(`line ${row.line}: ${row.refusal.message}`);
    const { deviceId = sensor.deviceId, sensorId = sensor.sensorId } = row;
    if (deviceId !== sensor.deviceId || sensorId !== sensor.sensorId) {
      throw invalid(`line ${row.line} is of sensor ${sensorId} of device ${deviceId}`);
    }
    datapoints.push(row.datapoint);
  }

  return {
    push(text: string): void {
      for (const row of csv.push(text)) take(row);
    },
    end(): readonly NewDatapoint[] {
      for (const row of csv.end()) take(row);
      return datapoints;
    },
  };
}

function refusing<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (reason) {
    if (reason instanceof CsvError) throw invalid(reason.message);
    throw reason;
  }
}

const nameOf = (cell: CsvCell): string => cell.text.trim().toLowerCase();

function namesColumns(cells: readonly CsvCell[]): boolean {
  return (
    cells.some((cell) => nameOf(cell) === 'value') &&
    !cells.some(({ text }) => parseTimestamp(text.trim()) !== undefined)
  );
}

function columnsOf({ cells }: CsvRecord, { deviceId, sensorId }: Spelling): Columns {
  const names = cells.map(nameOf);
  const at = (name: string) => {
    const found = names.indexOf(name);
    return found < 0 ? undefined : found;
  };
  const [timestamp, received] = [at('timestamp'), at('date_received')];
  const [device, sensor] = [at(deviceId), at(sensorId)];
  return {
    count: cells.length,
    value: names.indexOf('value'),
    ...(timestamp !== undefined && { timestamp }),
    ...(received !== undefined && { received }),
    ...(device !== undefined && { device }),
    ...(sensor !== undefined && { sensor }),
  };
}

function readRow({ line, cells }: CsvRecord, columns: Columns, isSemicolon: boolean): CsvRow {
  try {
    if (cells.length !== columns.count) {
      throw invalid(`the row has ${cells.length} cells, expected ${columns.count}`);
    }
    const value = readValue(cells[columns.value], isSemicolon);
    const time = textAt(cells, columns.timestamp) || textAt(cells, columns.received);
    const deviceId = idAt(cells, columns.device);
    const sensorId = idAt(cells, columns.sensor);
    return {
      line,
      datapoint: time === '' ? { value } : { value, timestamp: readInstant(time, 'timestamp') },
      ...(deviceId !== undefined && { deviceId }),
      ...(sensorId !== undefined && { sensorId }),
    };
  } catch (refusal) {
    if (refusal instanceof DomainError) return { line, refusal };
    throw refusal;
  }
}

const decimalComma = /^[+-]?\d+,\d+$/;

function readValue(cell: CsvCell | undefined, isSemicolon: boolean): JsonValue {
  if (cell === undefined || (cell.text === '' && !cell.isQuoted)) {
    throw invalid('the value is missing: an empty text is ""');
  }
  // Spreadsheets that separate cells by semicolons write decimals with a comma.
  const isDecimal = isSemicolon && !cell.isQuoted && decimalComma.test(cell.text);
  return isDecimal ? Number(cell.text.replace(',', '.')) : parseValueCell(cell);
}

function textAt(cells: readonly CsvCell[], column: number | undefined): string {
  return column === undefined ? '' : (cells[column]?.text.trim() ?? '');
}

/** Without the apostrophe that keeps a spreadsheet from running an id; none begins with one. */
function idAt(cells: readonly CsvCell[], column: number | undefined): string | undefined {
  return column === undefined ? undefined : textAt(cells, column).replace(/^'/, '');
}
