import type { JsonValue } from '../../lib/json.ts';
import { isJsonWithin } from '../../lib/json-size.ts';
import { type Actor, isImport } from '../actor.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Device } from './device.ts';

/**
 * Whether the value is too large to be taken [contract 14]: more bytes as JSON text than
 * `bytesMax`. An administrator who imports brings what was stored elsewhere, whatever its size.
 */
export function isTooLarge(actor: Actor, value: JsonValue, bytesMax: number): boolean {
  return !isJsonWithin(value, bytesMax) && !isImport(actor);
}

/** The refusal of such a value; `where` says which of several it is. */
export function valueTooLarge(bytesMax: number, where: string): DomainError {
  return new DomainError(
    'too_large',
    `the value${where} has more than ${bytesMax} bytes as JSON text: send less at once; an ` +
      'administrator may raise KIPIMO_VALUE_BYTES_MAX',
  );
}

/**
 * Whether the sensor or actuator with this id may become `part`: throws limit_reached when the
 * device would be too long to be read and written in one piece. What is small, and what an
 * administrator imports, is always taken.
 */
export function requireRoomOn(actor: Actor, device: Device, id: string, part: object): void {
  if (bytesOf(part) <= limits.devicePartBytesFree || isImport(actor)) return;
  let bytes = bytesOf(part);
  for (const known of [...device.sensors, ...device.actuators]) {
    if (known.id !== id) bytes += bytesOf(known);
    if (bytes > limits.devicePartsBytesMax) throw tooMuchOn(device);
  }
}

const tooMuchOn = ({ id }: Device): DomainError =>
  new DomainError(
    'limit_reached',
    `the sensors and actuators of device ${id} would have more than ` +
      `${limits.devicePartsBytesMax} bytes as JSON text: shorten their meta and values, or make ` +
      'several devices of it',
  );

const bytesOf = (part: object): number => Buffer.byteLength(JSON.stringify(part));
