import type { Instant } from '../../lib/clock.ts';
import { isJsonObject, type JsonValue } from '../../lib/json.ts';
import type { Device } from './device.ts';
import { passes, passesAsWritten, passesInTime } from './query-evaluation.ts';
import { type FieldTest, parseTests } from './query-parser.ts';

/**
 * The filter language of lists [spec 4, contract 5]: `field==criteria`, tests joined by `;` (AND).
 * Parsed once, then asked of many devices.
 */
export interface Filter {
  readonly source: string;
  readonly tests: readonly FieldTest[];
}

/** The last value of a sensor of the device in question. */
export type LastValueOf = (sensorId: string) => JsonValue | undefined;

/**
 * The filter that a client wrote as `q`; a blank one lets everything pass. `fieldCalled`
 * finds the field that the client means by a name.
 */
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
    if (own !== undefined) return passesAsWritten(test, own);
    return passes(test, fields.has(test.name) ? undefined : lastValueOf(test.name));
  });
}

/** Fields that must equal exactly one text, so that an index can narrow the search. */
export function requiredEquals(filter: Filter): ReadonlyMap<string, string> {
  const required = new Map<string, string>();
  for (const test of filter.tests) {
    if (test.operator !== '==' || !indexed.has(test.name)) continue;
    const [only, ...others] = test.anyOf;
    if (only === undefined || others.length > 0 || 'from' in only) continue;
    if (!required.has(test.name)) required.set(test.name, only.text);
  }
  return required;
}

const indexed: ReadonlySet<string> = new Set(['id', 'owner', 'gateway_id', 'domain']);

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
