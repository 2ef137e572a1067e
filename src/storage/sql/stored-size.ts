import type { Actuator } from '../../domain/devices/actuator.ts';
import type { Device } from '../../domain/devices/device.ts';
import type { Sensor } from '../../domain/devices/sensor.ts';
import { deviceDetails, partDetails } from './device-row.ts';

/** Bytes that a row counts besides its text: keys, indexes and dates. */
export const rowBytes = 200;

/** Bytes that the description of a device counts towards a quota, without its sensors. */
export const deviceBytes = (device: Device): number =>
  rowBytes + Buffer.byteLength(deviceDetails(device));

/** Bytes that the description of a sensor or actuator counts. */
export const partBytes = (part: Sensor | Actuator): number =>
  rowBytes + Buffer.byteLength(partDetails(part));

/** Bytes that the descriptions of a device and all its parts count. */
export function descriptionBytes(device: Device): number {
  let bytes = deviceBytes(device);
  for (const part of [...device.sensors, ...device.actuators]) bytes += partBytes(part);
  return bytes;
}
