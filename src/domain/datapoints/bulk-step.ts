import { withoutStackTraces } from '../../lib/stackless.ts';
import type { Actor } from '../actor.ts';
import { isTooLarge, valueTooLarge } from '../devices/device.ts';
import { noSensor } from '../devices/devices.ts';
import type { DomainError } from '../errors.ts';
import type { DeviceId, SensorId, Username } from '../ids.ts';
import { type BatchBuilder, createBatchBuilder } from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import { aheadOfClock, excerptOf, isAhead, latestTaken } from './ingest.ts';
import { NewColumns, type NewDatapoint, putRow } from './new-columns.ts';

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

/**
 * Lines of a bulk request that go to the ingest path together, in their order. Numbers and short
 * texts are put into columns; for any other line there is an object.
 */
export class BulkStep {
  /** The sensors of what is in columns; one may be here more than once. */
  readonly sensors: BulkSensor[] = [];
  /** The lines that are not in columns. */
  readonly others: BulkRow[] = [];
  /** A row for each line; without meaning for `others`. */
  readonly columns = new NewColumns();
  readonly #places: number[] = [];
  readonly #lines: number[] = [];

  /** How many lines there are. */
  get count(): number {
    return this.#lines.length;
  }

  /** Adds a number; timestamp: NaN where there is none. */
  putNumber(line: number, sensor: BulkSensor, value: number, timestamp: number): void {
    this.#begin(line, sensor);
    this.columns.putNumber(value, timestamp);
  }

  /** The same for a value that is no number: its JSON text, of a few hundred bytes at most. */
  putText(line: number, sensor: BulkSensor, text: string, timestamp: number): void {
    this.#begin(line, sensor);
    this.columns.putText(text, timestamp);
  }

  put(line: BulkRow): void {
    this.#places.push(-this.others.push(line));
    this.#lines.push(line.line);
    this.columns.putNumber(0, Number.NaN);
  }

  /** Nothing is put afterwards; the sensors let go of the step. */
  end(): void {
    for (const sensor of this.sensors) sensor.step = undefined;
  }

  /** Where the sensor of a row is in `sensors`; below 0: -1 is the first of `others`, and so on. */
  placeAt(row: number): number {
    return this.#places[row] ?? 0;
  }

  /** The line in a row that is not in columns. */
  otherAt(row: number): BulkRow | undefined {
    const place = this.placeAt(row);
    return place < 0 ? this.others[-1 - place] : undefined;
  }

  lineAt(row: number): number {
    return this.#lines[row] ?? 0;
  }

  #begin(line: number, sensor: BulkSensor): void {
    if (sensor.step !== this) {
      sensor.step = this;
      sensor.place = this.sensors.push(sensor) - 1;
    }
    this.#places.push(sensor.place);
    this.#lines.push(line);
  }
}

/** A step of these lines. */
export function bulkStepOf(lines: Iterable<BulkRow>): BulkStep {
  const step = new BulkStep();
  for (const line of lines) step.put(line);
  return step;
}

/** The lines of a step, each as an object. */
export const rowsOf = (step: BulkStep): readonly BulkRow[] =>
  Array.from({ length: step.count }, (_, row): BulkRow => {
    const line = step.lineAt(row);
    // A line that is none of the others is in columns, with its sensor.
    const sensor = step.sensors[step.placeAt(row)] as BulkSensor;
    return step.otherAt(row) ?? { line, sensor, datapoint: datapointIn(step, row) };
  });

/** The actor's access to one device: the sensors to push to, or the refusal. */
export type Gate = OpenGate | { readonly kind: 'closed'; readonly refusal: DomainError };

interface OpenGate {
  readonly kind: 'open';
  readonly owner: Username;
  /** The actor may push to it only because it is public. */
  readonly isStranger: boolean;
  readonly sensors: ReadonlySet<SensorId>;
}

export type Gates = ReadonlyMap<DeviceId, Gate>;

/** The lines of one step that belong to one sensor and may be stored, in their order. */
export interface BulkGroup {
  readonly sensor: SensorRef;
  readonly gate: OpenGate;
  readonly builder: BatchBuilder;
}

/** A group before its rows are counted, or why none of its lines may be stored. */
type Place = { readonly sensor: SensorRef; count: number } & (
  | { readonly index: number; readonly gate: OpenGate; readonly refusal?: undefined }
  | { readonly index: typeof refused; readonly refusal: DomainError }
);

interface StepRules {
  readonly gates: Gates;
  /** The refusal of what is stored for an owner whose quota is used up. */
  readonly fullness: (owner: Username) => DomainError | undefined;
  readonly now: number;
  readonly actor: Actor;
  readonly valueBytesMax: number;
  readonly refuse: (refused: RefusedLine, excerpt?: () => string) => void;
}

