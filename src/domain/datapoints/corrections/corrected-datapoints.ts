import { createFairTurns } from '../../../lib/fair-turns.ts';
import { isJsonWithin } from '../../../lib/json-size.ts';
import { sameJson, writeJson } from '../../../lib/long-json.ts';
import { createLruCache } from '../../../lib/lru-cache.ts';
import type { DeviceId, SensorId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import { type Datapoint, orderTime, type SensorRef } from '../datapoint.ts';
import { type DatapointColumns, timeIn, toDatapointColumns } from '../datapoint-columns.ts';
import type {
  BriefLastValues,
  DatapointStore,
  LastValues,
  Page,
  Range,
  ScannedPart,
  SummarisedStep,
  SummariseOptions,
} from '../datapoint-store.ts';
import { following } from '../pages.ts';
import { isStretchRun } from '../stretches.ts';
import type { CorrectionBook } from './correction-book.ts';
import { type Interval, type Overlay, rowsOf } from './overlay.ts';

/**
 * Datapoints as their corrections show them, on top of those that were pushed [contract 10]. A
 * sensor without corrections costs one look into a map.
 */
export function createCorrectedDatapoints(
  pushed: DatapointStore,
  book: CorrectionBook,
): DatapointStore {
  const pages = createPages(pushed);
  const last = createLast(pages);

  /** `values` with what corrections make of them. */
  async function overLasts<Last>(
    devices: readonly DeviceId[],
    values: ReadonlyMap<DeviceId, ReadonlyMap<SensorId, Last>>,
    shown: (datapoint: Datapoint) => Last,
  ): Promise<ReadonlyMap<DeviceId, ReadonlyMap<SensorId, Last>>> {
    let result: Map<DeviceId, ReadonlyMap<SensorId, Last>> | undefined;
    for (const deviceId of devices) {
      const ofDevice = new Map(values.get(deviceId));
      const corrected = book.correctedSensors(deviceId).filter((id) => ofDevice.has(id));
      if (corrected.length === 0) continue;
      for (const sensorId of corrected) {
        const datapoint = await lastOf({ deviceId, sensorId });
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
    const loading = book.overlayOf(sensor);
    const raw = await pushed.lastValue(sensor);
    if (loading === undefined || raw === undefined) return raw;
    return last.of(sensor, raw, await loading);
  }

  async function readPart(sensor: SensorRef, page: Page, overlay: Overlay, charactersMax: number) {
    const { columns, isCut } = await pages.scan(sensor, page, overlay, charactersMax);
    return { datapoints: toDatapoints(columns), isCut };
  }

  async function scanStep(
    sensor: SensorRef,
    page: Page,
    overlay: Overlay,
    { rowsMax, charactersMax }: SummariseOptions,
  ): Promise<SummarisedStep> {
    const ascending = { ...page, order: 'asc', limit: Math.min(page.limit, rowsMax) } as const;
    const { columns } = await pages.scan(sensor, ascending, overlay, charactersMax);
    const limit = page.limit - columns.count;
    if (columns.count === 0 || limit === 0) return { parts: [columns] };
    const next = following(ascending, columns.count, (row) => timeIn(columns, row));
    return { parts: [columns], next: { ...next, limit } };
  }

  return {
    ...(pushed.readyForLong && { readyForLong: () => pushed.readyForLong?.() ?? settled }),
    append: (batch) =>
      book.during(async () => {
        const outcomes = await pushed.append(book.outsideReach(batch));
        last.forget(batch);
        return outcomes;
      }),
    async read(sensor, page) {
      const overlay = await book.overlayOf(sensor);
      if (overlay === undefined) return pushed.read(sensor, page);
      const datapoints: Datapoint[] = [];
      let rest = page;
      while (datapoints.length < page.limit) {
        const limit = page.limit - datapoints.length;
        const part = await readPart(sensor, { ...rest, limit }, overlay, Infinity);
        for (const datapoint of part.datapoints) datapoints.push(datapoint);
        const count = part.datapoints.length;
        if (count === 0 || !part.isCut) break;
        rest = following(rest, count, (at) => orderTime(part.datapoints[at] as Datapoint));
      }
      return datapoints;
    },
    async readPart(sensor, page, charactersMax) {
      const overlay = await book.overlayOf(sensor);
      if (overlay === undefined) return pushed.readPart(sensor, page, charactersMax);
      return readPart(sensor, page, overlay, charactersMax);
    },
    async scan(sensor, page, charactersMax) {
      const overlay = await book.overlayOf(sensor);
      if (overlay === undefined) return pushed.scan(sensor, page, charactersMax);
      return pages.scan(sensor, page, overlay, charactersMax);
    },
    async summarise(sensor, page, options) {
      const overlay = await book.overlayOf(sensor);
      if (overlay === undefined) return pushed.summarise(sensor, page, options);
      // Of a page that ends somewhere each datapoint that is left counts.
      if (page.limit !== Infinity) return scanStep(sensor, page, overlay, options);
      const exclude = [...(options.exclude ?? []), ...overlay.corrections.map(rangeOf)];
      const step = await pushed.summarise(sensor, page, { ...options, exclude });
      const parts = step.parts.map((part) =>
        isStretchRun(part) ? part : overlay.showColumns(part),
      );
      return { ...step, parts: parts.filter((part) => isStretchRun(part) || part.count > 0) };
    },
    async count(sensor, range) {
      const overlay = await book.overlayOf(sensor);
      if (overlay === undefined) return pushed.count(sensor, range);
      return (await pushed.count(sensor, range)) - (await pages.lacking(sensor, range, overlay));
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
 * What was pushed, for those who ask for it: where a correction removed a datapoint or put it
 * right, it says which [contract 10].
 */
export function createPushedDatapoints(
  pushed: DatapointStore,
  book: Pick<CorrectionBook, 'overlayOf'>,
): DatapointStore {
  async function marked(
    sensor: SensorRef,
    datapoints: readonly Datapoint[],
  ): Promise<readonly Datapoint[]> {
    const overlay = await book.overlayOf(sensor);
    if (overlay === undefined) return datapoints;
    return datapoints.map((datapoint) => {
      const correction = overlay.touching(datapoint);
      return correction === undefined ? datapoint : { ...datapoint, correction };
    });
  }
  return {
    ...pushed,
    read: async (sensor, page) => marked(sensor, await pushed.read(sensor, page)),
    async readPart(sensor, page, charactersMax) {
      const part = await pushed.readPart(sensor, page, charactersMax);
      return { ...part, datapoints: await marked(sensor, part.datapoints) };
    },
  };
}

const toDatapoints = (columns: DatapointColumns): readonly Datapoint[] =>
  Array.from({ length: columns.count }, (_, row) => columns.at(row));

const rangeOf = ({ from, to }: Interval): Range => ({
  ...(from !== -Infinity && { from }),
  ...(to !== Infinity && { to }),
});

type Pages = ReturnType<typeof createPages>;

/** Reads of a sensor with corrections. */
function createPages(pushed: DatapointStore) {
  /** How many datapoints are removed in a whole interval: it never changes. */
  const removed = new WeakMap<Interval, number>();
  const turns = createFairTurns({ turnMs: limits.turnMs });

  /** How many of what was pushed in the range is removed. */
  async function lacking(sensor: SensorRef, range: Range, overlay: Overlay): Promise<number> {
    const { from = -Infinity, to = Infinity } = range;
    let count = 0;
    for (const interval of overlay.removals) {
      if (interval.to < from || interval.from > to) continue;
      const isWhole = interval.from >= from && interval.to <= to;
      const inside = { from: Math.max(from, interval.from), to: Math.min(to, interval.to) };
      count += isWhole
        ? await lackingIn(sensor, interval, overlay)
        : await lackingInPart(sensor, inside, { interval, overlay });
    }
    return count;
  }

  async function lackingIn(
    sensor: SensorRef,
    interval: Interval,
    overlay: Overlay,
  ): Promise<number> {
    const known = removed.get(interval);
    if (known !== undefined) return known;
    const count = await countLacking(sensor, interval, overlay);
    removed.set(interval, count);
    return count;
  }

  async function lackingInPart(
    sensor: SensorRef,
    inside: Interval,
    { interval, overlay }: { readonly interval: Interval; readonly overlay: Overlay },
  ): Promise<number> {
    const ofWhole = await lackingIn(sensor, interval, overlay);
    // Where nothing is left of the whole, nothing is left of a part.
    const isAll = ofWhole === (await pushed.count(sensor, interval));
    return isAll ? pushed.count(sensor, rangeOf(inside)) : countLacking(sensor, inside, overlay);
  }

  async function countLacking(
    sensor: SensorRef,
    interval: Interval,
    overlay: Overlay,
  ): Promise<number> {
    let count = 0;
    const page = { ...rangeOf(interval), order: 'asc', skip: 0, limit: Infinity } as const;
    for await (const columns of walk(sensor, page, overlay)) {
      count += columns.count - overlay.showColumns(columns).count;
    }
    return count;
  }

  /** The first part of the page that is not empty; cut, unless the page ends with it. */
  async function scan(
    sensor: SensorRef,
    page: Page,
    overlay: Overlay,
    charactersMax: number,
  ): Promise<ScannedPart> {
    const segments = overlay.segments(page);
    let { skip } = page;
    for (const segment of page.order === 'asc' ? segments : segments.toReversed()) {
      const range = rangeOf(segment);
      if (skip > 0 || segment.mayLack) {
        const lack = segment.mayLack ? await lacking(sensor, range, overlay) : 0;
        const count = (await pushed.count(sensor, range)) - lack;
        if (count <= skip) {
          skip -= count;
          continue;
        }
      }
      const limit = Math.min(page.limit, rowsAtOnce(overlay));
      const inside = { ...range, order: page.order, limit };
      const columns = segment.mayLack
        ? await firstLeft(sensor, { ...inside, skip }, overlay)
        : overlay.showColumns(
            (await pushed.scan(sensor, { ...inside, skip }, charactersMax)).columns,
          );
      skip = 0;
      if (columns.count > 0) return { columns, isCut: true };
    }
    return { columns: toDatapointColumns([]), isCut: false };
  }

  /** The first of what is left where something is removed, as it is shown, behind the skip. */
  async function firstLeft(
    sensor: SensorRef,
    page: Page,
    overlay: Overlay,
  ): Promise<DatapointColumns> {
    let { skip } = page;
    for await (const columns of walk(sensor, { ...page, skip: 0 }, overlay)) {
      const left = overlay.showColumns(columns);
      if (left.count > skip) return rowsOf(left, skip, skip + page.limit);
      skip -= left.count;
    }
    return toDatapointColumns([]);
  }

  /** What was pushed, step by step; one walk at a time, and others have their turn in between. */
  async function* walk(
    sensor: SensorRef,
    whole: Page,
    overlay: Overlay,
  ): AsyncGenerator<DatapointColumns, undefined> {
    const pace = turns.paceOf(sensor.deviceId);
    const limit = rowsAtOnce(overlay);
    let page = whole;
    while (true) {
      const { columns, isCut } = await pushed.scan(
        sensor,
        { ...page, limit },
        limits.datapointCharactersPerStep,
      );
      if (columns.count > 0) yield columns;
      if (columns.count === 0 || (columns.count < limit && !isCut)) return;
      page = following(page, columns.count, (row) => timeIn(columns, row));
      if (pace.isOver()) await pace.rest();
    }
  }

  return { lacking, scan };
}

/** Corrections looked at for all rows of one step: some ten milliseconds. */
const looksPerStep = 200_000;

/** The more corrections there are to look through, the fewer rows in one turn. */
const rowsAtOnce = ({ corrections }: Overlay): number =>
  Math.min(
    limits.datapointsPerScan,
    Math.max(64, Math.floor(looksPerStep / Math.max(1, corrections.length))),
  );

/** Last values of sensors with corrections. */
function createLast(pages: Pages) {
  interface Found {
    readonly overlay: Overlay;
    readonly raw: Datapoint;
    readonly shown: Datapoint | undefined;
  }
  // Found by reading back from the end: once for each last value that is removed.
  const cache = createLruCache<string, Found>(limits.overlaysMax, {
    max: limits.overlayBytesMax,
    weigh: ({ shown }) => 256 + (shown === undefined ? 0 : writeJson(shown.value).length),
  });
  const keyOf = ({ deviceId, sensorId }: SensorRef): string => `${deviceId}/${sensorId}`;

  async function newest(sensor: SensorRef, overlay: Overlay): Promise<Datapoint | undefined> {
    const page = { order: 'desc', skip: 0, limit: 1 } as const;
    const { columns } = await pages.scan(sensor, page, overlay, Infinity);
    return columns.count === 0 ? undefined : columns.at(0);
  }

  return {
    /** What is shown as the last value, where `raw` was pushed last. */
    async of(sensor: SensorRef, raw: Datapoint, overlay: Overlay): Promise<Datapoint | undefined> {
      const shown = overlay.show(raw);
      if (shown !== undefined) return shown;
      const known = cache.get(keyOf(sensor));
      if (known?.overlay === overlay && isSame(known.raw, raw)) return known.shown;
      const found = { overlay, raw, shown: await newest(sensor, overlay) };
      cache.set(keyOf(sensor), found);
      return found.shown;
    },
    /** After a push: what was found may not be the newest any more. */
    forget(sensors: readonly SensorRef[]): void {
      if (cache.size === 0) return;
      for (const sensor of sensors) cache.delete(keyOf(sensor));
    },
  };
}

const isSame = (one: Datapoint, other: Datapoint): boolean =>
  one.receivedAt === other.receivedAt &&
  one.timestamp === other.timestamp &&
  sameJson(one.value, other.value);
