import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { Username } from '../../domain/ids.ts';
import { rowBytes } from '../sql/stored-size.ts';
import type { Reader } from './reader.ts';

const sensorBytes = `${rowBytes} + octet_length(sensors.details) + sensors.bytes`;
const ofDevice = `
  select coalesce(sum(bytes), 0) as bytes from (
    select ${rowBytes} + octet_length(details) as bytes from devices where id = $1
    union all
    select ${sensorBytes} from sensors where device_id = $1
    union all
    select ${rowBytes} + octet_length(details) from actuators where device_id = $1) as parts`;
const ofSensor = `
  select ${sensorBytes} as bytes from sensors where device_id = $1 and sensor_id = $2`;
const ofOwners = `
  select min(owner) as owner, sum(bytes) as bytes from (
    select owner, ${rowBytes} + octet_length(details) as bytes from devices
    union all
    select owner, ${sensorBytes} from sensors join devices on devices.id = device_id
    union all
    select owner, ${rowBytes} + octet_length(actuators.details)
    from actuators join devices on devices.id = device_id) as parts
  group by nocase(owner)`;
const ofStrangers = 'select stranger_bytes as bytes from devices where id = $1';
const strangersOfOwners = `
  select min(owner) as owner, sum(stranger_bytes)::float8 as bytes
  from devices where stranger_bytes > 0 group by nocase(owner)`;

/** Counts what is stored: rows, and datapoints wherever they are. */
export function createStoredBytes(
  reader: Reader,
): Pick<DeviceStore, 'storedBytes' | 'storedByOwner' | 'strangerBytes' | 'strangersByOwner'> {
  return {
    strangerBytes: async (id) =>
      (await reader.first<{ bytes: number }>(ofStrangers, id))?.bytes ?? 0,
    async strangersByOwner() {
      const rows = await reader.all<{ owner: Username; bytes: number }>(strangersOfOwners);
      return new Map(rows.map(({ owner, bytes }) => [owner, bytes]));
    },
    async storedBytes(id, sensorId) {
      const row =
        sensorId === undefined
          ? await reader.first<{ bytes: number }>(ofDevice, id)
          : await reader.first<{ bytes: number }>(ofSensor, id, sensorId);
      return row?.bytes ?? 0;
    },
    async storedByOwner() {
      const rows = await reader.all<{ owner: Username; bytes: number }>(ofOwners);
      return new Map(rows.map(({ owner, bytes }) => [owner, bytes]));
    },
  };
}
