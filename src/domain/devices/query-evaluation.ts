import type { Instant } from '../../lib/clock.ts';
import { compareNumbers } from '../../lib/decimal-compare.ts';
import { asNumber, isBigNumber, isJsonObject, type JsonValue } from '../../lib/json.ts';
import { LongJson } from '../../lib/long-json.ts';
import type { Pattern } from '../../lib/pattern.ts';
import { formatTimestamp } from '../../lib/timestamp.ts';
import { limits } from '../limits.ts';
import type { Device } from './device.ts';
import type { Criterion, FieldTest, Operand } from './field-test.ts';
import { parseTests } from './query-parser.ts';

/**
 * The filter language of lists [spec 4, contract 5]: `field==criteria`, tests joined by `;` (AND).
 * Parsed once, then asked of many devices.
 */
export interface Filter {
  readonly source: string;
  readonly tests: readonly FieldTest[];
}

/** The last value of a sensor of the device in question. */
type LastValueOf = (sensorId: string) => JsonValue | undefined;

/** The filter of a `q`; a blank one passes all. `fieldCalled` finds the field of a name. */
export function parseFilter(
  source: string,
  fieldCalled: (name: string) => string = (name) => name,
): Filter {
  const options = {
    label: 'q',
    isField: (name: string) => isField(fieldCalled(name)),
    isForMany: true,
  };
  const tests = parseTests(source, options).map((test) => ({
    ...test,
    name: fieldCalled(test.name),
  }));
  return { source, tests };
}

/** Whether the device passes every test of the filter. */
export function matches(filter: Filter, device: Device, lastValueOf: LastValueOf): boolean {
  return filter.tests.every((test) => {
    const instantOf = moments.get(test.name);
    if (instantOf !== undefined) return passesInTime(test, instantOf(device));
    const own = ownValue(test.name, device);
    if (own !== undefined) return passesBy(asWritten, test, own);
    return passes(test, fields.has(test.name) ? undefined : lastValueOf(test.name));
  });
}

/** Finds what must be equal, so that an index can narrow the search. */
export function narrowingOf(filter: Filter) {
  /** Texts that fields must equal, of those that stores have columns of. */
  const equals = new Map<string, string>();
  /** Ids of which it must have one. */
  let ids: readonly string[] | undefined;
  /** Whether nothing else is asked for. */
  let isAll = true;
  for (const test of filter.tests) {
    const texts = textsOf(test);
    const isNew = test.name === 'id' ? ids === undefined : !equals.has(test.name);
    if (texts !== undefined && isNew && test.name === 'id') ids = texts;
    else if (texts?.length === 1 && isNew && indexed.has(test.name)) {
      equals.set(test.name, texts.join());
    } else isAll = false;
  }
  return { equals, ids, isAll };
}

const indexed: ReadonlySet<string> = new Set(['owner', 'gateway_id', 'domain']);

/** The texts of which a field must equal one. */
function textsOf(test: FieldTest): readonly string[] | undefined {
  if (test.operator !== '==') return undefined;
  const texts = test.anyOf.flatMap((criterion) =>
    // A store may hold U+FFFD for what is no character.
    'from' in criterion || criterion.text.includes('\ufffd') ? [] : criterion.text,
  );
  return texts.length === test.anyOf.length ? texts : undefined;
}

const moments: ReadonlyMap<string, (device: Device) => Instant> = new Map([
  ['date_created', (device: Device) => device.createdAt],
  ['date_modified', (device: Device) => device.modifiedAt],
]);

/** The fields of a device by their names in the API. */
const fields: ReadonlyMap<string, (device: Device) => JsonValue | undefined> = new Map([
  ['id', (device: Device): JsonValue | undefined => device.id],
  ['owner', (device) => device.owner],
  ['name', (device) => device.name],
  ['gateway_id', (device) => device.gatewayId],
  ['domain', (device) => device.domain],
  ['visibility', (device) => device.visibility ?? 'public'],
  ['location', (device) => device.location && { ...device.location }],
  ['deployed', (device) => device.isDeployed],
  ['timezone', (device) => device.timezone],
  ['meta', (device) => device.meta],
  ['sensors', (device) => idsOf(device.sensors)],
  ['actuators', (device) => idsOf(device.actuators)],
]);

/** Sensors and actuators compare by their ids; a device without any has no such field. */
function idsOf(parts: readonly { readonly id: string }[]): JsonValue | undefined {
  return parts.length === 0 ? undefined : parts.map((part) => part.id);
}

const nested: ReadonlySet<string> = new Set(['location', 'meta']);

function isField(name: string): boolean {
  if (fields.has(name) || moments.has(name)) return true;
  const dot = name.indexOf('.');
  return dot > 0 && nested.has(name.slice(0, dot));
}

/** A field of the device, or a place inside its objects; undefined where a sensor is meant. */
function ownValue(name: string, device: Device): JsonValue | undefined {
  const field = fields.get(name);
  if (field !== undefined) return field(device);
  const dot = name.indexOf('.');
  const head = name.slice(0, dot);
  if (dot < 0 || !nested.has(head)) return undefined;
  return valueAt(fields.get(head)?.(device), name.slice(dot + 1));
}

