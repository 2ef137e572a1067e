import { createLruCache } from '../../../lib/cache.ts';
import type { Instant } from '../../../lib/clock.ts';
import { createFairSlices, type Pace } from '../../../lib/scheduling/fair-slices.ts';
import { isJsonWithin } from '../../devices/device.ts';
import type { CorrectionId, DeviceId, SensorId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import { withReceipts } from '../column-batch.ts';
import type { Datapoint, SensorRef } from '../datapoint.ts';
import { timeIn } from '../datapoint-columns.ts';
import {
  type BriefLastValues,
  type DatapointStore,
  following,
  type LastValues,
  type Page,
  type Push,
  readDatapoints,
  type SummarisedStep,
  type SummariseOptions,
} from '../datapoint-store.ts';
import { isStretchRun, type Stretches } from '../stretches.ts';
import {
  type CorrectedSensor,
  type Correction,
  type CorrectionStore,
  type Reach,
  receivedOutside,
} from './correction.ts';
import {
  type CorrectedRead,
  createOverlay,
  createPages,
  loadOverlay,
  type Overlay,
  rowsAtOnce,
} from './overlay.ts';

/**
 * The corrections of an engine, with what reads and pushes need to know of them at once: which
 * sensors have any, and until when these reach.
 */
export type CorrectionBook = ReturnType<typeof createCorrectionBook>;

/** State that is always in memory for a sensor with corrections. */
interface Known {
  reaches: readonly Reach[];
  /** Corrections that are being made. */
  held: readonly Reach[];
  /** New with every change, so that what was loaded before is recognized. */
  version: number;
  /** The corrections of this version, while they are loaded: once for all who wait for them. */
  loading?: Promise<Overlay> | undefined;
}

/** The sensors that have corrections, or are about to. */
function createKnownSensors() {
  const devices = new Map<DeviceId, Map<SensorId, Known>>();
  const find = ({ deviceId, sensorId }: SensorRef): Known | undefined =>
    devices.get(deviceId)?.get(sensorId);

  return {
    devices,
    find,
    /** Finds the state of a sensor that has corrections. */
    corrected(sensor: SensorRef): Known | undefined {
      if (devices.size === 0) return undefined;
      const known = find(sensor);
      return known === undefined || known.reaches.length === 0 ? undefined : known;
    },
    knownOf({ deviceId, sensorId }: SensorRef): Known {
      const ofDevice = devices.get(deviceId) ?? new Map<SensorId, Known>();
      devices.set(deviceId, ofDevice);
      const known = ofDevice.get(sensorId) ?? { reaches: [], held: [], version: 0 };
      ofDevice.set(sensorId, known);
      return known;
    },
    dropIfEmpty(sensor: SensorRef, known: Known): void {
      if (known.reaches.length > 0 || known.held.length > 0 || find(sensor) !== known) return;
      const ofDevice = devices.get(sensor.deviceId);
      ofDevice?.delete(sensor.sensorId);
      if (ofDevice?.size === 0) devices.delete(sensor.deviceId);
    },
  };
}

/** `initial` are the reaches that the store has at the start. */
export function createCorrectionBook(
  store: CorrectionStore,
  initial: readonly CorrectedSensor[] = [],
) {
  const sensors = createKnownSensors();
  const { devices, find, knownOf, corrected } = sensors;
  const overlays = createLruCache<Known, Overlay>(limits.overlaysMax, {
    max: limits.overlayBytesMax,
    weigh: ({ bytes }) => bytes,
  });
  const turns = createFairSlices({ turnMs: limits.turnMs });
  const underWay = new Set<Promise<unknown>>();

  for (const sensor of initial) {
    const known = knownOf(sensor);
    known.reaches = joined([...known.reaches, sensor.reach]);
  }

  async function loadAnew(sensor: SensorRef, known: Known): Promise<Overlay> {
    const { version } = known;
    const pace = turns.paceOf(sensor.deviceId);
    try {
      const overlay = await loadOverlay(await store.list(sensor, pace), pace);
      if (known.version === version && find(sensor) === known) overlays.set(known, overlay);
      return overlay;
    } finally {
      if (known.version === version) known.loading = undefined;
    }
  }

  /** After a change that was or may be made: the next reader reads values that are not known. */
  async function reload(sensor: SensorRef, now?: Overlay): Promise<void> {
    const known = knownOf(sensor);
    known.version += 1;
    known.loading = undefined;
    if (now === undefined) overlays.delete(known);
    else overlays.set(known, now);
    const { version } = known;
    const heads = await store.heads(sensor);
    if (known.version !== version || find(sensor) !== known) return;
    known.reaches = heads.length === 0 ? [] : joined(heads.map(({ reach }) => reach));
    sensors.dropIfEmpty(sensor, known);
  }

  /** `change` makes of the corrections that were at hand what they are after the write. */
  async function changing<Outcome>(
    sensor: SensorRef,
    write: () => Promise<Outcome>,
    change: (corrections: readonly Correction[], outcome: Outcome) => readonly Correction[],
  ): Promise<Outcome> {
    const known = knownOf(sensor);
    const { version } = known;
    const before = overlays.get(known);
    let now: Overlay | undefined;
    try {
      const outcome = await write();
      const isSame = known.version === version && find(sensor) === known;
      if (isSame && before) now = createOverlay(change(before.corrections, outcome));
      return outcome;
    } finally {
      // When it fails, reads ask the store again, and fail as long as it does.
      await reload(sensor, now).catch(ignore);
    }
  }

  return {
    heads: store.heads,
    list: store.list,
    insert(correction: Correction) {
      // First: whatever becomes of the write, reads check for it from now on.
      const known = knownOf(correction);
      known.reaches = joined([...known.reaches, correction.reach]);
      return changing(
        correction,
        () => store.insert(correction),
        (before, outcome) => (outcome === 'inserted' ? [...before, correction] : before),
      );
    },
    remove: (sensor: SensorRef, id: CorrectionId) =>
      changing(
        sensor,
        () => store.remove(sensor, id),
        (before) => before.filter((one) => one.id !== id),
      ),
    /** Datapoints of the sensor that arrive until the release are received after `until`. */
    hold(sensor: SensorRef, until: Instant) {
      const known = knownOf(sensor);
      const reach: Reach = { until };
      known.held = [...known.held, reach];
      return {
        /** Resolves when what was on its way before is stored. */
        settled: Promise.allSettled([...underWay]).then(() => undefined),
        release(): void {
          known.held = known.held.filter((one) => one !== reach);
          sensors.dropIfEmpty(sensor, known);
        },
      };
    },
    isCorrected: (sensor: SensorRef): boolean => corrected(sensor) !== undefined,
    /** Undefined, at once, for a sensor without corrections. */
    overlayOf(sensor: SensorRef): Promise<Overlay> | undefined {
      const known = corrected(sensor);
      if (known === undefined) return undefined;
      const overlay = overlays.get(known);
      if (overlay !== undefined) return Promise.resolve(overlay);
      known.loading ??= loadAnew(sensor, known);
      return known.loading;
    },
    /** The sensors of a device that have corrections. */
    correctedSensors(deviceId: DeviceId): readonly SensorId[] {
      const ofDevice = devices.get(deviceId);
      if (ofDevice === undefined) return [];
      return [...ofDevice].flatMap(([id, { reaches }]) => (reaches.length > 0 ? [id] : []));
    },
    /** The pushes, their datapoints received when no correction reaches them. */
    outsideReach(batch: readonly Push[]): readonly Push[] {
      if (devices.size === 0) return batch;
      return batch.map((push) => {
        const known = find(push);
        return known === undefined ? push : moved(push, [...known.reaches, ...known.held]);
      });
    },
    /** Calls a write, which `hold` waits for. */
    during<Result>(write: () => Promise<Result>): Promise<Result> {
      const running = write();
      const over = running.then(ignore, ignore).then(() => void underWay.delete(over));
      underWay.add(over);
      return running;
    },
    /** Reads anew what there is of a sensor: retention took datapoints, with their corrections. */
    refresh: (sensor: SensorRef): Promise<void> => reload(sensor),
    /** The same for all sensors: other processes may have changed any. */
    async refreshAll(): Promise<void> {
      const known = [...devices].flatMap(([deviceId, ofDevice]) =>
        [...ofDevice.keys()].map((sensorId) => ({ deviceId, sensorId })),
      );
      for (const sensor of [...known, ...(await store.reaches())]) await reload(sensor);
    },
    /** Drops what is known of a removed sensor, or of all sensors of a removed device. */
    forget(deviceId: DeviceId, sensorId?: SensorId) {
      const ofDevice = devices.get(deviceId);
      for (const [id, known] of ofDevice ?? []) {
        if (sensorId !== undefined && sensorId !== id) continue;
        overlays.delete(known);
        ofDevice?.delete(id);
      }
      if (ofDevice?.size === 0) devices.delete(deviceId);
    },
  };
}

const ignore = (): void => undefined;

/** Joins the reaches of many corrections into few parts: one, if no clock ran ahead. */
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

/**
 * Datapoints as their corrections show them, on top of those that were pushed [contract 10]. A
 * sensor without corrections costs one lookup in a map.
 */
export function createCorrectedDatapoints(
  pushed: DatapointStore,
  book: CorrectionBook,
): DatapointStore {
  const pages = createPages(pushed);
  const turns = createFairSlices({ turnMs: limits.turnMs });
  const paceFor = ({ deviceId }: SensorRef): Pace => turns.paceOf(deviceId);

  /** `values` with what corrections make of them. */
  async function overLasts<Last>(
    devices: readonly DeviceId[],
    values: ReadonlyMap<DeviceId, ReadonlyMap<SensorId, Last>>,
    shown: (datapoint: Datapoint) => Last,
  ): Promise<ReadonlyMap<DeviceId, ReadonlyMap<SensorId, Last>>> {
    let result: Map<DeviceId, ReadonlyMap<SensorId, Last>> | undefined;
    // Of a thousand devices each may have a thousand sensors with corrections.
    let pace: Pace | undefined;
    for (const deviceId of devices) {
      const pushedLasts = values.get(deviceId);
      if (pushedLasts === undefined) continue;
      const corrected = book.correctedSensors(deviceId).filter((id) => pushedLasts.has(id));
      if (corrected.length === 0) continue;
      const ofDevice = new Map(pushedLasts);
      pace ??= turns.paceOf(devices[0] ?? '');
      for (const sensorId of corrected) {
        const datapoint = await lastOf({ deviceId, sensorId });
        if (pace.isOver()) await pace.rest();
        if (datapoint === undefined) ofDevice.delete(sensorId);
        else ofDevice.set(sensorId, shown(datapoint));
      }
      result ??= new Map(values);
      if (ofDevice.size === 0) result.delete(deviceId);
      else result.set(deviceId, ofDevice);
    }
    return result ?? values;
  }

  async function lastOf(sensor: SensorRef): Promise<Datapoint | undefined> {
    const [raw, read] = [await pushed.lastValue(sensor), await openRead(sensor)];
    if (raw === undefined || read === undefined) return raw;
    const page = { order: 'desc', skip: 0, limit: 1 } as const;
    return read.overlay.follow(raw).shown ?? (await readDatapoints({ scan }, sensor, page))[0];
  }

  /** Undefined: the sensor has no corrections. */
  async function openRead(sensor: SensorRef): Promise<CorrectedRead | undefined> {
    const overlay = await book.overlayOf(sensor);
    return overlay && { sensor, overlay, pace: paceFor(sensor) };
  }

  const scan: DatapointStore['scan'] = async (sensor, page, charactersMax) => {
    const read = await openRead(sensor);
    if (read === undefined) return pushed.scan(sensor, page, charactersMax);
    return pages.scan(read, page, charactersMax);
  };

  async function scanStep(
    read: CorrectedRead,
    page: Page,
    { rowsMax, charactersMax }: SummariseOptions,
  ): Promise<SummarisedStep> {
    const ascending = { ...page, order: 'asc', limit: Math.min(page.limit, rowsMax) } as const;
    const { columns } = await pages.scan(read, ascending, charactersMax);
    const limit = page.limit - columns.count;
    if (columns.count === 0 || limit === 0) return { parts: [columns] };
    const next = following(ascending, columns.count, (row) => timeIn(columns, row));
    return { parts: [columns], next: { ...next, limit } };
  }

  return {
    ...pushed,
    append: (batch, notesOf) => book.during(() => pushed.append(book.outsideReach(batch), notesOf)),
    scan,
    async summarise(sensor, page, options) {
      const read = await openRead(sensor);
      if (read === undefined) return pushed.summarise(sensor, page, options);
      // Of a page that ends somewhere each datapoint that is left counts.
      if (page.limit !== Infinity) return scanStep(read, page, options);
      const { overlay } = read;
      const rest = await pages.behindGone(read, page);
      const exclude = overlay.parts();
      const rowsMax = Math.min(options.rowsMax, rowsAtOnce(overlay));
      // How many are shown before a stretch is known when those are.
      const mayStand = (stretches: Stretches, at: number) => options.mayStand(stretches, at);
      const step = await pushed.summarise(sensor, rest, { ...options, exclude, rowsMax, mayStand });
      const parts = step.parts.map((part) =>
        isStretchRun(part) ? part : overlay.showColumns(part),
      );
      return { ...step, parts: parts.filter((part) => isStretchRun(part) || part.count > 0) };
    },
    async count(sensor, range) {
      const read = await openRead(sensor);
      return read === undefined ? pushed.count(sensor, range) : pages.count(read, range);
    },
    async lastValues(devices): Promise<LastValues> {
      return overLasts(devices, await pushed.lastValues(devices), (datapoint) => datapoint);
    },
    async briefLastValues(devices): Promise<BriefLastValues> {
      return overLasts<Datapoint | 'large'>(
        devices,
        await pushed.briefLastValues(devices),
        (datapoint) =>
          isJsonWithin(datapoint.value, limits.briefValueCharactersMax) ? datapoint : 'large',
      );
    },
    lastValue: lastOf,
  };
}

/**
 * Makes the store of pushed datapoints, for those who ask for them: where a correction removed a
 * datapoint or put it right, the datapoint says which [contract 10].
 */
export function createPushedDatapoints(
  pushed: DatapointStore,
  book: Pick<CorrectionBook, 'overlayOf'>,
): DatapointStore {
  return {
    ...pushed,
    async scan(sensor, page, charactersMax) {
      const part = await pushed.scan(sensor, page, charactersMax);
      const overlay = await book.overlayOf(sensor);
      return overlay === undefined ? part : { ...part, columns: overlay.markColumns(part.columns) };
    },
  };
}
