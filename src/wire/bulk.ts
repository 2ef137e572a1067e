import Type from 'typebox';
import { type BulkRow, BulkSensor, type BulkStep } from '../domain/datapoints/bulk-step.ts';
import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import type { BulkReport } from '../domain/datapoints/ingest-many.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { isJsonObject, JsonError, type JsonValue, parseJson } from '../lib/json.ts';
import { defined } from '../lib/record.ts';
import { ByteCursor, textOf } from './byte-cursor.ts';
import { readDatapoint } from './datapoint.ts';
import { Anything, DateText, Message, Prose, Whole, type Wire } from './fields.ts';
import { type Spelling, v2Spelling } from './spelling.ts';

const BulkDatapointMessage = Message('NewSensorDatapoint', {
  device_id: Type.String(),
  sensor_id: Type.String(),
  value: Anything('The measurement: any JSON value.'),
  timestamp: Type.Optional(DateText('When it was measured.')),
});

/** A bulk request; for the reference only, its elements are read by `readBulkLine`. */
export const BulkMessage = Type.Array(BulkDatapointMessage);

/** The outcome of a bulk request. */
export const BulkReportMessage = Message('BulkReport', {
  stored: Whole('Lines that are on disk; repeated ones count.'),
  refused: Type.Array(
    Type.Object({
      line: Whole('From 1: the element of the array, or the line.'),
      error: Type.String(),
      description: Prose('What to change.'),
    }),
    { description: `The first ${limits.bulkRefusalsMax}.` },
  ),
  refused_count: Whole('All of them.'),
});

/** Reads an element of a bulk request; what is wrong with it becomes its refusal. */
export function readBulkLine(
  text: string,
  line: number,
  { deviceId, sensorId }: Spelling = v2Spelling,
): BulkRow {
  let sensor: SensorRef | undefined;
  try {
    const body = parseLine(text);
    if (!isJsonObject(body)) {
      throw invalid(`send an object {"${deviceId}", "${sensorId}", "value", "timestamp"?}`);
    }
    sensor = { deviceId: parseDeviceId(body[deviceId]), sensorId: parseSensorId(body[sensorId]) };
    return { line, sensor, datapoint: readDatapoint(body, '') };
  } catch (reason) {
    if (!(reason instanceof DomainError)) throw reason;
    return defined({ line, refusal: reason, sent: text.trimStart(), sensor });
  }
}

function parseLine(text: string): JsonValue {
  try {
    return parseJson(text, limits.jsonDepthMax, limits.jsonCostMax);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw invalid(`not valid JSON: ${error.message}`);
  }
}

/** The report as clients see it. */
export function bulkReportToWire(report: BulkReport): Wire<typeof BulkReportMessage> {
  const { stored, refused, refusedCount } = report;
  return {
    stored,
    refused: refused.map(({ line, refusal }) => ({
      line,
      error: refusal.code,
      description: refusal.message,
    })),
    refused_count: refusedCount,
  };
}

/**
 * Puts the usual element of a bulk request from its bytes into the columns of a step: the ids, a
 * number, true, false, null or a short text, and the time in UTC, in any order. False: nothing was
 * put, for it is anything else, which `readBulkLine` reads or refuses.
 */
export type BulkByteReader = (
  bytes: Uint8Array,
  start: number,
  end: number,
  line: number,
  step: BulkStep,
) => boolean;

const quote = 34;
const comma = 44;
const colon = 58;
const openBrace = 123;
const closeBrace = 125;

/** Keys that an object has had so far, one bit for each. */
const seen = { deviceId: 1, sensorId: 2, value: 4, timestamp: 8 } as const;
const needed = seen.deviceId | seen.sensorId | seen.value;
const keysNeeded = 3;

