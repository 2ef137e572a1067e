import type { Instant } from '../../lib/clock.ts';
import type { DomainError } from '../errors.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { enlarged } from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import type { NewDatapoint } from './new-columns.ts';

/** A line of a bulk request: a datapoint with its sensor, or why it is none. */
export type BulkRow =
  | { readonly line: number; readonly sensor: SensorRef; readonly datapoint: NewDatapoint }
  | RefusedLine;

/** A line that cannot be read, with as much of its sensor and its text as is known. */
export interface RefusedLine {
  readonly line: number;
  readonly refusal: DomainError;
  readonly sensor?: Pick<SensorRef, 'deviceId'> & Partial<SensorRef>;
  readonly sent?: string;
}

/** A sensor of one bulk request, as its reader remembers it: many lines share the object. */
export class BulkSensor implements SensorRef {
  readonly deviceId: DeviceId;
  readonly sensorId: SensorId;
  /** The step that knows it by `place`; only steps write these. */
  step: BulkStep | undefined = undefined;
  place = 0;

  constructor(deviceId: DeviceId, sensorId: SensorId) {
    this.deviceId = deviceId;
    this.sensorId = sensorId;
  }
}

const roomAtFirst = 32;

/**
 * Lines of a bulk request that go to the ingest path together, in their order. Numbers and short
 * texts are put into columns; for any other line there is an object.
 */
export class BulkStep {
  /** How many lines there are. */
  count = 0;
  /** The sensors of what is in columns; one may be here more than once. */
  readonly sensors: BulkSensor[] = [];
  /** The lines that are not in columns. */
  readonly others: BulkRow[] = [];
  #places = new Int32Array(roomAtFirst);
  #lines = new Float64Array(roomAtFirst);
  #numbers = new Float64Array(roomAtFirst);
  #timestamps = new Float64Array(roomAtFirst);
  /** As far as the last one that is no number. */
  readonly #texts: (string | undefined)[] = [];

  /** Adds a number; timestamp: NaN where there is none. */
  putNumber(line: number, sensor: BulkSensor, value: number, timestamp: number): void {
    const row = this.#rowOf(line, sensor, timestamp);
    this.#numbers[row] = value;
  }

  /** The same for a value that is no number: its JSON text, of a few hundred bytes at most. */
  putText(line: number, sensor: BulkSensor, text: string, timestamp: number): void {
    const row = this.#rowOf(line, sensor, timestamp);
    while (this.#texts.length < row) this.#texts.push(undefined);
    this.#texts.push(text);
  }

  put(line: BulkRow): void {
    const row = this.#next();
    this.#places[row] = -this.others.push(line);
    this.#lines[row] = line.line;
  }

  /** Nothing is put afterwards; the sensors let go of the step. */
  end(): void {
    for (const sensor of this.sensors) sensor.step = undefined;
  }

  /** Where the sensor of a row is in `sensors`; below 0: -1 is the first of `others`, and so on. */
  placeAt(row: number): number {
    return this.#places[row] ?? 0;
  }

  lineAt(row: number): number {
    return this.#lines[row] ?? 0;
  }

  /** The JSON text of the value in a row that has a place; undefined: it is a number. */
  textAt(row: number): string | undefined {
    return this.#texts[row];
  }

  /** The number in a row that has a place and no text. */
  numberAt(row: number): number {
    return this.#numbers[row] ?? 0;
  }

  /** The timestamp in a row, or NaN. */
  timestampAt(row: number): Instant {
    return this.#timestamps[row] ?? Number.NaN;
  }

  #rowOf(line: number, sensor: BulkSensor, timestamp: number): number {
    if (sensor.step !== this) {
      sensor.step = this;
      sensor.place = this.sensors.push(sensor) - 1;
    }
    const row = this.#next();
    this.#places[row] = sensor.place;
    this.#lines[row] = line;
    this.#timestamps[row] = timestamp;
    return row;
  }

  #next(): number {
    if (this.count === this.#places.length) this.#grow();
    this.count += 1;
    return this.count - 1;
  }

  #grow(): void {
    const room = this.count * (this.count < 512 ? 4 : 2);
    const places = new Int32Array(room);
    places.set(this.#places);
    this.#places = places;
    this.#lines = enlarged(this.#lines, room);
    this.#numbers = enlarged(this.#numbers, room);
    this.#timestamps = enlarged(this.#timestamps, room);
  }
}

/** A step of these lines. */
export function bulkStepOf(lines: Iterable<BulkRow>): BulkStep {
  const step = new BulkStep();
  for (const line of lines) step.put(line);
  return step;
}
