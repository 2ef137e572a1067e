import { sameJson, writeJson } from '../../../lib/long-json.ts';
import { createLruCache } from '../../../lib/lru-cache.ts';
import { limits } from '../../limits.ts';
import type { Datapoint, SensorRef } from '../datapoint.ts';
import type { CorrectedRead, Pages } from './corrected-pages.ts';

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
export function createCorrectedLast(pages: Pages) {
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
