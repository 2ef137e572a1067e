import type { TimedSetting } from '../../domain/devices/actuator-step.ts';
import type { Device } from '../../domain/devices/device.ts';
import type { DevicePart, DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import { createDeviceListing } from '../sql/device-listing.ts';
import { actuatorFromRow, deviceDetails, type PartRow, partDetails } from '../sql/device-row.ts';
import { patchOf, resourcePatchOf } from '../sql/patch.ts';
import type { Value } from '../sql/session.ts';
import { actuators, sensors } from './device-part-writes.ts';
import { readDevices, readSome } from './device-reading.ts';
import {
  addStrangerBytes,
  type DeviceInsert,
  insertDevice,
  removeDevice,
  stepActuator,
  updateDevice,
} from './device-writes.ts';
import { postgresLimits } from './postgres-limits.ts';
import { reachingSql } from './reaching-grants.ts';
import type { StoreContext } from './store-context.ts';
import { createStoredBytes } from './stored-bytes.ts';

// A few more, such as those with the word in their meta: they are looked at one by one.
const selectTimed = `
  select device_id, actuator_id as id, details from actuators
  where position('"revert":' in details) > 0`;
const selectExisting = `
  select exists (select 1 from devices where id = device)
    and (sensor is null
      or exists (select 1 from sensors where device_id = device and sensor_id = sensor))
    and (actuator is null
      or exists (select 1 from actuators where device_id = device and actuator_id = actuator))
    as found
  from unnest($1::text[], $2::text[], $3::text[]) with ordinality
    as part (device, sensor, actuator, place)
  order by place`;
const countOwned = 'select count(*) as n from devices where nocase(owner) = nocase($1)';

export interface DeviceStoreOptions extends StoreContext {
  /** Called for what was removed. */
  readonly forget: (id: DeviceId, sensorId?: SensorId) => void;
}

/** Devices in PostgreSQL. */
export function createDeviceStore({
  reader,
  writer,
  damaged,
  forget,
}: DeviceStoreOptions): DeviceStore {
  return {
    insert: (device) => writer.call((tx) => insertDevice(tx, insertOf(device))),
    find: async (id) => (await readDevices(reader, damaged, [id]))[0]?.device,
    ...createDeviceListing({ reader, reachingSql, sliceMax: postgresLimits.listPartsPerSlice }),
    readSome: (ids) => readSome(reader, damaged, ids),
    ...createStoredBytes(reader),
    async existing(parts) {
      const rows = await reader.all<{ found: boolean }>(selectExisting, ...columnsOf(parts));
      return rows.map((row) => row.found);
    },
    countOwnedBy: async (owner) => (await reader.first<{ n: number }>(countOwned, owner))?.n ?? 0,
    addStrangerBytes: (added) => writer.call((tx) => addStrangerBytes(tx, added)),
    update: (id, changes, at) =>
      writer.call((tx) => updateDevice(tx, id, resourcePatchOf(changes), at)),
    async remove(id) {
      const outcome = await writer.call((tx) => removeDevice(tx, id));
      if (outcome === 'removed') forget(id);
      return outcome;
    },
    putSensor: (id, sensor, at) => writer.call((tx) => sensors.put(tx, id, partRow(sensor), at)),
    updateSensor: (id, sensorId, changes, at) =>
      writer.call((tx) => sensors.update(tx, id, sensorId, patchOf(changes), at)),
    async removeSensor(id, sensorId, at) {
      const outcome = await writer.call((tx) => sensors.remove(tx, id, sensorId, at));
      if (outcome === 'removed') forget(id, sensorId);
      return outcome;
    },
    putActuator: (id, actuator, at) =>
      writer.call((tx) => actuators.put(tx, id, partRow(actuator), at)),
    updateActuator: (id, actuatorId, changes, at) =>
      writer.call((tx) => actuators.update(tx, id, actuatorId, patchOf(changes), at)),
    async stepActuator(id, actuatorId, step) {
      const after = await writer.call((tx) => stepActuator(tx, id, actuatorId, step));
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
    removeActuator: (id, actuatorId, at) =>
      writer.call((tx) => actuators.remove(tx, id, actuatorId, at)),
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
