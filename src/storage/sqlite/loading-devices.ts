import { type DeviceRow, deviceColumns, type PartRow } from '../sql/device-row.ts';
import type { DeviceRows, LoadDevices } from '../sql/devices.ts';
import type { SqlReader } from '../sql/session.ts';

const selectDevice = `select ${deviceColumns} from devices where id = $1`;
const selectSensors = `
  select sensor_id as id, details from sensors where device_id = $1 order by series`;
const selectActuators = `
  select actuator_id as id, details from actuators where device_id = $1 order by position`;

/** Loads devices one by one: SQLite answers three small statements sooner than a large one. */
export const createDeviceLoading =
  (reader: SqlReader): LoadDevices =>
  (ids) =>
    reader.inSnapshot(async (session) => {
      const devices: DeviceRows[] = [];
      for (const id of ids) {
        const row = await session.first<DeviceRow>(selectDevice, id);
        if (row === undefined) continue;
        const sensors = await session.all<PartRow>(selectSensors, id);
        devices.push({ row, sensors, actuators: await session.all<PartRow>(selectActuators, id) });
      }
      return devices;
    });
