import type { Device } from '../../domain/devices/device.ts';
import type { DeviceId } from '../../domain/ids.ts';
import { createLruCache } from '../../lib/lru-cache.ts';
import { sqliteLimits } from './sqlite-limits.ts';

/** Whole devices kept between pushes, bounded by their number and by their parts. */
export interface DeviceCache {
  get(id: DeviceId): Device | undefined;
  set(device: Device): void;
  delete(id: DeviceId): void;
}

export function createDeviceCache(): DeviceCache {
  const devices = createLruCache<DeviceId, Device>(sqliteLimits.deviceCacheEntriesMax);
  let parts = 0;

  return {
    get: (id) => devices.get(id),
    set(device) {
      // Counts what was ever set, so it may begin anew too early, and never too late.
      parts += 1 + device.sensors.length + device.actuators.length;
      if (parts > sqliteLimits.deviceCachePartsMax) {
        devices.clear();
        parts = 1 + device.sensors.length + device.actuators.length;
      }
      devices.set(device.id, device);
    },
    delete: (id) => devices.delete(id),
  };
}
