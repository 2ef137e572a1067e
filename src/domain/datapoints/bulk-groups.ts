import { withoutStackTraces } from '../../lib/stackless.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import type { Actor } from '../actor.ts';
import { noSensor } from '../devices/devices.ts';
import { isTooLarge, valueTooLarge } from '../devices/value-size.ts';
import type { DomainError } from '../errors.ts';
import type { DeviceId, SensorId, Username } from '../ids.ts';
import type { BulkRow, BulkStep, RefusedLine } from './bulk-step.ts';
import { type BatchBuilder, createBatchBuilder } from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import { aheadOfClock, excerptOf, isAhead, latestTaken } from './ingest.ts';

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

export interface GroupedStep {
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
