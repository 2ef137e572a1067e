import type { DatabaseSync } from 'node:sqlite';
import type { Device, DeviceChanges } from '../../domain/devices/device.ts';
import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { ReadLastValues } from '../device-filter.ts';
import {
  type DeviceRow,
  deviceDetails,
  deviceFromRows,
  type PartRow,
  partDetails,
} from '../sql/device-row.ts';
import { patchOf } from '../sql/patch.ts';
import { createDeviceCache } from './device-cache.ts';
import { createDeviceListing } from './device-listing.ts';
import type { DeviceUpdate } from './device-writes.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import type { Writer } from './writer.ts';

const selectDevice = `
  select id, owner, visibility, created_at, modified_at, details from devices where id = ?`;
const selectSensors = `
  select sensor_id as id, details from sensors where device_id = ? order by series`;
const selectActuators = `
  select actuator_id as id, details from actuators where device_id = ? order by position`;
const countOwned = 'select count(*) as n from devices where owner = ?';

export interface DeviceStoreOptions {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly readLastValues: ReadLastValues;
  /** Drops what the datapoint engine holds in memory of a device or sensor that went. */
  readonly forgetDatapoints: (deviceId: DeviceId, sensorId?: SensorId) => void;
}

/** Devices in SQLite, the busy ones in memory. */
export function createDeviceStore(
  options: DeviceStoreOptions,
): DeviceStore & { forget(id: DeviceId): void } {
  const { reader, writer, readLastValues, forgetDatapoints } = options;
  const cache = createDeviceCache();
  const read = createDeviceReader(reader);
  const owned = createSelection<{ n: number }>(reader, countOwned);
  // Lists pass by many devices once: they use what is remembered and do not push it out.
  const load = (id: DeviceId) => cache.get(id) ?? read(id);

  function findInDatabase(id: DeviceId): Promise<Device | undefined> {
    return readSafely(() => {
      const device = read(id);
      if (device !== undefined) cache.set(device);
      return device;
    });
  }

  /** Waits for a change of this device, after which what was remembered is old. */
  async function changed<Outcome>(id: DeviceId, change: Promise<Outcome>): Promise<Outcome> {
    try {
      return await change;
    } finally {
      cache.delete(id);
    }
  }

  function forget(id: DeviceId): void {
    cache.delete(id);
    forgetDatapoints(id);
  }

  return {
    insert: (device) => writer.call('insertDevice', insertOf(device)),
    find(id) {
      const known = cache.get(id);
      return known ?? findInDatabase(id);
    },
    list: createDeviceListing({ reader, load, readLastValues }),
    countOwnedBy: (owner) => readSafely(() => owned.first(owner)?.n ?? 0),
    update: (id, changes, at) =>
      changed(id, writer.call('updateDevice', id, updateOf(changes), at)),
    async remove(id) {
      const outcome = await changed(id, writer.call('removeDevice', id));
      if (outcome === 'removed') forgetDatapoints(id);
      return outcome;
    },
    putSensor: (id, sensor, at) => changed(id, writer.call('putSensor', id, partRow(sensor), at)),
    updateSensor: (id, sensorId, changes, at) =>
      changed(id, writer.call('updateSensor', id, sensorId, patchOf(changes), at)),
    async removeSensor(id, sensorId, at) {
      const outcome = await changed(id, writer.call('removeSensor', id, sensorId, at));
      if (outcome === 'removed') forgetDatapoints(id, sensorId);
      return outcome;
    },
    putActuator: (id, actuator, at) =>
      changed(id, writer.call('putActuator', id, partRow(actuator), at)),
    updateActuator: (id, actuatorId, changes, at) =>
      changed(id, writer.call('updateActuator', id, actuatorId, patchOf(changes), at)),
    removeActuator: (id, actuatorId, at) =>
      changed(id, writer.call('removeActuator', id, actuatorId, at)),
    forget,
  };
}

function createDeviceReader(reader: DatabaseSync): (id: DeviceId) => Device | undefined {
  const device = createSelection<DeviceRow>(reader, selectDevice);
  const sensors = createSelection<PartRow>(reader, selectSensors);
  const actuators = createSelection<PartRow>(reader, selectActuators);
  return (id) =>
    inSnapshot(reader, () => {
      const row = device.first(id);
      return row && deviceFromRows(row, sensors.all(id), actuators.all(id));
    });
}

function insertOf(device: Device) {
  return {
    id: device.id,
    owner: device.owner,
    visibility: device.visibility ?? null,
    createdAt: device.createdAt,
    modifiedAt: device.modifiedAt,
    details: deviceDetails(device),
    sensors: device.sensors.map(partRow),
    actuators: device.actuators.map(partRow),
  };
}

function updateOf(changes: DeviceChanges): DeviceUpdate {
  const { owner, visibility, ...details } = changes;
  return {
    ...(owner !== undefined && { owner }),
    ...('visibility' in changes && { visibility: visibility ?? null }),
    details: patchOf(details),
  };
}

function partRow(part: Device['sensors'][number] | Device['actuators'][number]): PartRow {
  return { id: part.id, details: partDetails(part) };
}
