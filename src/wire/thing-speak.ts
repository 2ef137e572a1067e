import Type from 'typebox';
import type { NewDatapoint } from '../domain/datapoints/ingest.ts';
import { invalid } from '../domain/errors.ts';
import { type DeviceId, parseSensorId, type SensorId } from '../domain/ids.ts';
import type { Instant } from '../lib/clock.ts';
import { isJsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { readInstant } from './datapoint.ts';
import { DateText, type Wire } from './fields.ts';

/** Parameters of an update by their names, whichever part of the request held them. */
export type UpdateParameters = ReadonlyMap<string, string>;

const fieldNames = Array.from({ length: 8 }, (_, index) => `field${index + 1}`);

/** The datapoints of an update, one for each sensor. Throws DomainError invalid. */
export function readUpdate(parameters: UpdateParameters): ReadonlyMap<SensorId, NewDatapoint> {
  const createdAt = parameters.get('created_at');
  const timestamp = createdAt === undefined ? undefined : readInstant(createdAt, 'created_at');
  const datapoints = new Map<SensorId, NewDatapoint>();
  for (const name of fieldNames) {
    const text = parameters.get(name);
    if (text !== undefined)
      datapoints.set(parseSensorId(name), stamped(fieldValue(text), timestamp));
  }
  const status = parameters.get('status');
  if (status !== undefined) datapoints.set(parseSensorId('status'), stamped(status, timestamp));
  const location = locationOf(parameters);
  if (location !== undefined) {
    datapoints.set(parseSensorId('location'), stamped(location, timestamp));
  }
  if (datapoints.size === 0) throw invalid('nothing is given: send field1 to field8, or status');
  return datapoints;
}

/** The parameters of a form, or of a JSON object; what is empty or null counts as not given. */
export function readUpdateBody(text: string, isJson: boolean): UpdateParameters {
  if (text.trim() === '') return new Map();
  if (!isJson) return given(new URLSearchParams(text.trim()).entries());
  const body = parsed(text);
  if (!isJsonObject(body)) throw invalid('the body must be a JSON object such as {"field1": 21.5}');
  return given(
    Object.entries(body).map(([name, value]) => [
      name,
      value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/** The parameters that hold anything. */
export function given(entries: Iterable<readonly [string, string]>): UpdateParameters {
  return new Map([...entries].filter(([, text]) => text.trim() !== ''));
}

/** With the fields that were sent beside. */
export const UpdateMessage = Type.Object(
  {
    channel_id: Type.String(),
    entry_id: Type.Integer(),
    created_at: DateText('When it was made.'),
  },
  { additionalProperties: Type.String() },
);

/** An entry as those are told who ask for JSON: the fields as they were sent. */
export function updateToWire(
  entry: { readonly deviceId: DeviceId; readonly entryId: number; readonly now: Instant },
  parameters: UpdateParameters,
): Wire<typeof UpdateMessage> {
  const names = [...fieldNames, 'latitude', 'longitude', 'elevation', 'status'];
  const sent = names.map((name) => [name, parameters.get(name) ?? parameters.get(short(name))]);
  const createdAt = parameters.get('created_at');
  const at = createdAt === undefined ? entry.now : readInstant(createdAt, 'created_at');
  return {
    channel_id: entry.deviceId,
    entry_id: entry.entryId,
    created_at: formatTimestamp(at),
    ...Object.fromEntries(sent.filter(([, text]) => text !== undefined)),
  };
}

const shortNames: Readonly<Record<string, string>> = { latitude: 'lat', longitude: 'long' };
const short = (name: string): string => shortNames[name] ?? name;

function parsed(text: string): JsonValue {
  try {
    return parseJson(text, 2);
  } catch (error) {
    throw invalid(`the body is not valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
}

const stamped = (value: JsonValue, timestamp: Instant | undefined): NewDatapoint =>
  timestamp === undefined ? { value } : { value, timestamp };

/** A field that is a number is stored as one, digit for digit; any other is a text. */
function fieldValue(text: string): JsonValue {
  const trimmed = text.trim();
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d{1,4})?$/.test(trimmed)) {
    try {
      return parseJson(trimmed);
    } catch {
      // Beyond the range of a double: the text says more.
      return text;
    }
  }
  const isNumber = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?$/.test(trimmed);
  const number = Number(trimmed);
  return isNumber && Number.isFinite(number) ? number : text;
}

function locationOf(parameters: UpdateParameters): JsonValue | undefined {
  const latitude = degrees(parameters, ['lat', 'latitude'], 90);
  const longitude = degrees(parameters, ['long', 'longitude'], 180);
  if (latitude === undefined && longitude === undefined) return undefined;
  if (latitude === undefined || longitude === undefined) {
    throw invalid('give both lat and long, or none of them');
  }
  const elevation = degrees(parameters, ['elevation'], 1_000_000);
  return { latitude, longitude, ...(elevation !== undefined && { elevation }) };
}

function degrees(
  parameters: UpdateParameters,
  names: readonly string[],
  most: number,
): number | undefined {
  for (const name of names) {
    const text = parameters.get(name);
    if (text === undefined) continue;
    const value = Number(text);
    if (Math.abs(value) <= most) return value;
    throw invalid(`${name} must be a number from -${most} to ${most}`);
  }
  return undefined;
}
