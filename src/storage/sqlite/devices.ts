import type { DatabaseSync } from 'node:sqlite';
import type { TimedSetting } from '../../domain/devices/actuator-step.ts';
import type { Device, DeviceChanges } from '../../domain/devices/device.ts';
import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId, SensorId } from '../../domain/ids.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import type { LastValueReads } from '../device-filter.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceDetails,
  deviceFromRow,
  type PartRow,
  partDetails,
  sensorFromRow,
} from '../sql/device-row.ts';
import { patchOf } from '../sql/patch.ts';
import { createDeviceCache } from './device-cache.ts';
import { createDeviceListing, type WeighedDevice } from './device-listing.ts';
import type { DeviceUpdate } from './device-writes.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import { createStoredBytes } from './stored-bytes.ts';
import type { SqliteDatapoints } from './timeseries/datapoints.ts';
import type { Writer } from './writer.ts';

const selectDevice = `
  select id, owner, visibility, created_at, modified_at, details from devices where id = ?`;
const selectSensors = `
  select sensor_id as id, details from sensors where device_id = ? order by series`;
const selectActuators = `
  select actuator_id as id, details from actuators where device_id = ? order by position`;
// A few more, such as those with the word in their meta: they are looked at one by one.
const selectTimed = `
  select device_id, actuator_id as id, details from actuators
  where instr(details, '"revert":') > 0`;
const countOwned = 'select count(*) as n from devices where owner = ?';

export interface DeviceStoreOptions {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly datapoints: LastValueReads &
    Pick<SqliteDatapoints, 'unsealedWeight' | 'unsealedWeights'>;
  /** Drops what the datapoint engine holds in memory of a device or sensor that went. */
  readonly forgetDatapoints: (deviceId: DeviceId, sensorId?: SensorId) => void;
  readonly damaged: DamagedRows;
}

/** Devices in SQLite, the busy ones in memory. */
export function createDeviceStore(
  options: DeviceStoreOptions,
): DeviceStore & { forget(id: DeviceId): void } {
  const { reader, writer, datapoints, forgetDatapoints } = options;
  const cache = createDeviceCache();
  const read = createDeviceReader(reader, options.damaged);
  const owned = createSelection<{ n: number }>(reader, countOwned);
  const timed = createSelection<TimedRow>(reader, selectTimed);
  // Lists pass by many devices once: they use what is remembered and do not push it out.
  const load = (id: DeviceId) => cache.get(id) ?? read(id);

  function findInDatabase(id: DeviceId): Promise<Device | undefined> {
    return readSafely(() => {
      const weighed = read(id);
      if (weighed !== undefined) cache.set(weighed);
      return weighed?.device;
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
      return known === undefined ? findInDatabase(id) : known.device;
    },
    ...createDeviceListing({ reader, load, datapoints }),
    ...createStoredBytes(reader, datapoints),
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
    async stepActuator(id, actuatorId, step) {
      const stepText = JSON.stringify(step);
      const after = await changed(id, writer.call('stepActuator', id, actuatorId, stepText));
      if (typeof after === 'string') return after;
      return actuatorFromRow({ id: actuatorId, details: after.details });
    },
    listTimedSettings: () => readSafely(() => timed.all().flatMap(timedSettingOf)),
    removeActuator: (id, actuatorId, at) =>
      changed(id, writer.call('removeActuator', id, actuatorId, at)),
    forget,
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
