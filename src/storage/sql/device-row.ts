import type { Actuator } from '../../domain/devices/actuator.ts';
import type { Device, Visibility } from '../../domain/devices/device.ts';
import type { Sensor } from '../../domain/devices/sensor.ts';
import type { ActuatorId, DeviceId, SensorId, Username } from '../../domain/ids.ts';
import { parseJson } from '../../lib/json.ts';

/** A row of the table devices. */
export interface DeviceRow {
  readonly id: string;
  readonly owner: string;
  readonly visibility: string | null;
  readonly created_at: number;
  readonly modified_at: number;
  readonly details: string;
}

/** A row of the table sensors or actuators. */
export interface PartRow {
  readonly id: string;
  readonly details: string;
}

/** What searches can narrow by; the truth is in the details, which hold every text as it came. */
export interface SearchColumns {
  readonly gatewayId: string | null;
  readonly domain: string | null;
}

type DeviceDetails = Omit<
  Device,
  'id' | 'owner' | 'visibility' | 'sensors' | 'actuators' | 'createdAt' | 'modifiedAt'
>;

/** What the column details of a device holds. */
export function deviceDetails(device: Device): string {
  const { id, owner, visibility, sensors, actuators, createdAt, modifiedAt, ...details } = device;
  return JSON.stringify(details satisfies DeviceDetails);
}

/** The columns beside these details. */
export function searchColumns(details: string): SearchColumns {
  const { gatewayId, domain } = parseDetails<DeviceDetails>(details);
  return { gatewayId: gatewayId ?? null, domain: domain ?? null };
}

/** What the column details of a sensor or actuator holds. */
export function partDetails(part: Sensor | Actuator): string {
  const { id, ...details } = part;
  return JSON.stringify(details);
}

/** The device of these rows; sensors and actuators in the order given. */
export function deviceFromRows(
  row: DeviceRow,
  sensors: readonly PartRow[],
  actuators: readonly PartRow[],
): Device {
  return {
    // Rows hold what parsed ids and checked enums were written from.
    id: row.id as DeviceId,
    owner: row.owner as Username,
    ...(row.visibility === null ? {} : { visibility: row.visibility as Visibility }),
    ...parseDetails<DeviceDetails>(row.details),
    sensors: sensors.map(sensorFromRow),
    actuators: actuators.map(actuatorFromRow),
    createdAt: row.created_at,
    modifiedAt: row.modified_at,
  };
}

function sensorFromRow(row: PartRow): Sensor {
  return { id: row.id as SensorId, ...parseDetails<Omit<Sensor, 'id'>>(row.details) };
}

function actuatorFromRow(row: PartRow): Actuator {
  return { id: row.id as ActuatorId, ...parseDetails<Omit<Actuator, 'id'>>(row.details) };
}

function parseDetails<Details>(text: string): Details {
  // The text was written from such an object.
  return parseJson(text) as Details;
}
