import { crc32 } from 'node:zlib';
import type { Actuator } from '../../domain/devices/actuator.ts';
import type { Device, Sensor, Visibility } from '../../domain/devices/device.ts';
import type { ActuatorId, DeviceId, SensorId, Username } from '../../domain/ids.ts';
import { detailsFrom } from './table.ts';

/** A row of the table devices. */
export interface DeviceRow {
  readonly id: string;
  readonly owner: string;
  readonly visibility: string | null;
  readonly created_at: number;
  readonly modified_at: number;
  readonly details: string;
}

/** The columns of DeviceRow. */
export const deviceColumns = 'id, owner, visibility, created_at, modified_at, details';

/** A row of the table sensors or actuators. */
export interface PartRow {
  readonly id: string;
  readonly details: string;
}

/** Columns that narrow searches; the truth is in the details, which hold every text as it came. */
interface SearchColumns {
  readonly gateway_id: string | null;
  readonly domain: string | null;
}

type DeviceDetails = Omit<
  Device,
  'id' | 'owner' | 'visibility' | 'sensors' | 'actuators' | 'createdAt' | 'modifiedAt'
>;

/** The column details of a device. */
export function deviceDetails(device: Device): string {
  const { id, owner, visibility, sensors, actuators, createdAt, modifiedAt, ...details } = device;
  return JSON.stringify(details satisfies DeviceDetails);
}

/** The columns beside these details. */
export function searchColumns(details: string): SearchColumns {
  const { gatewayId, domain } = detailsFrom<DeviceDetails>(details);
  return { gateway_id: gatewayId ?? null, domain: domain ?? null };
}

/** The column details of a sensor or actuator. */
export function partDetails(part: Sensor | Actuator): string {
  const { id, ...details } = part;
  return JSON.stringify(details);
}

/** The device of this row with its parts. Throws when the row cannot be understood. */
export function deviceFromRow(
  row: DeviceRow,
  parts: Pick<Device, 'sensors' | 'actuators'>,
): Device {
  return {
    // Rows hold what parsed ids and checked enums were written from.
    id: row.id as DeviceId,
    owner: row.owner as Username,
    ...(row.visibility === null ? {} : { visibility: row.visibility as Visibility }),
    ...detailsFrom<DeviceDetails>(row.details),
    ...parts,
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  };
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
