import { createFairSlices, type Pace } from '../../../lib/scheduling/fair-slices.ts';
import { isJsonWithin } from '../../devices/value-size.ts';
import type { DeviceId, SensorId } from '../../ids.ts';
import { limits } from '../../limits.ts';
import type { Datapoint, SensorRef } from '../datapoint.ts';
import { timeIn } from '../datapoint-columns.ts';
import {
  type BriefLastValues,
  type DatapointStore,
  following,
  type LastValues,
  type Page,
  readDatapoints,
  type SummarisedStep,
  type SummariseOptions,
} from '../datapoint-store.ts';
import { isStretchRun, type Stretches } from '../stretches.ts';
import type { CorrectionBook } from './correction-book.ts';
import { type CorrectedRead, createPages, rowsAtOnce } from './overlay.ts';

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
