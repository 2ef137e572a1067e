import { bytesPerWeight } from '../../domain/datapoints/column-batch.ts';
import type { Actuator } from '../../domain/devices/actuator.ts';
import type { Device, DeviceStore, Sensor } from '../../domain/devices/device.ts';
import type { DeviceId, SensorId, Username } from '../../domain/ids.ts';
import { deviceToRow, partDetails } from './device-row.ts';
import type { SqlReader } from './session.ts';

/** Bytes that a row counts besides its text: keys, indexes and dates. Triggers count them, too. */
export const rowBytes = 200;

/** Bytes that the description of a sensor or actuator counts. */
export const partBytes = (part: Sensor | Actuator): number =>
  rowBytes + Buffer.byteLength(partDetails(part));

/** Bytes that the descriptions of a device and all its parts count towards a quota. */
export function descriptionBytes(device: Device): number {
  let bytes = rowBytes + Buffer.byteLength(deviceToRow(device).details);
  for (const part of [...device.sensors, ...device.actuators]) bytes += partBytes(part);
  return bytes;
}

/** Where an engine counts the datapoints of sensors. */
export interface StoredDatapoints {
  /** Sensors, joined with what the column is of. */
  readonly sensors: string;
  /** The bytes of their datapoints. */
  readonly bytes: string;
  /** Selects owners, with the bytes of all that they have in tables. */
  readonly ofOwners: string;
  /** Datapoints that no table holds yet, by their weights. */
  readonly outside?: {
    unflushedWeight(id: DeviceId, sensorId?: SensorId): Promise<number>;
    unflushedByOwner(): ReadonlyMap<Username, number>;
  };
}

const ofStrangers = 'select stranger_bytes as bytes from devices where id = $1';
const strangersOfOwners = `
  select min(owner) as owner, sum(stranger_bytes) as bytes
  from devices where stranger_bytes > 0 group by nocase(owner)`;

/** Counts what is stored: rows, and datapoints wherever they are. */
export function createStoredBytes(
  reader: SqlReader,
  { sensors, bytes, ofOwners, outside }: StoredDatapoints,
): Pick<DeviceStore, 'storedBytes' | 'storedByOwner' | 'strangerBytes' | 'strangersByOwner'> {
  const sensorBytes = `${rowBytes} + octet_length(sensors.details) + ${bytes}`;
  const ofDevice = `
    select coalesce(sum(bytes), 0) as bytes from (
      select ${rowBytes} + octet_length(details) as bytes from devices where id = $1
      union all
      select ${sensorBytes} from ${sensors} where device_id = $1
      union all
      select ${rowBytes} + octet_length(details) from actuators where device_id = $1) as parts`;
  const ofSensor = `
    select ${sensorBytes} as bytes from ${sensors} where device_id = $1 and sensor_id = $2`;
  const byOwner = async (sql: string): Promise<Map<Username, number>> => {
    const rows = await reader.all<{ owner: Username; bytes: number }>(sql);
    return new Map(rows.map((row) => [row.owner, row.bytes]));
  };

  return {
    strangerBytes: async (id) =>
      (await reader.first<{ bytes: number }>(ofStrangers, id))?.bytes ?? 0,
    strangersByOwner: () => byOwner(strangersOfOwners),
    async storedBytes(id, sensorId) {
      const row =
        sensorId === undefined
          ? await reader.first<{ bytes: number }>(ofDevice, id)
          : await reader.first<{ bytes: number }>(ofSensor, id, sensorId);
      const weight = (await outside?.unflushedWeight(id, sensorId)) ?? 0;
      return (row?.bytes ?? 0) + bytesPerWeight * weight;
    },
    async storedByOwner() {
      const uses = await byOwner(ofOwners);
      for (const [owner, weight] of outside?.unflushedByOwner() ?? []) {
        uses.set(owner, (uses.get(owner) ?? 0) + bytesPerWeight * weight);
      }
      return uses;
    },
  };
}
