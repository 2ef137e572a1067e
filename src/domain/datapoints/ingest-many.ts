import type { Pace } from '../../lib/scheduling/fair-slices.ts';
import type { Actor } from '../actor.ts';
import { payerOf } from '../budgets/budget.ts';
import type { LongWork } from '../budgets/long-work.ts';
import { deviceResource, noSensor } from '../devices/devices.ts';
import { DomainError, refusalOf } from '../errors.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import {
  type BulkGroup,
  type BulkStep,
  type Gate,
  type Gates,
  groupStep,
  type RefusedLine,
} from './bulk-step.ts';
import type { SensorRef } from './datapoint.ts';
import { appendFor, type IngestOptions, requirePushable } from './ingest.ts';
import type { SeenRefusal } from './refused-pushes.ts';

export interface RefusedRow {
  readonly line: number;
  readonly refusal: DomainError;
}

export interface BulkReport {
  /** Lines that are on disk, those that had been there before included. */
  readonly stored: number;
  /** The first of them, in the order of lines. */
  readonly refused: readonly RefusedRow[];
  readonly refusedCount: number;
}

/** A bulk request on the ingest path; lines are handed over in their order. */
export type BulkIngest = ReturnType<IngestMany>;
/** The ingest path for datapoints of many sensors: the rules of `Ingest`, for each line alone. */
export type IngestMany = ReturnType<typeof createIngestMany>;
/** A refused line, as the owner of its device is to read it. */
type SeenLine = Pick<SeenRefusal, 'deviceId' | 'sensorId' | 'path' | 'sent'>;

export function createIngestMany(
  options: IngestOptions & {
    readonly longWork: Pick<LongWork, 'arriving'>;
    /** Called for some of the lines that were refused. */
    readonly onRefused?: (actor: Actor, line: SeenLine, refusal: DomainError) => void;
  },
) {
  const { clock, valueBytesMax } = options;

  /** `path`: where it was sent, as the owners of devices are to read it. */
  return (actor: Actor, { isImport = false, path }: { isImport?: boolean; path?: string } = {}) => {
    const work = options.longWork.arriving(actor);
    const gateOf = createGates(options, actor, work.pace);
    const payer = payerOf(actor);
    const refused: RefusedRow[] = [];
    let [refusedCount, reported] = [0, 0];
    const refuseAll = (lines: readonly number[], refusal: DomainError): void => {
      refusedCount += lines.length;
      for (const line of lines) {
        if (refused.length < limits.bulkRefusalsMax) refused.push({ line, refusal });
      }
    };
    const refuse = ({ line, sensor, refusal, sent }: RefusedLine, excerpt?: () => string): void => {
      reported += 1;
      if (reported <= limits.refusalsPerBulkMax) {
        const begin = (sent ?? excerpt?.() ?? '').slice(0, 4 * limits.refusedExcerptMax);
        options.onRefused?.(actor, { ...sensor, path, sent: Buffer.from(begin) }, refusal);
      }
      refuseAll([line], refusal);
    };
    let stored = 0;
    let failure: unknown;
    let pending: Promise<unknown> = Promise.resolve();

    async function append(group: BulkGroup, lines: () => number[]): Promise<void> {
      const { deviceId, sensorId } = group.sensor;
      const { owner, isStranger: isByStranger } = group.gate;
      try {
        const batch = group.builder.finish();
        const about = isImport ? { publishContext: { isImport } } : {};
        const push = { deviceId, sensorId, payer, isByStranger, batch, ...about };
        const outcome = await appendFor(options, actor, owner, push);
        if (outcome.kind === 'stored') stored += group.builder.count;
        else refuseAll(lines(), noSensor(deviceId, sensorId));
      } catch (reason) {
        const isFull = reason instanceof DomainError && reason.code === 'storage_full';
        if (isByStranger && isFull) refuseAll(lines(), reason);
        else failure ??= reason;
      }
    }

    /** Waits for what is on its way; one failed commit ends the request. */
    async function settle(): Promise<void> {
      await pending;
      if (failure !== undefined) throw failure;
    }

    return {
      /**
       * Resolves when the lines are on their way to disk and more may come; nothing is put into the
       * step afterwards. Throws unavailable when a commit failed; `stored` then says what was kept.
       */
      async add(step: BulkStep): Promise<void> {
        const { groups, linesOf } = groupStep(step, {
          ...{ gates: await gateOf(step), now: clock.now(), actor, valueBytesMax, refuse },
          fullness: (owner) => refusalOf(() => options.room.require(actor, owner)),
        });
        await settle();
        const appending: Promise<void>[] = [];
        for (const group of groups) {
          appending.push(append(group, () => linesOf(group)));
          if (work.pace.isOver()) await work.pace.rest();
        }
        pending = Promise.all(appending);
      },
      /** Resolves when every line is on disk or refused. Throws like add. */
      async finish(): Promise<BulkReport> {
        await settle();
        return { stored, refused: refused.toSorted((a, b) => a.line - b.line), refusedCount };
      },
      /** Lines on disk so far. */
      get stored() {
        return stored;
      },
      /** The slices of its lines and of their reader. */
      work,
    };
  };
}

/** Devices that are searched for at once. */
const gatesAtOnce = 32;

/** Asks for the rights on each device once, as long as it remembers. */
function createGates(
  options: IngestOptions,
  actor: Actor,
  pace: Pace,
): (step: BulkStep) => Promise<Gates> {
  const known = new Map<DeviceId, Gate>();

  async function open(deviceId: DeviceId): Promise<Gate> {
    try {
      const device = await requirePushable(options, actor, deviceId);
      const sensors = new Set(device.sensors.map(({ id }) => id));
      const isStranger = await options.access.isStranger(actor, deviceResource(device));
      return { kind: 'open', owner: device.owner, isStranger, sensors };
    } catch (reason) {
      const isAboutDevice = reason instanceof DomainError && reason.code !== 'unavailable';
      if (!isAboutDevice) throw reason;
      return { kind: 'closed', refusal: reason };
    }
  }

  /** The gates of many devices; none of them may be there. */
  async function openAll(ids: readonly DeviceId[]) {
    const opened: (readonly [DeviceId, Gate])[] = [];
    for (let at = 0; at < ids.length; at += gatesAtOnce) {
      const some = ids.slice(at, at + gatesAtOnce);
      opened.push(...(await Promise.all(some.map(async (id) => [id, await open(id)] as const))));
      if (pace.isOver()) await pace.rest();
    }
    return opened;
  }

  return async (step) => {
    const gates = new Map<DeviceId, Gate>();
    const unknown = new Set<DeviceId>();
    const look = ({ deviceId, sensorId }: SensorRef): void => {
      if (unknown.has(deviceId)) return;
      const gate = gates.get(deviceId) ?? known.get(deviceId);
      // A sensor that was not there a step ago may have been made since.
      const isNews = gate?.kind === 'open' && !gate.sensors.has(sensorId);
      if (gate === undefined || isNews) unknown.add(deviceId);
      else gates.set(deviceId, gate);
    };
    for (const sensor of step.sensors) look(sensor);
    for (const line of step.others) if (!('refusal' in line)) look(line.sensor);
    const opened = await openAll([...unknown]);
    if (known.size + opened.length > limits.bulkDevicesMax) known.clear();
    for (const [deviceId, gate] of opened) {
      known.set(deviceId, gate);
      gates.set(deviceId, gate);
    }
    return gates;
  };
}
