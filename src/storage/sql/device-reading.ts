import type { Device } from '../../domain/devices/device.ts';
import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceFromRow,
  type PartRow,
  sensorFromRow,
} from './device-row.ts';

/** How much of a list is read before others run. */
export interface SliceLimits {
  /** Devices that one statement reads. */
  readonly listDevicesPerRead: number;
  readonly listPartsPerSlice: number;
  readonly listCharactersPerSlice: number;
  readonly listMsPerSlice: number;
}

/** The rows of a device, of its sensors and of its actuators, in their order. */
export interface DeviceRows {
  readonly row: DeviceRow;
  readonly sensors: readonly PartRow[];
  readonly actuators: readonly PartRow[];
}

/** Reads the devices that exist, each as of one commit, in the order asked for. */
export type LoadDevices = (ids: readonly string[]) => Promise<readonly DeviceRows[]>;

/** Reads devices with their parts, of what the engine loads. */
export function createDeviceReading({
  load,
  damaged,
  limits,
}: {
  readonly load: LoadDevices;
  readonly damaged: DamagedRows;
  readonly limits: SliceLimits;
}): Pick<DeviceStore, 'find' | 'readSome'> {
  function readable<Part>(
    table: string,
    deviceId: string,
    rows: readonly PartRow[],
    read: (row: PartRow) => Part,
  ): readonly Part[] {
    const parts: Part[] = [];
    for (const row of rows) {
      try {
        parts.push(read(row));
      } catch (reason) {
        damaged.note(table, `${deviceId} ${row.id}`, reason);
      }
    }
    return parts;
  }

  function deviceOf({ row, sensors, actuators }: DeviceRows): Device | undefined {
    const parts = {
      sensors: readable('sensors', row.id, sensors, sensorFromRow),
      actuators: readable('actuators', row.id, actuators, actuatorFromRow),
    };
    return damaged.read('devices', row.id, () => deviceFromRow(row, parts));
  }

  return {
    async find(id) {
      const [rows] = await load([id]);
      return rows && deviceOf(rows);
    },
    async readSome(ids) {
      const startedAt = performance.now();
      const devices: Device[] = [];
      let [taken, parts, characters] = [0, 0, 0];
      while (taken < ids.length) {
        const some = ids.slice(taken, taken + limits.listDevicesPerRead);
        for (const rows of await load(some)) {
          const device = deviceOf(rows);
          if (device === undefined) continue;
          devices.push(device);
          parts += 1 + device.sensors.length + device.actuators.length;
          characters += charactersOf(rows);
          const isFull =
            parts >= limits.listPartsPerSlice || characters >= limits.listCharactersPerSlice;
          if (isFull) return { devices, taken: taken + some.indexOf(device.id) + 1 };
        }
        taken += some.length;
        if (performance.now() - startedAt > limits.listMsPerSlice) break;
      }
      return { devices, taken };
    },
  };
}

/** What a description weighs, in characters of JSON text. */
function charactersOf({ row, sensors, actuators }: DeviceRows): number {
  let characters = row.details.length;
  for (const { details } of sensors) characters += details.length;
  for (const { details } of actuators) characters += details.length;
  return characters;
}