/** A reader for one request: it remembers the sensors of the lines before, a bounded number. */
export function createBulkByteReader({
  deviceId,
  sensorId,
}: Pick<Spelling, 'deviceId' | 'sensorId'> = v2Spelling): BulkByteReader {
  const cursor = new ByteCursor();
  const sensors = new SensorMemory(sensorOfIds);
  const texts = new TextMemory();
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

  /** Takes true, false, null or a short text; undefined: it is anything else. */
  function takeText(bytes: Uint8Array): string | undefined {
    if (cursor.next() !== quote) return words.find(({ text }) => cursor.takeAll(text))?.word;
    if (!cursor.plainText()) return undefined;
    return texts.find(bytes, cursor.textStart - 1, cursor.textEnd + 1);
  }

  const before = new LineBefore();

  return (bytes, start, end, line, step) => {
    cursor.move(bytes, start, end);
    const known = before.sensorOfSame(cursor);
    // A line that turns out unreadable may leave the keys in another order.
    before.sensor = undefined;
    if (known === undefined && !cursor.take(openBrace)) return false;
    let isAtValue = known !== undefined;
    let found = isAtValue ? needed : 0;
    let place = isAtValue ? keysNeeded : 0;
    let valueStart = 0;
    let value = 0;
    let text: string | undefined;
    let timestamp = Number.NaN;
    let deviceStart = 0;
    let deviceEnd = 0;
    let sensorStart = 0;
    let sensorEnd = 0;
    do {
      const bit = isAtValue ? seen.value : takeKey(place);
      if (!isAtValue) {
        if (bit === 0 || !cursor.take(colon)) return false;
        place += 1;
        found |= bit;
      }
      isAtValue = false;
      if (bit === seen.value) {
        if (place === keysNeeded && found === needed) valueStart = cursor.at;
        if (mayBeginNumber(cursor.next())) {
          value = cursor.number();
          if (Number.isNaN(value)) return false;
        } else {
          text = takeText(bytes);
          if (text === undefined) return false;
        }
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
    if (!cursor.take(closeBrace) || !cursor.isAtEnd() || (found & needed) !== needed) return false;
    const sensor = known ?? sensors.find(bytes, deviceStart, deviceEnd, sensorStart, sensorEnd);
    if (sensor === undefined) return false;
    if (valueStart > 0) before.note(bytes, start, valueStart, sensor);
    if (text === undefined) step.putNumber(line, sensor, value, timestamp);
    else step.putText(line, sensor, text, timestamp);
    return true;
  };
}

/**
 * How the line before began, if with its ids and then its value: most lines of a request begin as
 * the one before them, and need not be read again as far as that.
 */
class LineBefore {
  #bytes: Uint8Array = new Uint8Array(0);
  #start = 0;
  #end = 0;
  /** Undefined: it began in another way, or was not read. */
  sensor: BulkSensor | undefined = undefined;

  /** Remembers a line from its start to its value; the bytes are not changed afterwards. */
  note(bytes: Uint8Array, start: number, end: number, sensor: BulkSensor): void {
    this.#bytes = bytes;
    this.#start = start;
    this.#end = end;
    this.sensor = sensor;
  }

  /** The sensor of a line that begins in the same way: the cursor is at its value then. */
  sensorOfSame(cursor: ByteCursor): BulkSensor | undefined {
    if (this.sensor === undefined) return undefined;
    return cursor.takeSame(this.#bytes, this.#start, this.#end) ? this.sensor : undefined;
  }
}

const words = ['true', 'false', 'null'].map((word) => ({ word, text: Buffer.from(word) }));
const minus = 45;
const [zero, nine] = [48, 57];
export const mayBeginNumber = (sign: number): boolean =>
  sign === minus || (sign >= zero && sign <= nine);

/** Longer texts are read by `readBulkLine`; so short ones are never too large for a value. */
const textBytesMax = 256;
/** Places of the memory; texts whose hashes fall on one take it from each other. */
const textsRemembered = 256;

/** The texts of the lines before, as JSON: those of a sensor are often the same few. */
export class TextMemory {
  readonly #texts: (string | undefined)[] = new Array(textsRemembered).fill(undefined);

  /** Undefined: it is too long. */
  find(bytes: Uint8Array, start: number, end: number): string | undefined {
    if (end - start > textBytesMax) return undefined;
    const hash = hashOf(bytes, start, end, 0);
    const place = (hash ^ (hash >>> 15)) & (textsRemembered - 1);
    const known = this.#texts[place];
    if (known !== undefined && isText(known, bytes, start, end)) return known;
    const text = textOf(bytes, start, end);
    this.#texts[place] = text;
    return text;
  }
}

/** Sensors that a request may have remembered; then it begins anew. */
const sensorsRemembered = 4_096;
/** Whole numbers of so many bits are keys without an object of their own. */
const smallInteger = 0x3fff_ffff;

/** The sensor of two texts, such as its ids; undefined: they name none. */
type SensorReader = (first: string, second: string) => BulkSensor | undefined;

/** The sensors of the lines before: one object, and one text of each id, for many lines. */
export class SensorMemory {
  /** Sensors by the hash of both texts; the latest of several with one hash. */
  readonly #sensors = new Map<number, readonly [string, string, BulkSensor]>();
  /** Where hashes begin: nobody chooses texts that fall on one place of the map. */
  readonly #seed = Math.floor(Math.random() * smallInteger);
  readonly #read: SensorReader;

  constructor(read: SensorReader) {
    this.#read = read;
  }

  /** Finds the sensor of two texts, each of ASCII between a start and an end. */
  find(
    bytes: Uint8Array,
    firstStart: number,
    firstEnd: number,
    secondStart: number,
    secondEnd: number,
  ): BulkSensor | undefined {
    const ofFirst = hashOf(bytes, firstStart, firstEnd, this.#seed);
    const hash = hashOf(bytes, secondStart, secondEnd, ofFirst) & smallInteger;
    const known = this.#sensors.get(hash);
    if (
      known !== undefined &&
      isText(known[0], bytes, firstStart, firstEnd) &&
      isText(known[1], bytes, secondStart, secondEnd)
    ) {
      return known[2];
    }
    const first = textOf(bytes, firstStart, firstEnd);
    const second = textOf(bytes, secondStart, secondEnd);
    const sensor = this.#read(first, second);
    if (this.#sensors.size === sensorsRemembered) this.#sensors.clear();
    if (sensor !== undefined) this.#sensors.set(hash, [first, second, sensor]);
    return sensor;
  }
}

function sensorOfIds(deviceId: string, sensorId: string): BulkSensor | undefined {
  try {
    return new BulkSensor(parseDeviceId(deviceId), parseSensorId(sensorId));
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
