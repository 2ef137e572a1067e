import { BulkSensor, type BulkStep } from '../domain/datapoints/bulk-step.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { ByteCursor, textOf } from './byte-cursor.ts';
import { type Spelling, v2Spelling } from './spelling.ts';

/**
 * Puts the usual element of a bulk request from its bytes into the columns of a step: the ids, a
 * number, and the time in UTC, in any order. False: nothing was put, for it is anything else, which
 * `readBulkLine` reads or refuses.
 */
export type BulkByteReader = (
  bytes: Uint8Array,
  start: number,
  end: number,
  line: number,
  step: BulkStep,
) => boolean;

const comma = 44;
const colon = 58;
const openBrace = 123;
const closeBrace = 125;

/** What an object has had so far, one bit for each. */
const seen = { deviceId: 1, sensorId: 2, value: 4, timestamp: 8 } as const;
const needed = seen.deviceId | seen.sensorId | seen.value;

/** A reader for one request: it remembers the sensors of the lines before, a bounded number. */
export function createBulkByteReader({
  deviceId,
  sensorId,
}: Pick<Spelling, 'deviceId' | 'sensorId'> = v2Spelling): BulkByteReader {
  const cursor = new ByteCursor();
  const sensors = new SensorMemory();
  const keys = [
    { bit: seen.deviceId, text: Buffer.from(`"${deviceId}"`) },
    { bit: seen.sensorId, text: Buffer.from(`"${sensorId}"`) },
    { bit: seen.value, text: Buffer.from('"value"') },
    { bit: seen.timestamp, text: Buffer.from('"timestamp"') },
  ];

  /** Takes a key, first the one that had this place in the line before; 0: another. */
  function takeKey(place: number): number {
    for (let at = place; at < keys.length; at += 1) {
      const key = keys[at];
      if (key === undefined || !cursor.takeAll(key.text)) continue;
      if (at > place) {
        keys.splice(at, 1);
        keys.splice(place, 0, key);
      }
      return key.bit;
    }
    return 0;
  }

  return (bytes, start, end, line, step) => {
    cursor.move(bytes, start, end);
    if (!cursor.take(openBrace)) return false;
    let found = 0;
    let value = 0;
    let timestamp = Number.NaN;
    let deviceStart = 0;
    let deviceEnd = 0;
    let sensorStart = 0;
    let sensorEnd = 0;
    let place = 0;
    do {
      const bit = takeKey(place);
      if (bit === 0 || !cursor.take(colon)) return false;
      place += 1;
      found |= bit;
      if (bit === seen.value) {
        value = cursor.number();
        if (Number.isNaN(value)) return false;
      } else if (bit === seen.timestamp) {
        timestamp = cursor.instant();
        if (Number.isNaN(timestamp)) return false;
      } else if (!cursor.plainText()) {
        return false;
      } else if (bit === seen.deviceId) {
        deviceStart = cursor.textStart;
        deviceEnd = cursor.textEnd;
      } else {
        sensorStart = cursor.textStart;
        sensorEnd = cursor.textEnd;
      }
    } while (cursor.take(comma));
    if (!cursor.take(closeBrace) || !cursor.isAtEnd() || (found & needed) !== needed) {
      return false;
    }
    const sensor = sensors.find(bytes, deviceStart, deviceEnd, sensorStart, sensorEnd);
    if (sensor === undefined) return false;
    step.putNumber(line, sensor, value, timestamp);
    return true;
  };
}

/** Places of the memory; sensors whose hashes fall on one take it from each other. */
const sensorsRemembered = 4_096;

/** The sensors of the lines before: one object, and one text of each id, for many lines. */
class SensorMemory {
  readonly #sensors: (BulkSensor | undefined)[] = new Array(sensorsRemembered).fill(undefined);

  /** Undefined: the texts are no ids. */
  find(
    bytes: Uint8Array,
    deviceStart: number,
    deviceEnd: number,
    sensorStart: number,
    sensorEnd: number,
  ): BulkSensor | undefined {
    let hash = hashOf(bytes, deviceStart, deviceEnd, 0);
    hash = hashOf(bytes, sensorStart, sensorEnd, hash);
    const place = (hash ^ (hash >>> 15)) & (sensorsRemembered - 1);
    const known = this.#sensors[place];
    if (
      known !== undefined &&
      isText(known.deviceId, bytes, deviceStart, deviceEnd) &&
      isText(known.sensorId, bytes, sensorStart, sensorEnd)
    ) {
      return known;
    }
    const sensor = read(bytes, deviceStart, deviceEnd, sensorStart, sensorEnd);
    if (sensor !== undefined) this.#sensors[place] = sensor;
    return sensor;
  }
}

function read(
  bytes: Uint8Array,
  deviceStart: number,
  deviceEnd: number,
  sensorStart: number,
  sensorEnd: number,
): BulkSensor | undefined {
  try {
    return new BulkSensor(
      parseDeviceId(textOf(bytes, deviceStart, deviceEnd)),
      parseSensorId(textOf(bytes, sensorStart, sensorEnd)),
    );
  } catch {
    // The ordinary reader says what is wrong with it.
    return undefined;
  }
}

function hashOf(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let hash = seed;
  for (let at = start; at < end; at += 1) hash = Math.imul(hash, 31) + (bytes[at] ?? 0);
  return hash;
}

function isText(text: string, bytes: Uint8Array, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let at = start; at < end; at += 1) {
    if (text.charCodeAt(at - start) !== bytes[at]) return false;
  }
  return true;
}
