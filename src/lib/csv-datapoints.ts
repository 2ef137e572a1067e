import type { Instant } from './clock.ts';
import { CsvCellError, cellJson, unguarded } from './csv-cell.ts';
import { type CsvCell, CsvError, type CsvRecord, createCsvReader, isBlank } from './csv-reader.ts';
import { parseLocalTime } from './local-time.ts';
import type { TextEncoding } from './text-encoding.ts';
import { findTimeZone, type TimeZone } from './time-zone.ts';
import { parseTimestamp } from './timestamp.ts';

/** A datapoint of a row, or why there is none. */
export type CsvDatapoint =
  | {
      readonly line: number;
      /** Present when the CSV says it. */
      readonly deviceId?: string;
      readonly sensorId?: string;
      /** The value as JSON text, with all digits. */
      readonly json: string;
      readonly timestamp?: Instant;
      /** The timestamp may be the time of receipt of a datapoint without a time of measurement. */
      readonly isReceipt?: true;
    }
  | { readonly line: number; readonly refusal: string };

export interface CsvOptions {
  readonly encoding: TextEncoding;
  /** The clocks of times without an offset; absent: UTC. */
  readonly zone?: TimeZone | undefined;
  readonly recordCharactersMax: number;
  /** The columns of the ids; absent: as version 2 of the API names them. */
  readonly names?: { readonly deviceId: string; readonly sensorId: string };
}

/** The problem of a CSV whose first line says nothing. */
export const unnamedColumns = 'name the columns, for instance timestamp,value';

interface TimeColumn {
  readonly at: number;
  /** As the column's name says, `timestamp (Africa/Nairobi)`; absent: the reader's `zone`. */
  readonly zone?: TimeZone;
}

/** Where a column is; absent: there is none. */
interface Columns {
  readonly count: number;
  readonly values: readonly {
    readonly at: number;
    /** As the column's name says, `device/sensor`. */
    readonly deviceId?: string;
    readonly sensorId?: string;
  }[];
  /** Each sensor has a column of its own: rows need not have all of them. */
  readonly isWide?: boolean;
  readonly timestamp?: TimeColumn | undefined;
  readonly received?: TimeColumn | undefined;
  readonly device?: number | undefined;
  readonly sensor?: number | undefined;
}

const withoutHeader: Readonly<Record<number, Columns>> = {
  2: { count: 2, timestamp: { at: 0 }, values: [{ at: 1 }] },
  // As the service writes them.
  5: {
    ...{ count: 5, device: 0, sensor: 1, values: [{ at: 2 }] },
    ...{ timestamp: { at: 3 }, received: { at: 4 } },
  },
};

/**
 * Datapoints from CSV [contract 6, 15]: `timestamp,value`, with or without a first line that names
 * the columns; what a read answers; or one column for each sensor, named `device/sensor`. A row
 * without a timestamp takes its date_received, if it has one: what it was ordered by stays.
 */
export function createCsvDatapointReader(options: CsvOptions) {
  const { names = { deviceId: 'device_id', sensorId: 'sensor_id' }, zone } = options;
  const decoder = new TextDecoder(options.encoding, { fatal: true });
  const reader = createCsvReader(options);
  let columns: Columns | undefined;
  let line = 1;

  function decode(piece?: Uint8Array): string {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw new CsvError(`what follows is not valid ${options.encoding.toUpperCase()}`, line);
    }
  }

  function rowsOf(records: readonly CsvRecord[]): readonly CsvDatapoint[] {
    const rows: CsvDatapoint[] = [];
    for (const record of records) {
      line = record.line;
      if (columns === undefined) {
        const named = columnsOf(record, names);
        const count = record.cells.findLastIndex((cell) => !isBlank(cell)) + 1;
        columns = named ?? withoutHeader[record.cells.length] ?? withoutHeader[count];
        if (columns === undefined) throw new CsvError(unnamedColumns, line);
        if (named !== undefined) continue;
      }
      for (const row of readRow(record, columns, { zone, delimiter: reader.delimiter })) {
        rows.push(row);
      }
    }
    return rows;
  }

  return {
    push: (piece: Uint8Array) => rowsOf(reader.push(decode(piece))),
    end: () => rowsOf([...reader.push(decode()), ...reader.end()]),
  };
}