const refused = -1;

/**
 * Puts lines that may be stored beside others of their sensor, in order; refuses the others.
 * `groups` are in the order of their first lines; `linesOf` has the numbers of the lines in one.
 */
export function groupStep(step: BulkStep, rules: StepRules) {
  const places = createPlaces(rules);
  const groupOfRow = withoutStackTraces(() => findGroups(step, places, rules));
  const groups = places.groups.map(
    ({ sensor, gate, count }): BulkGroup => ({ sensor, gate, builder: createBatchBuilder(count) }),
  );
  for (let row = 0; row < step.count; row += 1) {
    const builder = groups[groupOfRow[row] ?? refused]?.builder;
    if (builder === undefined) continue;
    if (step.placeAt(row) >= 0) putRow(builder, step.columns, row, rules.now);
    else putRow(builder, [datapointIn(step, row)], 0, rules.now);
  }
  let lines: ReadonlyMap<BulkGroup, number[]> | undefined;
  return {
    groups: groups as readonly BulkGroup[],
    linesOf(group: BulkGroup): number[] {
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
    const line = step.otherAt(row);
    if (line !== undefined && 'refusal' in line) {
      rules.refuse(line);
      continue;
    }
    const at = step.placeAt(row);
    const sensor = line?.sensor ?? step.sensors[at];
    if (sensor === undefined) continue;
    const place = (line === undefined ? ofSensor[at] : undefined) ?? places.of(sensor);
    if (line === undefined) ofSensor[at] = place;
    // Nothing in columns is too large: a value may have 1,024 bytes at least.
    const isRead = line === undefined && (step.columns.timestampAt(row) ?? rules.now) <= latest;
    const refusal =
      place.refusal ?? (isRead ? undefined : refusalOf(datapointIn(step, row), rules));
    if (refusal === undefined) {
      place.count += 1;
      groupOfRow[row] = place.index;
    } else {
      const excerpt = () => excerptOf(datapointIn(step, row), refusal);
      rules.refuse({ line: step.lineAt(row), refusal, sensor }, excerpt);
    }
  }
  return groupOfRow;
}

/** The datapoint in a row that has one. */
function datapointIn(step: BulkStep, row: number): NewDatapoint {
  const line = step.otherAt(row);
  if (line !== undefined && 'datapoint' in line) return line.datapoint;
  return step.columns.at(row) as NewDatapoint;
}

function refusalOf(
  datapoint: NewDatapoint,
  { now, actor, valueBytesMax }: StepRules,
): DomainError | undefined {
  if (isAhead(datapoint, now)) return aheadOfClock(now, '', datapoint.timestamp);
  const isLarge = isTooLarge(actor, datapoint.value, valueBytesMax);
  return isLarge ? valueTooLarge(valueBytesMax, '') : undefined;
}

type Places = ReturnType<typeof createPlaces>;

/** The groups of a step, each made when the first line of its sensor asks for it. */
function createPlaces({ gates, fullness }: StepRules) {
  const byDevice = new Map<DeviceId, Map<SensorId, Place>>();
  const groups: Extract<Place, { gate: unknown }>[] = [];
  /** Of each owner asked for once: a refusal counts, and an owner may have thousands of sensors. */
  const fullOwners = new Map<Username, DomainError | undefined>();

  function fullnessOf({ owner }: OpenGate): DomainError | undefined {
    if (!fullOwners.has(owner)) fullOwners.set(owner, fullness(owner));
    return fullOwners.get(owner);
  }

  function make(sensor: SensorRef): Place {
    const { deviceId, sensorId } = sensor;
    const gate = gates.get(deviceId);
    const closed = gate?.kind === 'open' ? fullnessOf(gate) : gate?.refusal;
    if (closed !== undefined || gate?.kind !== 'open' || !gate.sensors.has(sensorId)) {
      return { index: refused, sensor, refusal: closed ?? noSensor(deviceId, sensorId), count: 0 };
    }
    const place = { index: groups.length, sensor, gate, count: 0 };
    groups.push(place);
    return place;
  }

  return {
    groups,
    of(sensor: SensorRef): Place {
      const { deviceId, sensorId } = sensor;
      const ofDevice = byDevice.get(deviceId) ?? new Map<SensorId, Place>();
      byDevice.set(deviceId, ofDevice);
      const place = ofDevice.get(sensorId) ?? make(sensor);
      ofDevice.set(sensorId, place);
      return place;
    },
  };
}
