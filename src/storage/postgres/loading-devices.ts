import { type DeviceRow, deviceColumns, type PartRow } from '../sql/device-row.ts';
import type { LoadDevices } from '../sql/devices.ts';
import type { SqlReader } from '../sql/session.ts';

// A single statement, so that all of a device belongs to one commit. The kind distinguishes parts.
const selectDevices = `
  select 0 as kind, id as device_id, ${deviceColumns}, 0 as place
  from devices where id = any($1::text[])
  union all
  select 1, device_id, sensor_id, null, null, null, null, details, series
  from sensors where device_id = any($1::text[])
  union all
  select 2, device_id, actuator_id, null, null, null, null, details, position
  from actuators where device_id = any($1::text[])
  order by kind, place`;

type Row = (DeviceRow | PartRow) & { readonly kind: 0 | 1 | 2; readonly device_id: string };

/** Loads devices in one statement: each costs a round trip to the database. */
export const createDeviceLoading =
  (reader: SqlReader): LoadDevices =>
  async (ids) => {
    const rows = await reader.all<Row>(selectDevices, ids);
    const byDevice = Map.groupBy(rows, ({ device_id }) => device_id);
    return ids.flatMap((id) => {
      const own = Map.groupBy(byDevice.get(id) ?? [], ({ kind }) => kind);
      // Distinguished by their kinds.
      const [row] = (own.get(0) ?? []) as readonly DeviceRow[];
      return row ? { row, sensors: own.get(1) ?? [], actuators: own.get(2) ?? [] } : [];
    });
  };
