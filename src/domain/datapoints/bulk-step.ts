import type { Instant } from '../../lib/clock.ts';
import { withoutStackTraces } from '../../lib/stackless.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Actor } from '../actor.ts';
import { noSensor } from '../devices/devices.ts';
import { isTooLarge, valueTooLarge } from '../devices/value-size.ts';
import type { DomainError } from '../errors.ts';
import type { DeviceId, SensorId, Username } from '../ids.ts';
import { type BatchBuilder, createBatchBuilder, enlarged } from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import { aheadOfClock, excerptOf, isAhead, latestTaken } from './ingest.ts';
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

/** The actor's access to one device: the sensors to push to, or the refusal. */
export type Gate =
  | {
      readonly kind: 'open';
      readonly owner: Username;
      /** The actor may push to it only because it is public. */
      readonly isStranger: boolean;
      readonly sensors: ReadonlySet<SensorId>;
    }
  | { readonly kind: 'closed'; readonly refusal: DomainError };

export type Gates = ReadonlyMap<DeviceId, Gate>;

/** The lines of one step that belong to one sensor and may be stored, in their order. */
export interface BulkGroup {
  readonly sensor: SensorRef;
  readonly owner: Username;
  readonly builder: BatchBuilder;
}

/** A group before its rows are counted, or why none of its lines may be stored. */
type Place =
  | { readonly index: number; readonly sensor: SensorRef; readonly owner: Username; count: number }
  | { readonly refusal: DomainError };

interface StepRules {
  readonly gates: Gates;
  readonly now: number;
  readonly actor: Actor;
  readonly valueBytesMax: number;
  readonly refuse: (refused: RefusedLine, excerpt?: () => string) => void;
}

interface GroupedStep {
  /** In the order of their first lines. */
  readonly groups: readonly BulkGroup[];
  /** The numbers of the lines in one of them. */
  linesOf(group: BulkGroup): number[];
}

const refused = -1;

/** Puts lines that may be stored beside others of their sensor, in order; refuses the others. */
export function groupStep(step: BulkStep, rules: StepRules): GroupedStep {
  const places = createPlaces(rules.gates);
  const groupOfRow = withoutStackTraces(() => findGroups(step, places, rules));
  const groups = places.all.map(({ sensor, owner, count }) => ({
    ...{ sensor, owner },
    builder: createBatchBuilder(count),
  }));
  for (let row = 0; row < step.count; row += 1) {
    const builder = groups[groupOfRow[row] ?? refused]?.builder;
    if (builder === undefined) continue;
    const place = step.placeAt(row);
    if (place >= 0) {
      const instant = step.timestampAt(row);
      const timestamp = Number.isNaN(instant) ? undefined : instant;
      const text = step.textAt(row);
      if (text === undefined) builder.put(step.numberAt(row), timestamp, rules.now);
      else builder.putText(text, timestamp, rules.now);
    } else {
      const line = step.others[-1 - place];
      if (line === undefined || 'refusal' in line) continue;
      builder.put(line.datapoint.value, line.datapoint.timestamp, rules.now);
    }
  }
  let lines: ReadonlyMap<BulkGroup, number[]> | undefined;
  return {
    groups,
    linesOf(group) {
      // For all at once: every group of a step may have lost its sensor meanwhile.
      lines ??= linesByGroup(step, groups, groupOfRow);
      return lines.get(group) ?? [];
    },
  };
}

function linesByGroup(
  step: BulkStep,
  groups: readonly BulkGroup[],
  groupOfRow: Int32Array,
): ReadonlyMap<BulkGroup, number[]> {
  const lines = groups.map((): number[] => []);
  for (let row = 0; row < step.count; row += 1) {
    lines[groupOfRow[row] ?? refused]?.push(step.lineAt(row));
  }
  return new Map(groups.map((group, index) => [group, lines[index] ?? []]));
}

/** The group of each row, or `refused`; counts them. */
function findGroups(step: BulkStep, places: Places, rules: StepRules): Int32Array {
  const ofSensor: (Place | undefined)[] = new Array(step.sensors.length).fill(undefined);
  const groupOfRow = new Int32Array(step.count).fill(refused);
  const latest = latestTaken(rules.now);
  for (let row = 0; row < step.count; row += 1) {
    const at = step.placeAt(row);
    const line = at < 0 ? step.others[-1 - at] : undefined;
    if (line !== undefined) {
      groupOfRow[row] = groupOfLine(line, places, rules);
      continue;
    }
    const sensor = step.sensors[at];
    if (sensor === undefined) continue;
    const place = ofSensor[at] ?? places.of(sensor);
    ofSensor[at] = place;
    // Nothing in columns is too large: a value may have 1,024 bytes at least.
    const timestamp = step.timestampAt(row);
    if ('refusal' in place || timestamp > latest) {
      const refusal =
        'refusal' in place
          ? place.refusal
          : withoutStackTraces(() => aheadOfClock(rules.now, '', timestamp));
      if (refusal !== undefined) {
        rules.refuse({ line: step.lineAt(row), refusal, sensor }, () =>
          timestamp > latest ? formatTimestamp(timestamp) : textOf(step, row),
        );
      }
    } else {
      place.count += 1;
      groupOfRow[row] = place.index;
    }
  }
  return groupOfRow;
}

const textOf = (step: BulkStep, row: number): string =>
  step.textAt(row) ?? String(step.numberAt(row));

function groupOfLine(line: BulkRow, places: Places, rules: StepRules): number {
  if ('refusal' in line) {
    rules.refuse(line);
    return refused;
  }
  const place = places.of(line.sensor);
  const refusal = 'refusal' in place ? place.refusal : refusalOf(line.datapoint, rules);
  if (refusal !== undefined || 'refusal' in place) {
    if (refusal !== undefined) {
      const { datapoint, sensor } = line;
      rules.refuse({ line: line.line, refusal, sensor }, () => excerptOf(datapoint, refusal));
    }
    return refused;
  }
  place.count += 1;
  return place.index;
}

function refusalOf(
  datapoint: Extract<BulkRow, { datapoint: unknown }>['datapoint'],
  { now, actor, valueBytesMax }: StepRules,
): DomainError | undefined {
  if (isAhead(datapoint, now)) return aheadOfClock(now, '', datapoint.timestamp);
  const isLarge = isTooLarge(actor, datapoint.value, valueBytesMax);
  return isLarge ? valueTooLarge(valueBytesMax, '') : undefined;
}

type Places = ReturnType<typeof createPlaces>;

/** The groups of a step, each made when the first line of its sensor asks for it. */
function createPlaces(gates: Gates) {
  const byDevice = new Map<DeviceId, Map<SensorId, Place>>();
  const all: Extract<Place, { index: number }>[] = [];

  function make(sensor: SensorRef): Place {
    const { deviceId, sensorId } = sensor;
    const gate = gates.get(deviceId);
    if (gate?.kind === 'closed') return { refusal: gate.refusal };
    if (gate?.sensors.has(sensorId) !== true) return { refusal: noSensor(deviceId, sensorId) };
    const place = { index: all.length, sensor, owner: gate.owner, count: 0 };
    all.push(place);
    return place;
  }

  return {
    all,
    of(sensor: SensorRef): Place {
      let ofDevice = byDevice.get(sensor.deviceId);
      if (ofDevice === undefined) {
        ofDevice = new Map();
        byDevice.set(sensor.deviceId, ofDevice);
      }
      let place = ofDevice.get(sensor.sensorId);
      if (place === undefined) {
        place = make(sensor);
        ofDevice.set(sensor.sensorId, place);
      }
      return place;
    },
  };
}
