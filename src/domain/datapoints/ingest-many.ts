import type { Actor } from '../actor.ts';
import { payerOf } from '../budgets/payer.ts';
import type { StorageRoom } from '../budgets/storage-room.ts';
import { noSensor } from '../devices/devices.ts';
import { isTooLarge, valueTooLarge } from '../devices/value-size.ts';
import { DomainError } from '../errors.ts';
import type { DeviceId, SensorId, Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { type BatchBuilder, createBatchBuilder } from './column-batch.ts';
import type { SensorRef } from './datapoint.ts';
import {
  aheadOfClock,
  countForAddress,
  type IngestOptions,
  isAhead,
  type NewDatapoint,
  requirePushable,
} from './ingest.ts';

/** One line of a bulk request: a datapoint with its sensor, or why it is none. */
export type BulkLine =
  | { readonly line: number; readonly sensor: SensorRef; readonly datapoint: NewDatapoint }
  | { readonly line: number; readonly refusal: DomainError };

export interface RefusedLine {
  readonly line: number;
  readonly refusal: DomainError;
}

export interface BulkReport {
  /** Lines that are on disk, those that had been there before included. */
  readonly stored: number;
  /** The first of them, in the order of lines. */
  readonly refused: readonly RefusedLine[];
  readonly refusedCount: number;
}

/** One bulk request on the ingest path; lines are handed over in their order. */
export interface BulkIngest {
  /**
   * Resolves when the lines are on their way to disk and there is room for more. Throws unavailable
   * when a commit failed; `stored` then says what was kept.
   */
  add(lines: readonly BulkLine[]): Promise<void>;
  /** Resolves when every line is on disk or refused. Throws like add. */
  finish(): Promise<BulkReport>;
  /** Lines on disk so far. */
  readonly stored: number;
}

/**
 * The ingest path for datapoints of many sensors: the rules of `Ingest`, for each line by itself.
 */
export type IngestMany = (actor: Actor) => BulkIngest;

/** What the actor may push to on one device. */
type Gate =
  | {
      readonly kind: 'open';
      readonly owner: Username;
      readonly sensors: ReadonlySet<SensorId>;
    }
  | { readonly kind: 'closed'; readonly refusal: DomainError };

/** The lines of one step that belong to one sensor. */
interface Group {
  readonly sensor: SensorRef;
  readonly lines: number[];
  readonly builder: BatchBuilder;
}

type Gates = ReadonlyMap<DeviceId, Gate>;

export function createIngestMany(
  options: IngestOptions & {
    /** Told of some of the lines that were refused, by their sensor. */
    readonly onRefused?: (actor: Actor, sensor: SensorRef, refusal: DomainError) => void;
  },
): IngestMany {
  const { clock, valueBytesMax } = options;

  return (actor) => {
    const gateOf = createGates(options, actor);
    const payer = payerOf(actor);
    let told = 0;
    const refusals = createRefusals((sensor, refusal) => {
      told += 1;
      if (told <= limits.refusalsPerBulkMax) options.onRefused?.(actor, sensor, refusal);
    });
    let stored = 0;
    let failure: unknown;
    let pending: Promise<unknown> = Promise.resolve();

    async function append(
      { sensor, lines, builder }: Group,
      gate: Gate | undefined,
    ): Promise<void> {
      try {
        const outcome = await options.appender.append({
          ...sensor,
          batch: builder.finish(),
          payer,
        });
        if (actor.kind === 'guest' && gate?.kind === 'open') {
          countForAddress(options.room, actor, gate.owner, outcome);
        }
        if (outcome.kind === 'stored') stored += lines.length;
        else refusals.add(lines, noSensor(sensor.deviceId, sensor.sensorId));
      } catch (reason) {
        failure ??= reason;
      }
    }

    /** Waits for what is on its way; one failed commit ends the request. */
    async function settle(): Promise<void> {
      await pending;
      if (failure !== undefined) throw failure;
    }

    return {
      async add(lines) {
        const gates = withRoom(await gateOf(lines), options.room, actor);
        const now = clock.now();
        const groups = groupLines(lines, refusals, now, (line) =>
          refusalOf(line, { gates, now, actor, valueBytesMax }),
        );
        await settle();
        pending = Promise.all(
          groups.map((group) => append(group, gates.get(group.sensor.deviceId))),
        );
      },
      async finish() {
        await settle();
        return { stored, ...refusals.report() };
      },
      get stored() {
        return stored;
      },
    };
  };
}

/** Asks for the rights on each device once, as long as it remembers. */
function createGates(
  options: IngestOptions,
  actor: Actor,
): (lines: readonly BulkLine[]) => Promise<Gates> {
  const known = new Map<DeviceId, Gate>();

  async function open(deviceId: DeviceId): Promise<Gate> {
    try {
      const device = await requirePushable(options, actor, deviceId);
      const sensors = new Set(device.sensors.map(({ id }) => id));
      return { kind: 'open', owner: device.owner, sensors };
    } catch (reason) {
      const isAboutDevice = reason instanceof DomainError && reason.code !== 'unavailable';
      if (!isAboutDevice) throw reason;
      return { kind: 'closed', refusal: reason };
    }
  }

  return async (lines) => {
    const gates = new Map<DeviceId, Gate>();
    const unknown = new Set<DeviceId>();
    for (const line of lines) {
      if ('refusal' in line || unknown.has(line.sensor.deviceId)) continue;
      const { deviceId, sensorId } = line.sensor;
      const gate = gates.get(deviceId) ?? known.get(deviceId);
      // A sensor that was not there a step ago may have been made since.
      const isNews = gate?.kind === 'open' && !gate.sensors.has(sensorId);
      if (gate === undefined || isNews) unknown.add(deviceId);
      else gates.set(deviceId, gate);
    }
    const opened = await Promise.all([...unknown].map(async (id) => [id, await open(id)] as const));
    if (known.size + opened.length > limits.bulkDevicesMax) known.clear();
    for (const [deviceId, gate] of opened) {
      known.set(deviceId, gate);
      gates.set(deviceId, gate);
    }
    return gates;
  };
}

/** Closes the gates of owners who have no room left: asked in each step. */
function withRoom(gates: Gates, room: StorageRoom, actor: Actor): Gates {
  const asked = new Map<DeviceId, Gate>();
  for (const [deviceId, gate] of gates) asked.set(deviceId, roomFor(gate, room, actor));
  return asked;
}

function roomFor(gate: Gate, room: StorageRoom, actor: Actor): Gate {
  if (gate.kind === 'closed') return gate;
  try {
    room.require(actor, gate.owner);
    return gate;
  } catch (reason) {
    if (!(reason instanceof DomainError)) throw reason;
    return { kind: 'closed', refusal: reason };
  }
}

/** Puts lines that may be stored beside others of their sensor, in order; refuses the others. */
function groupLines(
  lines: readonly BulkLine[],
  refusals: Refusals,
  now: number,
  refusalOfLine: (line: BulkLine) => DomainError | undefined,
): readonly Group[] {
  const byDevice = new Map<DeviceId, Map<SensorId, Group>>();
  const groups: Group[] = [];
  for (const line of lines) {
    const refusal = refusalOfLine(line);
    if (refusal !== undefined || 'refusal' in line) {
      refusals.add([line.line], refusal, 'sensor' in line ? line.sensor : undefined);
      continue;
    }
    const { deviceId, sensorId } = line.sensor;
    let ofDevice = byDevice.get(deviceId);
    if (ofDevice === undefined) {
      ofDevice = new Map();
      byDevice.set(deviceId, ofDevice);
    }
    let group = ofDevice.get(sensorId);
    if (group === undefined) {
      group = { sensor: line.sensor, lines: [], builder: createBatchBuilder() };
      ofDevice.set(sensorId, group);
      groups.push(group);
    }
    group.lines.push(line.line);
    group.builder.put(line.datapoint.value, line.datapoint.timestamp, now);
  }
  return groups;
}

function refusalOf(
  line: BulkLine,
  rules: {
    readonly gates: Gates;
    readonly now: number;
    readonly actor: Actor;
    readonly valueBytesMax: number;
  },
): DomainError | undefined {
  const { gates, now, actor, valueBytesMax } = rules;
  if ('refusal' in line) return line.refusal;
  const { deviceId, sensorId } = line.sensor;
  const gate = gates.get(deviceId);
  if (gate?.kind === 'closed') return gate.refusal;
  if (gate?.sensors.has(sensorId) !== true) return noSensor(deviceId, sensorId);
  if (isAhead(line.datapoint, now)) return aheadOfClock(now, '');
  const isLarge = isTooLarge(actor, line.datapoint.value, valueBytesMax);
  return isLarge ? valueTooLarge(valueBytesMax, '') : undefined;
}

interface Refusals {
  add(lines: readonly number[], refusal: DomainError | undefined, sensor?: SensorRef): void;
  report(): Pick<BulkReport, 'refused' | 'refusedCount'>;
}

function createRefusals(onRefused: (sensor: SensorRef, refusal: DomainError) => void): Refusals {
  const refused: RefusedLine[] = [];
  let refusedCount = 0;
  return {
    add(lines, refusal, sensor) {
      if (sensor !== undefined && refusal !== undefined) onRefused(sensor, refusal);
      refusedCount += lines.length;
      for (const line of lines) {
        if (refusal === undefined || refused.length >= limits.bulkRefusalsMax) return;
        refused.push({ line, refusal });
      }
    },
    report: () => ({ refused: refused.toSorted((a, b) => a.line - b.line), refusedCount }),
  };
}
