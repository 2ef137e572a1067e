import { crc32 } from 'node:zlib';
import type { Actuator } from '../../domain/devices/actuator.ts';
import type { Device, Sensor } from '../../domain/devices/device.ts';
import type { ActuatorId, SensorId } from '../../domain/ids.ts';
import { createTable, detailsFrom, type Row } from './table.ts';

/** The table devices, without the parts of devices. */
export const deviceTable = createTable<Omit<Device, 'sensors' | 'actuators'>>('devices', {
  plain: ['id', 'owner', 'visibility', 'createdAt', 'modifiedAt'],
});

/** A row of the table devices. */
export interface DeviceRow extends Row {
  readonly id: string;
  readonly details: string;
}

export const deviceToRow = ({ sensors, actuators, ...device }: Device): DeviceRow =>
  deviceTable.toRow(device) as DeviceRow;

/** A row of the table sensors or actuators. */
export interface PartRow {
  readonly id: string;
  readonly details: string;
}

/** The rows of a device, of its sensors and of its actuators, in their order. */
export interface DeviceRows {
  readonly row: DeviceRow;
  readonly sensors: readonly PartRow[];
  readonly actuators: readonly PartRow[];
}

/** Columns that narrow searches; the truth is in the details, which hold every text as it came. */
export function searchColumns(details: string) {
  const { gatewayId, domain } = detailsFrom<Pick<Device, 'gatewayId' | 'domain'>>(details);
  return { gateway_id: gatewayId ?? null, domain: domain ?? null };
}

/** The column details of a sensor or actuator. */
export function partDetails(part: Sensor | Actuator): string {
  const { id, ...details } = part;
  return JSON.stringify(details);
}

export function sensorFromRow(row: PartRow): Sensor {
  return { id: row.id as SensorId, ...detailsFrom<Omit<Sensor, 'id'>>(row.details) };
}

export function actuatorFromRow(row: PartRow): Actuator {
  return { id: row.id as ActuatorId, ...detailsFrom<Omit<Actuator, 'id'>>(row.details) };
}

/** How many buckets devices are spread over; a range of them can move to another database. */
const buckets = 1_024;

/** The bucket of a device, and of all that it has. */
export const bucketOf = (deviceId: string): number => crc32(deviceId) % buckets;
