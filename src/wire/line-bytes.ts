import { BulkSensor, type BulkStep } from '../domain/datapoints/bulk-step.ts';
import { type BulkByteReader, mayBeginNumber, SensorMemory, TextMemory } from './bulk.ts';
import { ByteCursor, textOf } from './byte-cursor.ts';
import { datapointsOfPoint, type Precision, readLinePoint } from './line-protocol.ts';

const space = 32;
const quote = 34;
const comma = 44;
const minus = 45;
const zero = 48;
const equals = 61;
const backslash = 92;
const smallI = 105;

/** A line with more is left to the ordinary reader. */
const fieldsMax = 64;
/** Longer heads and names are left to it as well: they are remembered for each field. */
const textBytesMax = 512;
const digitsMax = 15;
const timeDigitsMax = 20;
/** Year 9999, as everywhere. */
const instantMax = 253_402_300_799_999;
/** The beginning of 2015: an earlier time without a precision is looked at more closely. */
const presentMs = 1_420_000_000_000;

/** Digits that a time has behind those of its milliseconds; below 0: they lack. */
const digitsBehind = new Map<Precision | undefined, number>([
  [undefined, 6],
  ['ns', 6],
  ['n', 6],
  ['us', 3],
  ['u', 3],
  ['ms', 0],
  ['s', -3],
]);

const words = new Map([
  ...['t', 'T', 'true', 'True', 'TRUE'].map((word) => [word, 'true'] as const),
  ...['f', 'F', 'false', 'False', 'FALSE'].map((word) => [word, 'false'] as const),
]);
const wordBytesMax = 5;

/** The end, at this sign, of printable ASCII without quotes and backslashes; below 0: no such. */
function endAt(sign: number, bytes: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    const code = bytes[at] ?? 0;
    if (code === sign) return at;
    if (code <= space || code > 126 || code === quote || code === backslash) return -1;
  }
  return -1;
}

/** The sensor that the ordinary reader finds for a field behind a measurement and its tags. */
function sensorOf(head: string, field: string): BulkSensor | undefined {
  try {
    const point = readLinePoint(`${head} ${field}=0`);
    const [found] = point === undefined ? [] : datapointsOfPoint(point, undefined);
    return found && new BulkSensor(found.sensor.deviceId, found.sensor.sensorId);
  } catch {
    return undefined;
  }
}

/** The instant of a time of digits alone; NaN: it is another, which the ordinary reader reads. */
function instantIn(
  bytes: Uint8Array,
  start: number,
  end: number,
  precision: Precision | undefined,
): number {
  const behind = digitsBehind.get(precision);
  if (behind === undefined) return Number.NaN;
  const last = end - Math.max(0, behind);
  if (last <= start || last - start > digitsMax || end - start > timeDigitsMax) return Number.NaN;
  let instant = 0;
  for (let at = start; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return Number.NaN;
    if (at < last) instant = instant * 10 + digit;
  }
  if (behind < 0) instant *= 10 ** -behind;
  if (precision === undefined && instant < presentMs) return Number.NaN;
  return instant <= instantMax ? instant : Number.NaN;
}

/**
 * Puts the usual line of a protocol from its bytes into the columns of a step: numbers, truths and
 * short texts. False: nothing was put, for it is anything else, which `readLinePoint` reads or
 * refuses.
 */
export function createLineByteReader(precision: Precision | 'auto' | undefined): BulkByteReader {
  const cursor = new ByteCursor();
  const memory = new SensorMemory(sensorOf);
  const texts = new TextMemory();
  // The parts of one line: nothing is put before all of it is read.
  const sensors: BulkSensor[] = [];
  const numbers: number[] = [];
  const others: (string | undefined)[] = [];

  /** Reads the value that begins here; answers where it ends, below 0: it is another. */
  function readValue(bytes: Uint8Array, start: number, end: number): number {
    const code = start < end ? (bytes[start] ?? 0) : 0;
    cursor.move(bytes, start, end);
    let number = 0;
    let text: string | undefined;
    let at = start;
    if (mayBeginNumber(code)) {
      number = cursor.number();
      if (Number.isNaN(number)) return -1;
      at = cursor.at;
      if (at < end && bytes[at] === smallI) {
        if (!isShortInteger(bytes, start, at)) return -1;
        at += 1;
      }
    } else if (code === quote) {
      if (!cursor.plainText()) return -1;
      text = texts.find(bytes, start, cursor.textEnd + 1);
      at = cursor.at;
    } else {
      while (at < end && at - start <= wordBytesMax && bytes[at] !== comma && bytes[at] !== space) {
        at += 1;
      }
      text = words.get(textOf(bytes, start, at));
    }
    if (text === undefined && !mayBeginNumber(code)) return -1;
    numbers.push(number);
    others.push(text);
    return at;
  }

  /** Reads the fields from here; answers where they end, below 0: one is another. */
  function readFields(bytes: Uint8Array, start: number, headEnd: number, end: number): number {
    for (let at = headEnd + 1; sensors.length < fieldsMax; at += 1) {
      const nameEnd = endAt(equals, bytes, at, end);
      if (nameEnd <= at || nameEnd - at > textBytesMax) return -1;
      const sensor = memory.find(bytes, start, headEnd, at, nameEnd);
      if (sensor === undefined) return -1;
      // The last value counts of a field that is given twice.
      if (sensors.length > 0 && isAmong(sensors, sensor)) return -1;
      sensors.push(sensor);
      at = readValue(bytes, nameEnd + 1, end);
      if (at < 0 || at === end || bytes[at] === space) return at;
      if (bytes[at] !== comma) return -1;
    }
    return -1;
  }

  return (bytes, start, end, line, step: BulkStep) => {
    const headEnd = endAt(space, bytes, start, end);
    const headLength = headEnd - start;
    if (headLength <= 0 || headLength > textBytesMax || precision === 'auto') return false;
    sensors.length = 0;
    numbers.length = 0;
    others.length = 0;
    const at = readFields(bytes, start, headEnd, end);
    if (at < 0) return false;
    const timestamp = at === end ? Number.NaN : instantIn(bytes, at + 1, end, precision);
    if (at < end && Number.isNaN(timestamp)) return false;
    for (let place = 0; place < sensors.length; place += 1) {
      const sensor = sensors[place] as BulkSensor;
      const text = others[place];
      if (text !== undefined) step.putText(line, sensor, text, timestamp);
      else step.putNumber(line, sensor, numbers[place] ?? 0, timestamp);
    }
    return true;
  };
}

const isAmong = (sensors: readonly BulkSensor[], { sensorId }: BulkSensor): boolean =>
  sensors.some((one) => one.sensorId === sensorId);

/** Whether it is a sign or none, and up to fifteen digits. */
function isShortInteger(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === minus ? start + 1 : start;
  for (let at = first; at < end; at += 1) {
    const digit = (bytes[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return false;
  }
  return end > first && end - first <= digitsMax;
}
