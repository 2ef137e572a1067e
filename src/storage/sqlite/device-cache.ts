import type { DeviceId } from '../../domain/ids.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import type { WeighedDevice } from './device-listing.ts';
import { sqliteLimits } from './sqlite-limits.ts';

/** Whole devices kept between pushes, bounded by their number, their parts and their texts. */
export interface DeviceCache {
  get(id: DeviceId): WeighedDevice | undefined;
  set(weighed: WeighedDevice): void;
  delete(id: DeviceId): void;
}

export function createDeviceCache(): DeviceCache {
  const devices = createLruCache<DeviceId, WeighedDevice>(sqliteLimits.deviceCacheEntriesMax);
  let parts = 0;
  let characters = 0;

  return {
    get: (id) => devices.get(id),
    set(weighed) {
      const { device } = weighed;
      const added = 1 + device.sensors.length + device.actuators.length;
      // Counts what was ever set, so it may begin anew too early, and never too late.
      parts += added;
      characters += weighed.characters;
      const isFull =
        parts > sqliteLimits.deviceCachePartsMax ||
        characters > sqliteLimits.deviceCacheCharactersMax;
      if (isFull) {
        devices.clear();
        parts = added;
        characters = weighed.characters;
      }
      devices.set(device.id, weighed);
    },
    delete: (id) => devices.delete(id),
  };
}
