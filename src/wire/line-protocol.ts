import type { SensorRef } from '../domain/datapoints/datapoint.ts';
import type { NewDatapoint } from '../domain/datapoints/new-columns.ts';
import { invalid } from '../domain/errors.ts';
import { parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { withoutPadding } from '../lib/bare-value.ts';
import type { Instant } from '../lib/clock.ts';
import { type JsonValue, parseJson } from '../lib/json.ts';

/** A point of the InfluxDB line protocol, as it was written. */
export interface LinePoint {
  readonly measurement: string;
  readonly tags: ReadonlyMap<string, string>;
  readonly fields: readonly (readonly [string, JsonValue])[];
  /** A whole number, in the precision of the request; absent: the sender has no clock. */
  readonly time?: string;
}

/** A device has no more sensors than this, and no client names more tags. */
const fieldsMax = 1_000;
const tagsMax = 100;
const backslash = 92;
const quote = 34;

/**
 * Reads one line, without its end, as InfluxDB 1.6 does [decision 0023]. Undefined for an empty
 * line or a comment. Throws DomainError invalid, with the character from 1.
 */
export function readLinePoint(line: string): LinePoint | undefined {
  const cursor = createCursor(withoutPadding(line));
  cursor.skipBlanks();
  if (cursor.isAtEnd() || cursor.isAt('#')) return undefined;
  const measurement = unescaped(cursor.word(', ', ',', 'the measurement'));
  const tags = readTags(cursor);
  cursor.skipBlanks();
  const fields = readFields(cursor);
  cursor.skipBlanks();
  if (cursor.isAtEnd()) return { measurement, tags, fields };
  const time = cursor.rest();
  if (!/^-?\d{1,20}$/.test(time)) throw cursor.problem('the timestamp must be a whole number');
  return { measurement, tags, fields, time };
}

type Cursor = ReturnType<typeof createCursor>;

function readTags(cursor: Cursor): ReadonlyMap<string, string> {
  const tags = new Map<string, string>();
  while (cursor.takes(',')) {
    const key = unescapedTag(cursor.word('=, ', '=, ', 'the name of a tag'));
    const shown = key.slice(0, 60);
    if (!cursor.takes('=')) throw cursor.problem('a tag must be name=value');
    if (tags.size === tagsMax) throw cursor.problem(`a line may have ${tagsMax} tags`);
    if (tags.has(key)) throw cursor.problem(`the tag ${shown} is given twice`);
    if (key === 'time') throw cursor.problem('a tag must have another name than time');
    tags.set(key, unescapedTag(cursor.word('=, ', ', ', `the tag ${shown}`)));
    if (cursor.isAt('=')) throw cursor.problem(`in the tag ${shown} write \\= for an equals sign`);
  }
  return tags;
}

/** Of a field that is given twice the last value counts; one that is called time never does. */
function readFields(cursor: Cursor): readonly (readonly [string, JsonValue])[] {
  const fields = new Map<string, JsonValue>();
  do {
    const name = unescaped(cursor.fieldName());
    if (!cursor.takes('=')) throw cursor.problem('a field must be name=value');
    if (fields.size === fieldsMax && !fields.has(name)) {
      throw cursor.problem(`a line may have ${fieldsMax} fields`);
    }
    fields.set(name, cursor.isAt('"') ? cursor.quoted() : bareValue(cursor, name));
  } while (cursor.takes(','));
  if (!fields.delete('time') || fields.size > 0) return [...fields];
  throw cursor.problem('a field must have another name than time');
}

const unescaped = (word: string): string =>
  word.includes('\\') ? word.replace(/\\([,= "])/g, '$1') : word;

const unescapedTag = (word: string): string =>
  word.includes('\\') ? word.replace(/\\([,= ])/g, '$1') : word;

const truths: ReadonlySet<string> = new Set(['t', 'T', 'true', 'True', 'TRUE']);
const falsehoods: ReadonlySet<string> = new Set(['f', 'F', 'false', 'False', 'FALSE']);
const numberPattern = /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;
const integerPattern = /^-?\d{1,1024}[iu]$/;

function bareValue(cursor: Cursor, name: string): JsonValue {
  const text = cursor.bare();
  const shown = name.slice(0, 60);
  if (text === '') throw cursor.problem(`the value of ${shown} is missing`);
  if (truths.has(text)) return true;
  if (falsehoods.has(text)) return false;
  const isInteger = integerPattern.test(text);
  if (isInteger && !isInRange(text)) {
    throw cursor.problem(
      `the field ${shown} is no integer of 64 bits: leave the letter at its end`,
    );
  }
  const value = numberOf(isInteger ? text.slice(0, -1) : text);
  if (value !== undefined) return value;
  throw cursor.problem(`the field ${shown} must be a number, true, false or text in double quotes`);
}

function isInRange(text: string): boolean {
  const integer = BigInt(text.slice(0, -1));
  const bits = text.endsWith('u') ? BigInt.asUintN(64, integer) : BigInt.asIntN(64, integer);
  return bits === integer;
}

/** The number with all its digits, or undefined when it is none that JSON can say. */
function numberOf(text: string): JsonValue | undefined {
  const found = numberPattern.exec(text);
  if (found === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent] = found;
  if (whole === '' && fraction === '') return undefined;
  const digits = (whole.replace(/^0+(?=\d)/, '') || '0') + (fraction === '' ? '' : `.${fraction}`);
  const json = `${sign}${digits}${exponent === undefined ? '' : `e${exponent}`}`;
  try {
    return parseJson(json);
  } catch {
    // Beyond the range of a double.
    return undefined;
  }
}

function createCursor(text: string) {
  let at = 0;

  function problem(message: string) {
    return invalid(`${message} (character ${at + 1})`);
  }

  return {
    problem,
    isAtEnd: () => at >= text.length,
    isAt: (character: string) => text[at] === character,
    rest: () => text.slice(at),
    takes(character: string): boolean {
      if (text[at] !== character) return false;
      at += 1;
      return true;
    },
    skipBlanks(): void {
      while (at < text.length && ' \t\0'.includes(text.charAt(at))) at += 1;
    },
    /** Up to an end without a backslash before it; the first character is none of `noStart`. */
    word(ends: string, noStart: string, what: string): string {
      const start = at;
      if (at >= text.length || noStart.includes(text.charAt(at))) {
        throw problem(`${what} is missing`);
      }
      at += 1;
      while (
        at < text.length &&
        !(ends.includes(text.charAt(at)) && text.charCodeAt(at - 1) !== backslash)
      ) {
        at += 1;
      }
      return text.slice(start, at);
    },
    /** The name of a field, in which a backslash takes the meaning of any character away. */
    fieldName(): string {
      const start = at;
      while (at < text.length && !'=, '.includes(text.charAt(at))) {
        at += text.charCodeAt(at) === backslash ? 2 : 1;
      }
      at = Math.min(at, text.length);
      if (at === start) throw problem('the name of a field is missing');
      return text.slice(start, at);
    },
    bare(): string {
      const start = at;
      while (at < text.length && text[at] !== ',' && text[at] !== ' ') at += 1;
      return text.slice(start, at);
    },
    quoted(): string {
      const start = at + 1;
      for (at = start; at < text.length; at += 1) {
        const code = text.charCodeAt(at);
        if (code === backslash) at += 1;
        else if (code === quote) break;
      }
      if (at >= text.length) throw problem('a text is not closed by double quotes');
      at += 1;
      if (at < text.length && text[at] !== ',' && text[at] !== ' ') {
        throw problem('something follows the double quotes of a text');
      }
      return text.slice(start, at - 1).replace(/\\(["\\])/g, '$1');
    },
  };
}

/** Units of the timestamps of a request. */
export const precisions = ['ns', 'n', 'us', 'u', 'ms', 's', 'm', 'h'] as const;

export type Precision = (typeof precisions)[number];

/** Years 0 to 9999, as everywhere. */
const instantMin = -62_167_219_200_000n;
const instantMax = 253_402_300_799_999n;

const nanosecondsOf: Readonly<Record<Precision, bigint>> = {
  ns: 1n,
  n: 1n,
  us: 1_000n,
  u: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/**
 * Makes a datapoint for each field of a point. The unit of its time is not given, or to be guessed
 * from its size as InfluxDB 3 does: `auto`. Throws DomainError invalid.
 */
export function datapointsOfPoint(
  point: LinePoint,
  precision: Precision | 'auto' | undefined,
): readonly { readonly sensor: SensorRef; readonly datapoint: NewDatapoint }[] {
  const timestamp = point.time === undefined ? undefined : instantOf(point.time, precision);
  const { deviceId, naming, others } = deviceOf(point);
  const id = parseDeviceId(deviceId);
  return point.fields.map(([field, value]) => {
    // A field called value says nothing: then it is the measurement that was measured.
    const words =
      field === 'value' && naming !== 'measurement'
        ? [point.measurement, ...others]
        : [...(naming === 'host' ? [point.measurement] : []), ...others, field];
    return {
      sensor: { deviceId: id, sensorId: parseSensorId(asId(words.join('_'))) },
      datapoint: timestamp === undefined ? { value } : { value, timestamp },
    };
  });
}

/**
 * The device of a point, and the values of all other tags in the order of their names: they are in
 * the sensor's id, so that two series do not become one sensor.
 */
function deviceOf({ measurement, tags }: LinePoint): {
  readonly deviceId: string;
  /** The source of the device; hosts have many measurements with the same fields. */
  readonly naming: 'device' | 'host' | 'measurement';
  readonly others: readonly string[];
} {
  const host = tags.get('host');
  const named = tags.get('device_id') ?? host;
  const device = named ?? tags.get('device');
  const taken = named === undefined ? ['device'] : ['device_id', 'host'];
  const others = [...tags.entries()]
    .filter(([name]) => !taken.includes(name))
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, value]) => value);
  if (device === undefined) return { deviceId: measurement, naming: 'measurement', others };
  return { deviceId: device, naming: host === undefined ? 'device' : 'host', others };
}

/** Characters that an id may not hold become a dash each: paths and units are in tags. */
const asId = (text: string): string => text.replace(/[^!$*,\-.0-9:@A-Z[\]^_`a-z{|}~]/g, '-');

/** Nanoseconds from 1970 to 2015: times of devices are not before, and not after twice that. */
const present = 1_420_000_000_000_000_000n;

/** Whether a count is no time of now in nanoseconds, but is one in a larger unit. */
const lacksPrecision = (count: bigint): boolean =>
  count < present && Object.values(nanosecondsOf).some((unit) => (count * unit) / present === 1n);

function instantOf(time: string, given: Precision | 'auto' | undefined): Instant {
  const count = BigInt(time);
  const precision = given === 'auto' ? guessed(count) : (given ?? 'ns');
  const nanoseconds = count * nanosecondsOf[precision];
  const rest = nanoseconds % 1_000_000n;
  const instant = (nanoseconds - (rest < 0n ? rest + 1_000_000n : rest)) / 1_000_000n;
  if (given === undefined && lacksPrecision(count)) {
    throw invalid(
      `the timestamp ${time} is a date of 1970 when it counts nanoseconds: give precision, ` +
        'such as precision=s',
    );
  }
  if (instant >= instantMin && instant <= instantMax) return Number(instant);
  throw invalid(`the timestamp ${time} is no date when it counts ${precision}: give precision`);
}

/** Guesses the unit in which the times of now have that many digits. */
function guessed(count: bigint): Precision {
  const size = count < 0n ? -count : count;
  if (size < 5_000_000_000n) return 's';
  if (size < 5_000_000_000_000n) return 'ms';
  return size < 5_000_000_000_000_000n ? 'us' : 'ns';
}
