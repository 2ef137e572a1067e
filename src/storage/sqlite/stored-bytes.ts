import type { DatabaseSync } from 'node:sqlite';
import { bytesPerWeight } from '../../domain/datapoints/weight.ts';
import type { DeviceStore } from '../../domain/devices/device-store.ts';
import type { DeviceId, Username } from '../../domain/ids.ts';
import { rowBytes } from '../sql/stored-size.ts';
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { SqliteDatapoints } from './timeseries/datapoints.ts';

const sensorBytes = `${rowBytes} + octet_length(sensors.details) + coalesce(last_values.bytes, 0)`;
const ofDevice = `
  select coalesce(sum(bytes), 0) as bytes from (
    select ${rowBytes} + octet_length(details) as bytes from devices where id = :id
    union all
    select ${sensorBytes} from sensors left join last_values using (series)
    where device_id = :id
    union all
    select ${rowBytes} + octet_length(details) from actuators where device_id = :id)`;
const ofSensor = `
  select ${sensorBytes} as bytes from sensors left join last_values using (series)
  where device_id = ? and sensor_id = ?`;
const ofOwners = `
  select owner, sum(bytes) as bytes from (
    select owner, ${rowBytes} + octet_length(details) as bytes from devices
    union all
    select owner, ${sensorBytes} from sensors join devices on devices.id = device_id
      left join last_values using (series)
    union all
    select owner, ${rowBytes} + octet_length(actuators.details)
    from actuators join devices on devices.id = device_id)
  group by owner`;
const ofStrangers = 'select stranger_bytes as bytes from devices where id = ?';
const strangersOfOwners = `
  select owner, sum(stranger_bytes) as bytes from devices where stranger_bytes > 0 group by owner`;
const ownerOf = 'select owner from devices where id = ?';

/** Counts what is stored: rows, what is in chunks, and what is in the log. */
export function createStoredBytes(
  reader: DatabaseSync,
  datapoints: Pick<SqliteDatapoints, 'unflushedWeight' | 'unflushedWeights'>,
): Pick<DeviceStore, 'storedBytes' | 'storedByOwner' | 'strangerBytes' | 'strangersByOwner'> {
  const device = createSelection<{ bytes: number }>(reader, ofDevice.replaceAll(':id', '?1'));
  const sensor = createSelection<{ bytes: number }>(reader, ofSensor);
  const owners = createSelection<{ owner: Username; bytes: number }>(reader, ofOwners);
  const owner = createSelection<{ owner: Username }>(reader, ownerOf);
  const strangers = createSelection<{ bytes: number }>(reader, ofStrangers);
  const strangersOf = createSelection<{ owner: Username; bytes: number }>(
    reader,
    strangersOfOwners,
  );
  return {
    strangerBytes: (id) => readSafely(() => strangers.first(id)?.bytes ?? 0),
    strangersByOwner: () =>
      readSafely(() => new Map(strangersOf.all().map(({ owner, bytes }) => [owner, bytes]))),
    storedBytes: (id: DeviceId, sensorId) =>
      readSafely(() => {
        const row = sensorId === undefined ? device.first(id) : sensor.first(id, sensorId);
        const unflushed = datapoints.unflushedWeight(id, sensorId);
        return (row?.bytes ?? 0) + bytesPerWeight * unflushed;
      }),
    storedByOwner: () =>
      readSafely(() => {
        const uses = new Map(owners.all().map((row) => [row.owner, row.bytes]));
        for (const [id, weight] of datapoints.unflushedWeights()) {
          const name = owner.first(id)?.owner;
          if (name !== undefined) {
            uses.set(name, (uses.get(name) ?? 0) + bytesPerWeight * weight);
          }
        }
        return uses;
      }),
  };
}
