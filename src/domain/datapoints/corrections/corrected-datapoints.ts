import { createLruCache } from '../../../lib/cache.ts';
import { sameJson, writeJson } from '../../../lib/long-json.ts';
import { createFairSlices, type Pace } from '../../../lib/scheduling/fair-slices.ts';
import { isJsonWithin } from '../../devices/value-size.ts';
import type { DeviceId, SensorId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import type { Datapoint, SensorRef } from '../datapoint.ts';
import { datapointsOf, timeIn, toDatapointColumns } from '../datapoint-columns.ts';
import {
  type BriefLastValues,
  type DatapointStore,
  following,
  type LastValues,
  type Page,
  type SummarisedStep,
  type SummariseOptions,
} from '../datapoint-store.ts';
import { isStretchRun, type Stretches } from '../stretches.ts';
import type { CorrectionBook } from './correction-book.ts';
import { type CorrectedRead, createPages, type Pages, rangeOf, rowsAtOnce } from './overlay.ts';

/**
 * Datapoints as their corrections show them, on top of those that were pushed [contract 10]. A
 * sensor without corrections costs one lookup in a map.
 */
export function createCorrectedDatapoints(
  pushed: DatapointStore,
  book: CorrectionBook,
): DatapointStore {
  const pages = createPages(pushed);
  const last = createCorrectedLast(pages);
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
    const version = book.versionOf(sensor);
    const raw = await pushed.lastValue(sensor);
    if (version === undefined || raw === undefined) return raw;
    const known = last.known(sensor, version, raw);
    if (known !== undefined) return known.shown;
    const read = await openRead(sensor);
    return read === undefined ? raw : last.find(read, version, raw);
  }

  /** Undefined: the sensor has no corrections. */
  async function openRead(sensor: SensorRef): Promise<CorrectedRead | undefined> {
    const overlay = await book.overlayOf(sensor);
    return overlay && { sensor, overlay, pace: paceFor(sensor) };
  }

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
    ...(pushed.readyForLong && { readyForLong: () => pushed.readyForLong?.() ?? settled }),
    append: (batch, notesOf) =>
      book.during(async () => {
        const outcomes = await pushed.append(book.outsideReach(batch), notesOf);
        last.forget(batch);
        return outcomes;
      }),
    async scan(sensor, page, charactersMax) {
      const read = await openRead(sensor);
      if (read === undefined) return pushed.scan(sensor, page, charactersMax);
      return pages.scan(read, page, charactersMax);
    },
    async summarise(sensor, page, options) {
      const read = await openRead(sensor);
      if (read === undefined) return pushed.summarise(sensor, page, options);
      // Of a page that ends somewhere each datapoint that is left counts.
      if (page.limit !== Infinity) return scanStep(read, page, options);
      const { overlay } = read;
      const exclude = [...(options.exclude ?? []), ...overlay.corrections.map(rangeOf)];
      const rowsMax = Math.min(options.rowsMax, rowsAtOnce(overlay));
      // How many are shown before a stretch is known when those are.
      const mayStand = (stretches: Stretches, at: number) => options.mayStand(stretches, at);
      const step = await pushed.summarise(sensor, page, { ...options, exclude, rowsMax, mayStand });
      const parts = step.parts.map((part) =>
        isStretchRun(part) ? part : overlay.showColumns(part),
      );
      return { ...step, parts: parts.filter((part) => isStretchRun(part) || part.count > 0) };
    },
    async count(sensor, range) {
      const read = await openRead(sensor);
      if (read === undefined) return pushed.count(sensor, range);
      return (await pushed.count(sensor, range)) - (await pages.lacking(read, range));
    },
    standsFrom: (sensors, range) => pushed.standsFrom(sensors, range),
    hours: (sensor, range, max) => pushed.hours(sensor, range, max),
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

const settled = Promise.resolve();

/**
 * Makes the store of pushed datapoints, for those who ask for them: where a correction removed a
 * datapoint or put it right, the datapoint says which [contract 10].
 */
export function createPushedDatapoints(
  pushed: DatapointStore,
  book: Pick<CorrectionBook, 'overlayOf'>,
): DatapointStore {
  const turns = createFairSlices({ turnMs: limits.turnMs });

  return {
    ...pushed,
    async scan(sensor, page, charactersMax) {
      const part = await pushed.scan(sensor, page, charactersMax);
      const overlay = await book.overlayOf(sensor);
      if (overlay === undefined) return part;
      const pace = turns.paceOf(sensor.deviceId);
      const marked: Datapoint[] = [];
      for (const datapoint of datapointsOf(part.columns)) {
        const correction = overlay.touching(datapoint);
        marked.push(correction === undefined ? datapoint : { ...datapoint, correction });
        if (marked.length % markedPerLook === 0 && pace.isOver()) await pace.rest();
      }
      return { ...part, columns: toDatapointColumns(marked) };
    },
  };
}

/** Datapoints between two checks of the clock. */
const markedPerLook = 64;

interface Found {
  /** Of the corrections that it was found with. */
  readonly version: number;
  readonly raw: Datapoint;
  readonly shown: Datapoint | undefined;
}

/**
 * Last values of sensors with corrections, as they are shown. What was found is remembered: lists
 * that ask for it again need no correction.
 */
function createCorrectedLast(pages: Pages) {
  // A removed one is found by reading back from the end.
  const cache = createLruCache<string, Found>(limits.overlaysMax, {
    max: limits.overlayBytesMax,
    weigh: ({ raw, shown }) => 256 + sizeOf(raw) + (shown === raw ? 0 : sizeOf(shown)),
  });
  const keyOf = ({ deviceId, sensorId }: SensorRef): string => `${deviceId}/${sensorId}`;

  async function newest(read: CorrectedRead): Promise<Datapoint | undefined> {
    const page = { order: 'desc', skip: 0, limit: 1 } as const;
    const { columns } = await pages.scan(read, page, Infinity);
    return columns.count === 0 ? undefined : columns.at(0);
  }

  return {
    /** Finds the remembered last value of the sensor, where `raw` was pushed last. */
    known(
      sensor: SensorRef,
      version: number,
      raw: Datapoint,
    ): { readonly shown: Datapoint | undefined } | undefined {
      const found = cache.get(keyOf(sensor));
      return found?.version === version && isSame(found.raw, raw) ? found : undefined;
    },
    /** Finds the last value to show, where `raw` was pushed last; `version` is known before. */
    async find(
      read: CorrectedRead,
      version: number,
      raw: Datapoint,
    ): Promise<Datapoint | undefined> {
      const key = keyOf(read.sensor);
      const looking: Found = { version: noVersion, raw, shown: raw };
      cache.set(key, looking);
      const shown = read.overlay.show(raw) ?? (await newest(read));
      // A push during the search has taken this out.
      if (cache.get(key) === looking) cache.set(key, { version, raw, shown });
      return shown;
    },
    /** After a push: what was found may not be the newest any more. */
    forget(sensors: readonly SensorRef[]): void {
      if (cache.size === 0) return;
      for (const sensor of sensors) cache.delete(keyOf(sensor));
    },
  };
}

const noVersion = -1;

const sizeOf = (datapoint: Datapoint | undefined): number =>
  datapoint === undefined ? 0 : writeJson(datapoint.value).length;

const isSame = (one: Datapoint, other: Datapoint): boolean =>
  one.receivedAt === other.receivedAt &&
  one.timestamp === other.timestamp &&
  sameJson(one.value, other.value);