/** Undefined: the record names no columns. Throws CsvError. */
function columnsOf(
  { cells, line }: CsvRecord,
  { deviceId, sensorId }: { readonly deviceId: string; readonly sensorId: string },
): Columns | undefined {
  if (cells.some(({ text }) => parseTimestamp(text.trim()) !== undefined)) return undefined;
  const names = cells.map(({ text }) => text.trim().toLowerCase());
  const at = (name: string) => (names.includes(name) ? names.indexOf(name) : undefined);
  for (const name of ['timestamp', 'date_received', 'value', deviceId, sensorId]) {
    const isTwice = names.indexOf(name) !== names.lastIndexOf(name);
    if (isTwice) throw new CsvError(`two columns are named ${name}`, line);
  }
  const shared = {
    ...{ count: cells.length, device: at(deviceId), sensor: at(sensorId) },
    timestamp: timeColumn(cells, line, ['timestamp']) ?? timeColumn(cells, line, otherTimes),
    received: timeColumn(cells, line, ['date_received']),
  };
  const value = at('value');
  if (value !== undefined) {
    // A year of values is not stored as of now, for want of a name that is understood.
    const isTimeless = shared.timestamp === undefined && shared.received === undefined;
    if (isTimeless && names.some((name) => timeName.test(name))) {
      throw new CsvError('name the column of the times, which is one: timestamp', line);
    }
    return { ...shared, values: [{ at: value }] };
  }
  const values = cells.flatMap(({ text }, place) => {
    const [, device, sensor] = ofSensor.exec(unguarded(text.trim())) ?? [];
    return device === undefined || sensor === undefined
      ? []
      : [{ at: place, deviceId: device, sensorId: sensor }];
  });
  const { timestamp } = shared;
  if (timestamp === undefined) return undefined;
  if (values.length > 0) return { ...shared, values, isWide: true };
  // As loggers write: of two columns the one beside the times has the values, whatever its name.
  const others = cells.flatMap((cell, at) => (at === timestamp.at || isBlank(cell) ? [] : [at]));
  const [only] = others;
  const name = names[only ?? -1] ?? '';
  const isSensors = [shared.device, shared.sensor, shared.received?.at].includes(only);
  const isNoValue = timeName.test(name) || /^(?:unit|received|clock)$/.test(name);
  return only === undefined || others.length > 1 || isSensors || isNoValue
    ? undefined
    : { ...shared, values: [{ at: only }] };
}

/** Ids have neither slashes nor brackets, of which names of zones have some. */
const ofSensor = /^([^/()\s]+)\/([^/()\s]+)$/;

/** Names that speak of a time, in some languages. */
const timeName =
  /time|date|zeit|datum|heure|hora|fecha|jour|tarehe|saa|^(?:data|day|hour|t|ts|at)$/i;

/** As other programs name the column of the times. */
const otherTimes = ['time', 'datetime', 'date', 'created_at'];

/** The only column that has one of these names. */
function timeColumn(
  cells: readonly CsvCell[],
  line: number,
  names: readonly string[],
): TimeColumn | undefined {
  const columns = cells.flatMap(({ text }, at) => {
    const [, found = '', zoneName] = /^\s*(\w+)(?:\s*\(([^)]+)\))?\s*$/.exec(text) ?? [];
    return names.includes(found.toLowerCase()) ? [{ at, zoneName }] : [];
  });
  const [column] = columns;
  if (column === undefined || columns.length > 1) return undefined;
  const { at, zoneName } = column;
  if (zoneName === undefined) return { at };
  const zone = findTimeZone(zoneName.trim());
  if (zone === undefined) throw new CsvError(`the timezone ${zoneName} is not known`, line);
  return { at, zone };
}

function readRow(
  { line, cells }: CsvRecord,
  columns: Columns,
  { zone, delimiter }: { zone: TimeZone | undefined; delimiter: string },
): readonly CsvDatapoint[] {
  try {
    requireCells(cells, columns);
    const { isWide = false } = columns;
    const measured = timeAt(cells, columns.timestamp, zone);
    const time = measured ?? timeAt(cells, columns.received, zone);
    // A table of one column for each sensor has both kinds of times in one.
    const isReceipt = time !== undefined && (isWide || measured === undefined);
    const device = idAt(cells, columns.device);
    const sensor = idAt(cells, columns.sensor);
    return columns.values.flatMap(({ at, deviceId = device, sensorId = sensor }) => {
      const cell = cells[at];
      if (cell === undefined || isBlank(cell)) {
        if (isWide) return [];
        throw new CsvCellError('the value is missing: an empty text is ""');
      }
      const json = cellJson(cell, delimiter !== ',');
      return {
        ...{ line, json },
        ...(time !== undefined && { timestamp: time }),
        ...(isReceipt && { isReceipt }),
        ...(deviceId !== undefined && { deviceId }),
        ...(sensorId !== undefined && { sensorId }),
      };
    });
  } catch (error) {
    if (error instanceof CsvCellError) return [{ line, refusal: error.message }];
    throw error;
  }
}

/** Spreadsheets leave out empty cells at the end, and add some. Throws CsvCellError. */
function requireCells(cells: readonly CsvCell[], columns: Columns): void {
  const { count, values, timestamp, received, device, sensor, isWide = false } = columns;
  const wanted = [timestamp?.at, ...(isWide ? [] : [received?.at, device, sensor])];
  if (!isWide) wanted.push(...values.map(({ at }) => at));
  const least = 1 + Math.max(...wanted.map((at) => at ?? 0));
  if (cells.length >= least && cells.slice(count).every(isBlank)) return;
  throw new CsvCellError(`the row has ${cells.length} cells, expected ${count}`);
}

/** Throws CsvCellError. */
function timeAt(
  cells: readonly CsvCell[],
  column: TimeColumn | undefined,
  zone: TimeZone | undefined,
): Instant | undefined {
  const text = textAt(cells, column?.at);
  if (column === undefined || text === '') return undefined;
  const read = parseLocalTime(text, 'timestamp', column.zone ?? zone);
  if (typeof read === 'string') throw new CsvCellError(read);
  return read;
}

function textAt(cells: readonly CsvCell[], column: number | undefined): string {
  return column === undefined ? '' : (cells[column]?.text.trim() ?? '');
}

/** Without the apostrophe that keeps a spreadsheet from running an id; none begins with one. */
const idAt = (cells: readonly CsvCell[], column: number | undefined): string | undefined =>
  textAt(cells, column).replace(/^'/, '') || undefined;
