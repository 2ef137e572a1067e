import { type CsvDatapoint, createCsvDatapointReader } from '../../../src/lib/csv-datapoints.ts';
import { createEncodingFinder } from '../../../src/lib/text-encoding.ts';
import { findTimeZone } from '../../../src/lib/time-zone.ts';
import { formatTimestamp } from '../../../src/lib/timestamp.ts';

/** One row of a CSV: a line as the service takes it in bulk, or why it is refused. */
export type UploadRow =
  | {
      readonly line: number;
      readonly json: string;
      /** Of a time that may be when it arrived: what may be stored already without one. */
      readonly receipt?: Receipt;
    }
  | Extract<CsvDatapoint, { readonly refusal: string }>;

/** A datapoint that may have had no time of measurement. */
export interface Receipt {
  readonly device: string;
  readonly sensor: string;
  readonly at: number;
  /** JSON text. */
  readonly value: string;
}

/**
 * The rows of a file, as the API and the command line read them; those that name no sensor are of
 * the sensor given. Throws CsvError for what is no such CSV.
 */
export function readCsvRows(
  bytes: Uint8Array,
  given: { readonly device: string; readonly sensor: string; readonly zone: string },
): readonly UploadRow[] {
  const finder = createEncodingFinder();
  finder.push(bytes);
  const reader = createCsvDatapointReader({
    ...{ encoding: finder.end(), recordCharactersMax: bytes.length },
    zone: findTimeZone(given.zone),
  });
  return [...reader.push(bytes), ...reader.end()].map((row) => {
    if ('refusal' in row) return row;
    const { line, timestamp, json, isReceipt } = row;
    const { deviceId: device = given.device, sensorId: sensor = given.sensor } = row;
    const measured = timestamp === undefined ? '' : `,"timestamp":"${formatTimestamp(timestamp)}"`;
    const ids = `"device_id":${JSON.stringify(device)},"sensor_id":${JSON.stringify(sensor)}`;
    // A line feed in JSON is white space; on a line of its own it would end the line.
    const text = `{${ids},"value":${json.replace(/[\r\n]/g, ' ')}${measured}}`;
    if (timestamp === undefined || isReceipt !== true) return { line, json: text };
    return { line, json: text, receipt: { device, sensor, at: timestamp, value: json } };
  });
}
