import type { Device } from '../../domain/devices/device.ts';
import type { SomeDevices } from '../../domain/devices/device-store.ts';
import type { DeviceId } from '../../domain/ids.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  actuatorFromRow,
  type DeviceRow,
  deviceColumns,
  deviceFromRow,
  type PartRow,
  sensorFromRow,
} from '../sql/device-row.ts';
import type { SqlSession } from '../sql/session.ts';
import { postgresLimits } from './postgres-limits.ts';

// A single statement, so that all of a device belongs to one commit. The kind tells parts apart.
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

/** A device with what its description weighs, in characters of JSON text. */
export interface WeighedDevice {
  readonly id: string;
  readonly device: Device;
  readonly characters: number;
}

/** The devices that exist and can be understood, in the order asked for. */
export async function readDevices(
  session: SqlSession,
  damaged: DamagedRows,
  ids: readonly string[],
): Promise<readonly WeighedDevice[]> {
  const rows = await session.all<Row>(selectDevices, ids);
  const byDevice = Map.groupBy(rows, ({ device_id }) => device_id);
  return ids.flatMap((id) => deviceOf(id, byDevice.get(id) ?? [], damaged) ?? []);
}

function deviceOf(
  id: string,
  rows: readonly Row[],
  damaged: DamagedRows,
): WeighedDevice | undefined {
  // Told by their kinds.
  const [row] = rows.filter(({ kind }) => kind === 0) as readonly DeviceRow[];
  if (row === undefined) return undefined;
  const partsOf = <Part>(kind: 1 | 2, table: string, read: (part: PartRow) => Part) =>
    rows
      .filter((one) => one.kind === kind)
      .flatMap((part) => damaged.read(table, `${id} ${part.id}`, () => read(part)) ?? []);
  const parts = {
    sensors: partsOf(1, 'sensors', sensorFromRow),
    actuators: partsOf(2, 'actuators', actuatorFromRow),
  };
  const characters = rows.reduce((sum, { details }) => sum + details.length, 0);
  const device = damaged.read('devices', id, () => deviceFromRow(row, parts));
  return device && { id, device, characters };
}

/** Devices from the head of these, as many as one slice may hold. */
export async function readSome(
  session: SqlSession,
  damaged: DamagedRows,
  ids: readonly DeviceId[],
): Promise<SomeDevices> {
  const some = ids.slice(0, postgresLimits.listDevicesPerSlice);
  const devices: Device[] = [];
  let [parts, characters] = [0, 0];
  for (const weighed of await readDevices(session, damaged, some)) {
    const { device } = weighed;
    devices.push(device);
    parts += 1 + device.sensors.length + device.actuators.length;
    characters += weighed.characters;
    const isFull =
      parts >= postgresLimits.listPartsPerSlice ||
      characters >= postgresLimits.listCharactersPerSlice;
    if (isFull) return { devices, taken: some.indexOf(device.id) + 1 };
  }
  return { devices, taken: some.length };
}
