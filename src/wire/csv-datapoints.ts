import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import { NewColumns, type NewDatapoint } from '../domain/datapoints/new-columns.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import {
  type CsvDatapoint,
  type CsvOptions,
  createCsvDatapointReader,
} from '../lib/csv-datapoints.ts';
import { CsvError } from '../lib/csv-reader.ts';
import { JsonError, parseJson } from '../lib/json.ts';
import { withoutStackTraces } from '../lib/stackless.ts';
import { createEncodingFinder } from '../lib/text-encoding.ts';

/** A row of a CSV with datapoints: its datapoint, or why it has none. */
export type CsvRow =
  | {
      readonly line: number;
      /** Present when the CSV says it. */
      readonly deviceId?: string;
      readonly sensorId?: string;
      readonly datapoint: NewDatapoint;
    }
  | { readonly line: number; readonly refusal: string };

type CsvChoices = Omit<CsvOptions, 'recordCharactersMax'>;

/** How the CSV of a push is read, whatever its encoding. */
export type CsvPushChoices = Omit<CsvChoices, 'encoding'>;

/** Reads rows from CSV that arrives in pieces. Its methods throw DomainError invalid for no CSV. */
export function createCsvRowReader(choices: CsvChoices) {
  const { csvRecordCharactersMax: recordCharactersMax } = limits;
  const reader = createCsvDatapointReader({ ...choices, recordCharactersMax });
  return {
    // Each of thousands of rows may be refused.
    push: (piece: Uint8Array) =>
      withoutStackTraces(() => refusing(() => reader.push(piece)).map(toRow)),
    end: () => withoutStackTraces(() => refusing(() => reader.end()).map(toRow)),
  };
}

function toRow(row: CsvDatapoint): CsvRow {
  if ('refusal' in row) return row;
  const { json, timestamp, isReceipt: _, ...others } = row;
  try {
    const value = parseJson(json);
    return { ...others, datapoint: timestamp === undefined ? { value } : { value, timestamp } };
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    return { line: row.line, refusal: `the value is not valid JSON: ${error.message}` };
  }
}

/** The result of a reader of CSV. Throws DomainError invalid for what is no CSV. */
export function refusing<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (reason) {
    if (reason instanceof CsvError) throw invalid(reason.message);
    throw reason;
  }
}

/** The datapoints of one sensor. Throws DomainError invalid, naming the line, for anything else. */
export function readCsvPush(
  bytes: Uint8Array,
  sensor: SensorRef,
  choices: CsvPushChoices = {},
): NewColumns {
  const csv = createCsvPush(sensor, choices);
  csv.find(bytes);
  csv.push(bytes);
  return csv.end();
}

/** The same piece by piece, after all pieces were shown to `find`; both others throw alike. */
export function createCsvPush(sensor: SensorRef, choices: CsvPushChoices) {
  const finder = createEncodingFinder();
  let csv: ReturnType<typeof createCsvRowReader> | undefined;
  const reader = () => (csv ??= createCsvRowReader({ ...choices, encoding: finder.end() }));
  const datapoints = new NewColumns();

  function take(row: CsvRow): void {
    if ('refusal' in row) throw invalid(`line ${row.line}: ${row.refusal}`);
    const { deviceId = sensor.deviceId, sensorId = sensor.sensorId } = row;
    if (deviceId !== sensor.deviceId || sensorId !== sensor.sensorId) {
      throw invalid(`line ${row.line} is of sensor ${sensorId} of device ${deviceId}`);
    }
    datapoints.push(row.datapoint);
  }

  return {
    find: finder.push,
    push(piece: Uint8Array): void {
      for (const row of reader().push(piece)) take(row);
    },
    end(): NewColumns {
      for (const row of reader().end()) take(row);
      return datapoints;
    },
  };
}
