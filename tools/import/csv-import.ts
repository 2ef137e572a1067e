import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { DomainError } from '../../src/domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../../src/domain/ids.ts';
import type { JsonValue } from '../../src/lib/json.ts';
import { createEncodingFinder, type TextEncoding } from '../../src/lib/text-encoding.ts';
import type { TimeZone } from '../../src/lib/time-zone.ts';
import { formatTimestamp } from '../../src/lib/timestamp.ts';
import { type CsvRow, createCsvRowReader } from '../../src/wire/csv-datapoints.ts';
import type { ApiClient, BulkAnswer } from '../client/api-client.ts';
import { importLimits } from './import-limits.ts';
import { createSensorMaker } from './sensor-maker.ts';

export interface CsvImport {
  readonly file: string;
  /** For all rows, whatever their columns say; absent: by the columns. */
  readonly deviceId?: string;
  readonly sensorId?: string;
  /** Makes devices and sensors that are not there. */
  readonly isCreating: boolean;
  /** The clocks of times without an offset; absent: UTC. */
  readonly zone?: TimeZone | undefined;
}

/** Calls that the import makes while it runs. */
export interface ImportListener {
  onRefused(line: number, reason: string): void;
  onProgress(bytesDone: number, bytesTotal: number): void;
}

export interface ImportReport {
  /** On disk, those that were there before included. */
  readonly stored: number;
  readonly refused: number;
  /** Private ones, unless a guest made them. */
  readonly devicesMade: number;
}

/** A row on its way, as the service takes it. */
interface Sendable {
  readonly line: number;
  readonly message: {
    readonly device_id: string;
    readonly sensor_id: string;
    readonly value: JsonValue;
    readonly timestamp?: string;
  };
}

/**
 * Pushes the rows of a CSV of any size, in their order. Run again after a stop it stores nothing
 * twice, as long as rows have timestamps. Throws when the service or the file gives up.
 */
export async function importCsv(
  work: CsvImport,
  client: ApiClient,
  listener: ImportListener,
): Promise<ImportReport> {
  const sensors = work.isCreating ? createSensorMaker(client) : undefined;
  const file = await stat(work.file);
  // Input that is no regular file can be read only once.
  const encoding = file.isFile() ? await encodingOf(work.file) : 'utf-8';
  const csv = createCsvRowReader({ encoding, zone: work.zone });
  const input = createReadStream(work.file);
  let stored = 0;
  let refused = 0;
  let waiting: Sendable[] = [];

  function refuse(line: number, reason: string): void {
    refused += 1;
    listener.onRefused(line, reason);
  }

  function take(rows: readonly CsvRow[]): void {
    for (const row of rows) {
      const sendable = 'refusal' in row ? row.refusal : toSendable(row, work);
      if (typeof sendable === 'string') refuse(row.line, sendable);
      else waiting.push(sendable);
    }
  }

  /** Keeps the rows whose sensors are there; the others are refused. */
  async function withSensors(batch: readonly Sendable[]): Promise<readonly Sendable[]> {
    if (sensors === undefined) return batch;
    const ready: Sendable[] = [];
    const reasons = new Set<string>();
    for (const row of batch) {
      const refusal = await sensors.require(row.message.device_id, row.message.sensor_id);
      if (refusal === undefined) ready.push(row);
      else {
        refuse(row.line, refusal);
        reasons.add(refusal);
      }
    }
    const isHopeless = stored === 0 && ready.length === 0 && reasons.size === 1;
    if (isHopeless && batch.length === importLimits.rowsPerRequest) {
      throw new Error(`no row can be stored: ${[...reasons].join()}`);
    }
    return ready;
  }

  async function push(rows: readonly Sendable[]): Promise<void> {
    const batch = await withSensors(rows);
    if (batch.length === 0) return;
    const json = batch.map(({ message }) => message);
    const request = { method: 'POST', path: '/sensors_data?import=true', json } as const;
    const answer: { readonly json: unknown } = await client.need(request, 200);
    const report = answer.json as BulkAnswer;
    stored += report.stored;
    const [first] = report.refused;
    const isHopeless =
      first !== undefined &&
      stored === 0 &&
      batch.length === importLimits.rowsPerRequest &&
      report.refused_count === batch.length &&
      report.refused.every(({ description }) => description === first.description);
    if (isHopeless) {
      refused += report.refused_count;
      throw new Error(`no row can be stored: ${first.description}${adviceFor(first, work)}`);
    }
    for (const { line, description } of report.refused) {
      refuse(batch[line - 1]?.line ?? 0, description);
    }
    refused += report.refused_count - report.refused.length;
  }

  async function pushAll(): Promise<void> {
    const rows = waiting;
    waiting = [];
    for (let start = 0; start < rows.length; start += importLimits.rowsPerRequest) {
      await push(rows.slice(start, start + importLimits.rowsPerRequest));
    }
    listener.onProgress(input.bytesRead, file.size);
  }

  try {
    for await (const piece of input) {
      take(csv.push(piece as Uint8Array));
      if (waiting.length >= importLimits.rowsPerRequest) await pushAll();
    }
    take(csv.end());
  } catch (error) {
    // Rows before a broken one are good.
    await pushAll();
    throw error;
  }
  await pushAll();
  return { stored, refused, devicesMade: sensors?.devicesMade() ?? 0 };
}

async function encodingOf(file: string): Promise<TextEncoding> {
  const finder = createEncodingFinder();
  for await (const piece of createReadStream(file)) finder.push(piece as Uint8Array);
  return finder.end();
}

const adviceFor = ({ error }: { readonly error: string }, { isCreating }: CsvImport): string =>
  error === 'not_found' && !isCreating ? '; --create makes devices and sensors' : '';

/** No request is made of what is no id: it would go into a path. */
function idFault(deviceId: string, sensorId: string): string | undefined {
  try {
    parseDeviceId(deviceId);
    parseSensorId(sensorId);
    return undefined;
  } catch (error) {
    if (error instanceof DomainError) return error.message;
    throw error;
  }
}

/** The row as the service takes it, or why it cannot be sent. */
function toSendable(
  row: Exclude<CsvRow, { refusal: unknown }>,
  work: CsvImport,
): Sendable | string {
  const deviceId = work.deviceId ?? row.deviceId;
  const sensorId = work.sensorId ?? row.sensorId;
  if (deviceId === undefined || deviceId === '') {
    return 'it is not said of which device: give --device, or a column device_id';
  }
  if (sensorId === undefined || sensorId === '') {
    return 'it is not said of which sensor: give --sensor, or a column sensor_id';
  }
  const wrong = idFault(deviceId, sensorId);
  if (wrong !== undefined) return wrong;
  const { value, timestamp } = row.datapoint;
  const message = { device_id: deviceId, sensor_id: sensorId, value };
  if (timestamp === undefined) return { line: row.line, message };
  return { line: row.line, message: { ...message, timestamp: formatTimestamp(timestamp) } };
}
