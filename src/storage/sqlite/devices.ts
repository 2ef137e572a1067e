import type { DatabaseSync } from 'node:sqlite';
import type { TimedSetting } from '../../domain/devices/actuator-step.ts';
import type { Device } from '../../domain/devices/device.ts';
import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId } from '../../domain/ids.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import { createDeviceListing } from '../sql/device-listing.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceColumns,
  deviceDetails,
  deviceFromRow,
  type PartRow,
  partDetails,
  sensorFromRow,
} from '../sql/device-row.ts';
import { patchOf, resourcePatchOf } from '../sql/patch.ts';
import type { DeviceInsert } from './device-writes.ts';
import { readSafely } from './failures.ts';
import { loadSome, type WeighedDevice } from './loading-some.ts';
import { reachingSql } from './reaching-grants.ts';
import { createSelection, inSnapshot } from './selection.ts';
import { createReader } from './session.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import type { StoreContext } from './store-context.ts';
import { createStoredBytes } from './stored-bytes.ts';
import type { SqliteDatapoints } from './timeseries/datapoints.ts';

const selectDevice = `select ${deviceColumns} from devices where id = ?`;
const selectSensors = `
  select sensor_id as id, details from sensors where device_id = ? order by series`;
const selectActuators = `
  select actuator_id as id, details from actuators where device_id = ? order by position`;
// A few more, such as those with the word in their meta: they are looked at one by one.
const selectTimed = `
  select device_id, actuator_id as id, details from actuators
  where instr(details, '"revert":') > 0`;
// ?1 device, ?2 sensor or null, ?3 actuator or null.
const selectExists = `
  select 1 as n where exists (select 1 from devices where id = ?1)
    and (?2 is null or exists (select 1 from sensors where device_id = ?1 and sensor_id = ?2))
    and (?3 is null or exists (select 1 from actuators where device_id = ?1 and actuator_id = ?3))`;
const countOwned = 'select count(*) as n from devices where owner = ?';

export interface DeviceStoreOptions extends StoreContext {
  readonly datapoints: Pick<SqliteDatapoints, 'unflushedWeight' | 'unflushedWeights' | 'forget'>;
}

/** Devices in SQLite. */
export function createDeviceStore(options: DeviceStoreOptions): DeviceStore {
  const { reader, writer, datapoints, damaged } = options;
  const read = createDeviceReader(reader, damaged);
  const owned = createSelection<{ n: number }>(reader, countOwned);
  const exists = createSelection<{ n: number }>(reader, selectExists);
  const timed = createSelection<TimedRow>(reader, selectTimed);

  return {
    insert: (device) => writer.call('insertDevice', insertOf(device)),
    find: (id) => readSafely(() => read(id)?.device),
    ...createDeviceListing({
      reader: createReader(reader),
      reachingSql,
      sliceMax: sqliteLimits.listPartsPerSlice,
    }),
    readSome: (ids) => readSafely(() => inSnapshot(reader, () => loadSome(ids, read))),
    ...createStoredBytes(reader, datapoints),
    existing: (parts) =>
      readSafely(() =>
        parts.map(
          ({ deviceId, sensorId = null, actuatorId = null }) =>
            exists.first(deviceId, sensorId, actuatorId) !== undefined,
        ),
      ),
    countOwnedBy: (owner) => readSafely(() => owned.first(owner)?.n ?? 0),
    addStrangerBytes: (added) => writer.call('addStrangerBytes', [...added]),
    update: (id, changes, at) => writer.call('updateDevice', id, resourcePatchOf(changes), at),
    async remove(id) {
      const outcome = await writer.call('removeDevice', id);
      if (outcome === 'removed') datapoints.forget(id);
      return outcome;
    },
    putSensor: (id, sensor, at) => writer.call('putSensor', id, partRow(sensor), at),
    updateSensor: (id, sensorId, changes, at) =>
      writer.call('updateSensor', id, sensorId, patchOf(changes), at),
    async removeSensor(id, sensorId, at) {
      const outcome = await writer.call('removeSensor', id, sensorId, at);
      if (outcome === 'removed') datapoints.forget(id, sensorId);
      return outcome;
    },
    putActuator: (id, actuator, at) => writer.call('putActuator', id, partRow(actuator), at),
    updateActuator: (id, actuatorId, changes, at) =>
      writer.call('updateActuator', id, actuatorId, patchOf(changes), at),
    async stepActuator(id, actuatorId, step) {
      const stepText = JSON.stringify(step);
      const after = await writer.call('stepActuator', id, actuatorId, stepText);
      if (typeof after === 'string') return after;
      return actuatorFromRow({ id: actuatorId, details: after.details });
    },
    listTimedSettings: () =>
      readSafely(() =>
        timed.all().flatMap((row) => {
          const key = `${row.device_id} ${row.id}`;
          return damaged.read('actuators', key, () => timedSettingOf(row)) ?? [];
        }),
      ),
    removeActuator: (id, actuatorId, at) => writer.call('removeActuator', id, actuatorId, at),
  };
}

function createDeviceReader(
  reader: DatabaseSync,
  damaged: DamagedRows,
): (id: DeviceId) => WeighedDevice | undefined {
  const device = createSelection<DeviceRow>(reader, selectDevice);
  const sensors = createSelection<PartRow>(reader, selectSensors);
  const actuators = createSelection<PartRow>(reader, selectActuators);

  function readable<Part>(
    table: string,
    deviceId: DeviceId,
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

  return (id) =>
    inSnapshot(reader, () => {
      const row = device.first(id);
      if (row === undefined) return undefined;
      const rows = { sensors: sensors.all(id), actuators: actuators.all(id) };
      const parts = {
        sensors: readable('sensors', id, rows.sensors, sensorFromRow),
        actuators: readable('actuators', id, rows.actuators, actuatorFromRow),
      };
      let characters = row.details.length;
      for (const { details } of [...rows.sensors, ...rows.actuators]) characters += details.length;
      const found = damaged.read('devices', id, () => deviceFromRow(row, parts));
      return found && { device: found, characters };
    });
}

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
