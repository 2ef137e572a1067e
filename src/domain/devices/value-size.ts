import { isBigNumber, type JsonValue } from '../../lib/json.ts';
import { LongJson, writeJson } from '../../lib/long-json.ts';
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
  const problem = isImport(actor) ? undefined : tooMuchWith(device, id, part);
  if (problem !== undefined) throw problem;
}

/** The refusal of what a rule or a person makes of a part of the device; undefined: it fits. */
export function tooMuchWith(device: Device, id: string, part: object): DomainError | undefined {
  let bytes = bytesOf(part);
  if (bytes <= limits.devicePartBytesFree) return undefined;
  for (const known of [...device.sensors, ...device.actuators]) {
    if (known.id !== id) bytes += bytesOf(known);
    if (bytes > limits.devicePartsBytesMax) return tooMuchOn(device);
  }
  return undefined;
}

const tooMuchOn = ({ id }: Device): DomainError =>
  new DomainError(
    'limit_reached',
    `the sensors and actuators of device ${id} would have more than ` +
      `${limits.devicePartsBytesMax} bytes as JSON text: shorten their meta and values, or make ` +
      'several devices of it',
  );

/** The refusal of a value to set an actuator to, which is kept with its device; undefined: fits. */
export function settingTooLarge(value: JsonValue): DomainError | undefined {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes <= limits.actuatorValueBytesMax) return undefined;
  return new DomainError(
    'too_large',
    `the value must have at most ${limits.actuatorValueBytesMax} bytes as JSON, got ${bytes}`,
  );
}

const bytesOf = (part: object): number => Buffer.byteLength(JSON.stringify(part));

/** The longest text of a double, and of `true`, `false` and `null`. */
const plainBytesMax = 25;
/** A character as `\u0000`; in UTF-8 none takes more. */
const bytesPerCharacterMax = 6;

/**
 * Whether the JSON text of the value has at most `bytesMax` bytes in UTF-8. Most values are far
 * from it and are only estimated; those that may be too long are written to be sure.
 */
export function isJsonWithin(value: JsonValue, bytesMax: number): boolean {
  if (typeof value === 'number')
    return plainBytesMax <= bytesMax || isWrittenWithin(value, bytesMax);
  return upperBound(value, bytesMax) <= bytesMax || isWrittenWithin(value, bytesMax);
}

const isWrittenWithin = (value: JsonValue, bytesMax: number): boolean =>
  Buffer.byteLength(writeJson(value)) <= bytesMax;

/** An upper bound of the bytes of the text; counting stops above `enough`. */
function upperBound(value: JsonValue, enough: number): number {
  if (typeof value === 'string') return value.length * bytesPerCharacterMax + 2;
  if (typeof value !== 'object' || value === null) return plainBytesMax;
  if (isBigNumber(value)) return value.rawJSON.length;
  if (value instanceof LongJson) return value.text.length * bytesPerCharacterMax;
  let bytes = 2;
  if (Array.isArray(value)) {
    for (const item of value) {
      bytes += 1 + upperBound(item, enough - bytes);
      if (bytes > enough) return bytes;
    }
    return bytes;
  }
  for (const [key, item] of Object.entries(value)) {
    bytes += key.length * bytesPerCharacterMax + 4 + upperBound(item, enough - bytes);
    if (bytes > enough) return bytes;
  }
  return bytes;
}
