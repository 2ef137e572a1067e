import type { Instant } from '../../../lib/clock.ts';
import { createLruCache } from '../../../lib/lru-cache.ts';
import type { CorrectionId, DeviceId, SensorId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import { withReceipts } from '../column-batch.ts';
import type { SensorRef } from '../datapoint.ts';
import type { Push } from '../datapoint-store.ts';
import { type Correction, type Reach, receivedOutside } from './correction.ts';
import type { CorrectedSensor, CorrectionStore } from './correction-store.ts';
import { createOverlay, type Overlay } from './overlay.ts';

/** What is pushed to a sensor meanwhile is received after this time. */
export interface Hold {
  /** Resolves when what was on its way before is stored. */
  readonly settled: Promise<void>;
  release(): void;
}

/**
 * The corrections of an engine, with what reads and pushes need to know of them at once: which
 * sensors have any, and until when these reach.
 */
export interface CorrectionBook extends Omit<CorrectionStore, 'reaches'> {
  /** Datapoints of the sensor that arrive from now on are received after `until`. */
  hold(sensor: SensorRef, until: Instant): Hold;
  /** Undefined, at once, for a sensor without corrections. */
  overlayOf(sensor: SensorRef): Promise<Overlay> | undefined;
  /** The sensors of a device that have corrections. */
  correctedSensors(deviceId: DeviceId): readonly SensorId[];
  /** The pushes, their datapoints received when no correction reaches them. */
  outsideReach(batch: readonly Push[]): readonly Push[];
  /** Calls a write, which `hold` waits for. */
  during<Result>(write: () => Promise<Result>): Promise<Result>;
  /** Reads anew what there is of a sensor: retention took datapoints, and corrections with them. */
  refresh(sensor: SensorRef): Promise<void>;
  /** Drops what is known of a removed sensor, or of all sensors of a removed device. */
  forget(deviceId: DeviceId, sensorId?: SensorId): void;
}

/** What is always known of a sensor with corrections. */
interface Known {
  reaches: readonly Reach[];
  /** Corrections that are being made. */
  held: readonly Reach[];
  /** Grows with every change, so that what was loaded before is told apart. */
  version: number;
}

/** `initial` are the reaches that the store has at the start. */
export function createCorrectionBook(
  store: CorrectionStore,
  initial: readonly CorrectedSensor[] = [],
): CorrectionBook {
  const devices = new Map<DeviceId, Map<SensorId, Known>>();
  const overlays = createLruCache<Known, Overlay>(limits.overlaysMax, {
    max: limits.overlayBytesMax,
    weigh: weightOf,
  });
  const underWay = new Set<Promise<unknown>>();

  const find = ({ deviceId, sensorId }: SensorRef): Known | undefined =>
    devices.get(deviceId)?.get(sensorId);

  function knownOf({ deviceId, sensorId }: SensorRef): Known {
    const sensors = devices.get(deviceId) ?? new Map<SensorId, Known>();
    devices.set(deviceId, sensors);
    const known = sensors.get(sensorId) ?? { reaches: [], held: [], version: 0 };
    sensors.set(sensorId, known);
    return known;
  }

  function dropIfEmpty(sensor: SensorRef, known: Known): void {
    if (known.reaches.length > 0 || known.held.length > 0 || find(sensor) !== known) return;
    const sensors = devices.get(sensor.deviceId);
    sensors?.delete(sensor.sensorId);
    if (sensors?.size === 0) devices.delete(sensor.deviceId);
  }

  for (const sensor of initial) {
    const known = knownOf(sensor);
    known.reaches = joined([...known.reaches, sensor.reach]);
  }

  async function load(sensor: SensorRef, known: Known): Promise<Overlay> {
    const { version } = known;
    const overlay = createOverlay(await store.list(sensor));
    if (known.version === version && find(sensor) === known) overlays.set(known, overlay);
    return overlay;
  }

  /** After a change, or one of which nobody knows whether it was made. */
  async function reload(sensor: SensorRef): Promise<void> {
    const known = knownOf(sensor);
    known.version += 1;
    overlays.delete(known);
    const { version } = known;
    const corrections = await store.list(sensor);
    if (known.version !== version || find(sensor) !== known) return;
    known.reaches = corrections.length === 0 ? [] : joined(corrections.map(({ reach }) => reach));
    dropIfEmpty(sensor, known);
  }

  async function changing<Outcome>(
    sensor: SensorRef,
    write: () => Promise<Outcome>,
  ): Promise<Outcome> {
    try {
      return await write();
    } finally {
      // When it fails, reads ask the store again, and fail as long as it does.
      await reload(sensor).catch(ignore);
    }
  }

  return {
    list: store.list,
    insert(correction: Correction) {
      // First: whatever becomes of the write, reads look for it from now on.
      const known = knownOf(correction);
      known.reaches = joined([...known.reaches, correction.reach]);
      return changing(correction, () => store.insert(correction));
    },
    remove: (sensor, id: CorrectionId) => changing(sensor, () => store.remove(sensor, id)),
    hold(sensor, until) {
      const known = knownOf(sensor);
      const reach: Reach = { until };
      known.held = [...known.held, reach];
      return {
        settled: Promise.allSettled([...underWay]).then(() => undefined),
        release() {
          known.held = known.held.filter((one) => one !== reach);
          dropIfEmpty(sensor, known);
        },
      };
    },
    overlayOf(sensor) {
      if (devices.size === 0) return undefined;
      const known = find(sensor);
      if (known === undefined || known.reaches.length === 0) return undefined;
      const overlay = overlays.get(known);
      return overlay === undefined ? load(sensor, known) : Promise.resolve(overlay);
    },
    correctedSensors(deviceId) {
      const sensors = devices.get(deviceId);
      if (sensors === undefined) return [];
      return [...sensors].flatMap(([id, { reaches }]) => (reaches.length > 0 ? [id] : []));
    },
    outsideReach(batch) {
      if (devices.size === 0) return batch;
      return batch.map((push) => {
        const known = find(push);
        return known === undefined ? push : moved(push, [...known.reaches, ...known.held]);
      });
    },
    during(write) {
      const running = write();
      const over = running.then(ignore, ignore).then(() => void underWay.delete(over));
      underWay.add(over);
      return running;
    },
    refresh: reload,
    forget(deviceId, sensorId) {
      const sensors = devices.get(deviceId);
      for (const [id, known] of sensors ?? []) {
        if (sensorId !== undefined && sensorId !== id) continue;
        known.version += 1;
        overlays.delete(known);
        sensors?.delete(id);
      }
      if (sensors?.size === 0) devices.delete(deviceId);
    },
  };
}

const ignore = (): void => undefined;

/** What many corrections reach, in as few parts as they have: one, if no clock ran ahead. */
function joined(reaches: readonly Reach[]): readonly Reach[] {
  if (reaches.length === 0) return [];
  const until = reaches.reduce((max, reach) => Math.max(max, reach.until), -Infinity);
  const ahead = reaches.filter((reach) => (reach.ahead?.[1] ?? -Infinity) > until);
  return [{ until }, ...ahead];
}

function moved(push: Push, reaches: readonly Reach[]): Push {
  if (reaches.length === 0) return push;
  const { batch } = push;
  const received = batch.received.map((receivedAt) => receivedOutside(reaches, receivedAt));
  const isMoved = received.some((receivedAt, row) => receivedAt !== batch.received[row]);
  return isMoved ? { ...push, batch: withReceipts(batch, received) } : push;
}

const correctionBytes = 512;
const itemBytes = 160;

/** About what an overlay takes in memory. */
function weightOf({ corrections }: Overlay): number {
  let bytes = 0;
  for (const { items, value } of corrections) {
    bytes += correctionBytes + itemBytes * items.length;
    for (const item of items) bytes += textLength(item.value);
    if (value !== undefined) bytes += textLength(value);
  }
  return bytes;
}

const textLength = (value: Correction['value']): number =>
  typeof value === 'number' ? 0 : 2 * JSON.stringify(value).length;