/** The value at a dotted path. A key that holds dots itself is found where it ends the path. */
function valueAt(root: JsonValue | undefined, path: string): JsonValue | undefined {
  let value = root;
  let rest = path;
  while (isJsonObject(value)) {
    // Own keys only: meta.constructor is not what a client stored.
    if (Object.hasOwn(value, rest)) return value[rest];
    const dot = rest.indexOf('.');
    const key = rest.slice(0, dot);
    if (dot < 0 || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
    rest = rest.slice(dot + 1);
  }
  return undefined;
}

/**
 * Whether the value of its field passes the test. An absent value passes only `!field`. A number
 * compares as a number and with numbers only, all else as text. An array passes when one of its
 * elements does; an object equals nothing.
 */
export const passes = (test: FieldTest, value: JsonValue | undefined): boolean =>
  value === undefined ? test.operator === 'absent' : passesBy(plain, test, value);

function passesBy(reading: Reading<JsonValue>, test: FieldTest, value: JsonValue): boolean {
  const elements = elementsOf(value);
  if (elements === undefined || test.operator === 'exists') return passesOne(reading, test, value);
  if (test.operator === '!=') return elements.every((element) => passesOne(reading, test, element));
  if (test.operator === '~=') return isFoundInOne(test.pattern, elements);
  return elements.some((element) => passesOne(reading, test, element));
}

/** Whether the test compares with numbers alone: what is no number says nothing to it. */
export function comparesNumbers(test: FieldTest): boolean {
  const isNumber = (operand: Operand): boolean => operand.number !== undefined;
  if ('operand' in test) return isNumber(test.operand);
  if (!('anyOf' in test)) return false;
  return test.anyOf.every((criterion) =>
    isNumber('from' in criterion ? criterion.from : criterion),
  );
}

/** Whether the value counts as a number, or an element of it does. */
export function hasNumber(value: JsonValue): boolean {
  const elements = elementsOf(value);
  if (elements === undefined) return asNumber(value) !== undefined;
  return elements.some((element) => asNumber(element) !== undefined);
}

/** Elements of an array that are evaluated; undefined: the value is no array. */
function elementsOf(value: JsonValue): readonly JsonValue[] | undefined {
  if (value instanceof LongJson) {
    return value.isArray ? value.elements(limits.queryElementsMax) : undefined;
  }
  return Array.isArray(value) ? value.slice(0, limits.queryElementsMax) : undefined;
}

/** Longer than any operand, and than the text that patterns read. */
const charactersCompared = 8 * limits.queryCharactersMax;

/** Patterns are slow: of an array they see as many characters as of a text. */
function isFoundInOne(pattern: Pattern, elements: readonly JsonValue[]): boolean {
  let room: number = limits.patternTextCharactersMax;
  for (const element of elements) {
    const text = textOf(element);
    if (text === undefined) continue;
    room -= text.length + 1;
    if (room < 0) return false;
    if (pattern.test(text)) return true;
  }
  return false;
}

/** Whether a moment passes the test: compared in time with operands that are timestamps. */
export function passesInTime(test: FieldTest, instant: Instant): boolean {
  return passesOne(inTime, test, instant);
}

/** How a kind of value is compared: below 0, 0 or above 0 as it comes before, with or after. */
interface Reading<Value> {
  text(value: Value): string | undefined;
  order(value: Value, operand: Operand): number | undefined;
}

const plain: Reading<JsonValue> = {
  text: textOf,
  order(value, operand) {
    if (operand.number === undefined) return orderOf(textOf(value), operand.text);
    // Text that is no number is neither above 30 nor below: "error" must not raise an alarm.
    const order = orderOf(asNumber(value), operand.number);
    // Equal doubles may represent numbers that differ.
    return order === 0 ? compareNumbers(value, operand.text) : order;
  },
};

const isText = (value: JsonValue): boolean =>
  typeof value === 'string' || (value instanceof LongJson && value.isString);

/** Texts, though they may read as numbers, compare as text. */
const asWritten: Reading<JsonValue> = {
  text: textOf,
  order: (value, operand) =>
    isText(value) ? orderOf(textOf(value), operand.text) : plain.order(value, operand),
};

const inTime: Reading<Instant> = {
  text: formatTimestamp,
  order(instant, operand) {
    if (operand.instant !== undefined) return orderOf(instant, operand.instant);
    return orderOf(formatTimestamp(instant), operand.text);
  },
};

function textOf(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (isBigNumber(value)) return value.rawJSON;
  if (value instanceof LongJson) {
    return value.isString ? value.beginning(charactersCompared) : undefined;
  }
  return typeof value === 'object' && value !== null ? undefined : String(value);
}

function orderOf<Value extends number | string>(
  a: Value | undefined,
  b: Value,
): number | undefined {
  if (a === undefined) return undefined;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function passesOne<Value>(reading: Reading<Value>, test: FieldTest, value: Value): boolean {
  switch (test.operator) {
    case 'exists':
      return true;
    case 'absent':
      return false;
    case '==':
      return test.anyOf.some((criterion) => meets(reading, value, criterion));
    case '!=':
      return !test.anyOf.some((criterion) => meets(reading, value, criterion));
    case '~=': {
      const text = reading.text(value);
      return text !== undefined && test.pattern.test(text);
    }
    default: {
      const order = reading.order(value, test.operand);
      return order !== undefined && isOrdered(test.operator, order);
    }
  }
}

function meets<Value>(reading: Reading<Value>, value: Value, criterion: Criterion): boolean {
  if (!('from' in criterion)) return reading.order(value, criterion) === 0;
  const fromStart = reading.order(value, criterion.from);
  const fromEnd = reading.order(value, criterion.to);
  return fromStart !== undefined && fromEnd !== undefined && fromStart >= 0 && fromEnd <= 0;
}

function isOrdered(operator: '<' | '<=' | '>' | '>=', order: number): boolean {
  if (operator === '<') return order < 0;
  if (operator === '<=') return order <= 0;
  return operator === '>' ? order > 0 : order >= 0;
}
