import type { TimedSetting } from '../../domain/devices/actuator-step.ts';
import type { Device } from '../../domain/devices/device.ts';
import type { DevicePart, DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import { createDeviceListing } from './device-listing.ts';
import { createDeviceReading, type LoadDevices, type SliceLimits } from './device-reading.ts';
import { actuatorFromRow, deviceDetails, type PartRow, partDetails } from './device-row.ts';
import type { DeviceInsert, deviceWrites } from './device-writes.ts';
import { patchOf, resourcePatchOf } from './patch.ts';
import { countingOwned } from './resources.ts';
import type { SqlContext, Value } from './session.ts';
import { createStoredBytes, type StoredDatapoints } from './stored-bytes.ts';

// A few more, such as those with the word in their meta: they are checked one by one.
const selectTimed = `
  select device_id, actuator_id as id, details from actuators where details like '%"revert":%'`;
const selectExisting = `
  select exists (select 1 from devices where id = value)
    and (value2 is null
      or exists (select 1 from sensors where device_id = value and sensor_id = value2))
    and (value3 is null
      or exists (select 1 from actuators where device_id = value and actuator_id = value3))
    as found
  from each($1, $2, $3) order by given.key`;

/** What differs by engine. */
export interface DeviceStoreOptions {
  readonly limits: SliceLimits;
  readonly load: LoadDevices;
  readonly datapoints: StoredDatapoints;
  /** Called for what was removed. */
  readonly forget: (id: DeviceId, sensorId?: SensorId) => void;
}

/** Devices in the tables of either engine. */
export function createDeviceStore(
  { reader, write, damaged }: SqlContext<typeof deviceWrites>,
  { limits, load, datapoints, forget }: DeviceStoreOptions,
): DeviceStore {
  return {
    insert: (device) => write('insertDevice', insertOf(device)),
    ...createDeviceReading({ load, damaged, limits }),
    ...createDeviceListing({ reader, sliceMax: limits.listPartsPerSlice }),
    ...createStoredBytes(reader, datapoints),
    async existing(parts) {
      const rows = await reader.all<{ found: boolean | number }>(
        selectExisting,
        ...columnsOf(parts),
      );
      return rows.map((row) => Boolean(row.found));
    },
    countOwnedBy: countingOwned(reader, 'devices'),
    addStrangerBytes: (added) => write('addStrangerBytes', [...added.keys()], [...added.values()]),
    update: (id, changes, at) => write('updateDevice', id, resourcePatchOf(changes), at),
    async remove(id) {
      const outcome = await write('removeDevice', id);
      if (outcome === 'removed') forget(id);
      return outcome;
    },
    putSensor: (id, sensor, at) => write('putSensor', id, partRow(sensor), at),
    updateSensor: (id, sensorId, changes, at) =>
      write('updateSensor', id, sensorId, patchOf(changes), at),
    async removeSensor(id, sensorId, at) {
      const outcome = await write('removeSensor', id, sensorId, at);
      if (outcome === 'removed') forget(id, sensorId);
      return outcome;
    },
    putActuator: (id, actuator, at) => write('putActuator', id, partRow(actuator), at),
    updateActuator: (id, actuatorId, changes, at) =>
      write('updateActuator', id, actuatorId, patchOf(changes), at),
    async stepActuator(id, actuatorId, step) {
      const after = await write('stepActuator', id, actuatorId, JSON.stringify(step));
      if (typeof after === 'string') return after;
      return actuatorFromRow({ id: actuatorId, details: after.details });
    },
    async listTimedSettings() {
      const rows = await reader.all<TimedRow>(selectTimed);
      return rows.flatMap((row) => {
        const key = `${row.device_id} ${row.id}`;
        return damaged.read('actuators', key, () => timedSettingOf(row)) ?? [];
      });
    },
    removeActuator: (id, actuatorId, at) => write('removeActuator', id, actuatorId, at),
  };
}

const columnsOf = (parts: readonly DevicePart[]): readonly Value[] => [
  parts.map(({ deviceId }) => deviceId),
  parts.map(({ sensorId }) => sensorId ?? null),
  parts.map(({ actuatorId }) => actuatorId ?? null),
];

interface TimedRow extends PartRow {
  readonly device_id: string;
}

function timedSettingOf({ device_id, id, details }: TimedRow): readonly TimedSetting[] {
  const actuator = actuatorFromRow({ id, details });
  if (actuator.revert === undefined) return [];
  // The row was written from parsed ids.
  const deviceId = device_id as DeviceId;
  return [{ deviceId, actuatorId: actuator.id, at: actuator.revert.at }];
}

function insertOf(device: Device): DeviceInsert {
  return {
    row: {
      id: device.id,
      owner: device.owner,
      visibility: device.visibility ?? null,
      created_at: device.createdAt,
      modified_at: device.modifiedAt,
      details: deviceDetails(device),
    },
    sensors: device.sensors.map(partRow),
    actuators: device.actuators.map(partRow),
  };
}

function partRow(part: Device['sensors'][number] | Device['actuators'][number]): PartRow {
  return { id: part.id, details: partDetails(part) };
}
