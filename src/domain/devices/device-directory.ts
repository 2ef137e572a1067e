import { createReadThroughCache } from '../../lib/read-through-cache.ts';
import type { ChangeSource } from '../changes.ts';
import type { DeviceId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { Device } from './device.ts';
import type { DeviceStore, SomeDevices } from './device-store.ts';

/** The store of devices behind a read-through cache: every push and every delivery asks. */
export interface DeviceDirectory extends DeviceStore {
  /** The device, if it is at hand now. Undefined: not known, ask `find`. */
  peek(id: DeviceId): Device | undefined;
}

/** Remembers whole devices until they change. */
export function createDeviceDirectory(store: DeviceStore, changes: ChangeSource): DeviceDirectory {
  const devices = createReadThroughCache<DeviceId, Device | undefined>({
    entriesMax: limits.deviceCacheEntriesMax,
    isCurrent: () => changes.isCurrent?.() !== false,
    weight: { max: limits.deviceCacheCharactersMax, weigh: charactersOf },
  });
  changes.onChange(async (change) => {
    if ('deviceId' in change) devices.forget(change.deviceId);
    if (change.kind === 'anything') devices.clear();
  });

  /** Reads cached devices at the head of the ids. */
  function peekSome(ids: readonly DeviceId[]): SomeDevices {
    const known: Device[] = [];
    let parts = 0;
    for (const id of ids) {
      const device = devices.peek(id);
      if (device === undefined || parts > limits.deviceCachePartsPerSlice) break;
      parts += 1 + device.sensors.length + device.actuators.length;
      known.push(device);
    }
    return { devices: known, taken: known.length };
  }

  return {
    ...store,
    peek: devices.peek,
    find: (id) => devices.get(id, () => store.find(id)),
    // Lists pass by many devices once: they use what is remembered and do not push it out.
    async readSome(ids) {
      const known = peekSome(ids);
      return known.taken > 0 ? known : store.readSome(ids);
    },
  };
}

/** Memory of a device and of each of its parts beside its texts. */
const charactersPerPart = 96;

function charactersOf(device: Device | undefined): number {
  if (device === undefined) return 0;
  const parts = 1 + device.sensors.length + device.actuators.length;
  return JSON.stringify(device).length + charactersPerPart * parts;
}
