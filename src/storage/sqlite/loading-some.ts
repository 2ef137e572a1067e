import type { Device } from '../../domain/devices/device.ts';
import type { SomeDevices } from '../../domain/devices/device-store.ts';
import type { DeviceId } from '../../domain/ids.ts';
import { sqliteLimits } from './sqlite-limits.ts';

/** A device with what its description weighs, in characters of JSON text. */
export interface WeighedDevice {
  readonly device: Device;
  readonly characters: number;
}

/** Devices from the head of these, as many as one slice may hold, or a few ms of work. */
export function loadSome(
  ids: readonly DeviceId[],
  load: (id: DeviceId) => WeighedDevice | undefined,
): SomeDevices {
  const startedAt = performance.now();
  const devices: Device[] = [];
  let [taken, parts, characters] = [0, 0, 0];
  for (const id of ids) {
    const weighed = load(id);
    taken += 1;
    if (weighed === undefined) continue;
    devices.push(weighed.device);
    parts += 1 + weighed.device.sensors.length + weighed.device.actuators.length;
    characters += weighed.characters;
    if (parts >= sqliteLimits.listPartsPerSlice) break;
    if (characters >= sqliteLimits.listCharactersPerSlice) break;
    if (performance.now() - startedAt > sqliteLimits.listMsPerSlice) break;
  }
  return { devices, taken };
}
