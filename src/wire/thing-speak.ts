import Type from 'typebox';
import type { NewDatapoint } from '../domain/datapoints/new-columns.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { type DeviceId, parseSensorId, type SensorId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { withoutPadding } from '../lib/bare-value.ts';
import type { Instant } from '../lib/clock.ts';
import { isJsonObject, type JsonValue, parseJson } from '../lib/json.ts';
import { defined } from '../lib/record.ts';
import type { TimeZone } from '../lib/time-zone.ts';
import { formatTimestamp } from '../lib/timestamp.ts';
import { bytesWithoutPadding, readBareValue, readJson } from './bare-value.ts';
import { readLocalInstant, readTimeZone } from './datapoint.ts';
import { DateText, type Wire } from './fields.ts';

const { bulkUpdatesMax, formPairsMax } = limits;

/** Parameters of an update by their names, whichever part of the request held them. */
export type UpdateParameters = ReadonlyMap<string, string>;

export const fieldNames = Array.from({ length: 8 }, (_, index) => `field${index + 1}`);
/** All that an entry may hold, in the order of the cells of a row. */
const entryNames = [...fieldNames, 'latitude', 'longitude', 'elevation', 'status'];

/** The datapoint of a field, or why it is none. */
export type UpdateField = NewDatapoint | DomainError;

/** The fields of an update, one a sensor. Throws DomainError invalid where none is a datapoint. */
export function readUpdate(
  parameters: UpdateParameters,
  zone: TimeZone | undefined = zoneOf(parameters),
): ReadonlyMap<SensorId, UpdateField> {
  const timestamp = instantOf(parameters, zone);
  const fields = new Map<SensorId, UpdateField>();
  for (const name of fieldNames) {
    const text = parameters.get(name);
    if (text !== undefined) fields.set(parseSensorId(name), fieldOf(text, timestamp));
  }
  const status = parameters.get('status');
  if (status !== undefined) {
    fields.set(parseSensorId('status'), stamped(withoutPadding(status), timestamp));
  }
  const location = locationOf(parameters);
  if (location !== undefined) fields.set(parseSensorId('location'), stamped(location, timestamp));
  if (fields.size === 0) throw invalid('nothing is given: send field1 to field8, or status');
  const [first, ...others] = fields.values();
  if (first instanceof DomainError && others.every((field) => field instanceof DomainError)) {
    throw first;
  }
  return fields;
}

/** The parameters of a form, or of a JSON object; what is empty or null counts as not given. */
export function readUpdateBody(sent: string | Buffer, isJson: boolean): UpdateParameters {
  const bytes = bytesWithoutPadding(Buffer.from(sent));
  if (bytes.length === 0) return new Map();
  if (!isJson) return readForm(bytes);
  return parametersOf(readJsonObject(bytes));
}

/** A JSON object of few levels. Throws DomainError invalid for anything else. */
function readJsonObject(bytes: Buffer): Readonly<Record<string, JsonValue>> {
  const text = withoutPadding(decoded(bytes));
  const body = readJson(text, 'the body', (text) => parseJson(text, 4));
  if (isJsonObject(body)) return body;
  throw invalid('the body must be a JSON object such as {"field1": 21.5}');
}

/** The parameters of a form, each in UTF-8 or else in Windows-1252, as old sketches write. */
export function readForm(bytes: Buffer): UpdateParameters {
  const pairs = bytesWithoutPadding(bytes)
    .toString('latin1')
    .trim()
    .split('&', formPairsMax + 1);
  if (pairs.length > formPairsMax) throw invalid(`a form must have at most ${formPairsMax} pairs`);
  return given(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      const [name, text] =
        equals < 0 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
      return [unescapedForm(name), unescapedForm(text)] as const;
    }),
  );
}

/** A text whose characters are the bytes of a form. */
function unescapedForm(text: string): string {
  const bytes = Buffer.from(text.replaceAll('+', ' '), 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1, length += 1) {
    const byte = bytes[at] ?? 0;
    const code = byte === percent ? hexAt(bytes, at + 1) : -1;
    bytes[length] = code < 0 ? byte : code;
    if (code >= 0) at += 2;
  }
  return decoded(bytes.subarray(0, length));
}

const percent = 0x25;

/** The byte that two hexadecimal digits stand for; -1: they are none. */
function hexAt(bytes: Buffer, at: number): number {
  const [high, low] = [valueOfHex(bytes[at] ?? 0), valueOfHex(bytes[at + 1] ?? 0)];
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

function valueOfHex(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const windows1252 = new TextDecoder('windows-1252');

function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return windows1252.decode(bytes);
  }
}

/** The parameters that a JSON object holds. */
export function parametersOf(body: Readonly<Record<string, JsonValue>>): UpdateParameters {
  return given(
    Object.entries(body).map(([name, value]) => [
      name,
      value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/** Parameters as a form, without keys. */
export const updateText = (parameters: UpdateParameters): string =>
  [...parameters]
    .filter(([name]) => !name.endsWith('key'))
    .map(([name, text]) => `${name}=${text}`)
    .join('&');

/** The parameters that hold anything. */
export function given(entries: Iterable<readonly [string, string]>): UpdateParameters {
  return new Map([...entries].filter(([, text]) => withoutPadding(text) !== ''));
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

/** An entry for clients that ask for JSON: what was stored, as it was sent. */
export function updateToWire(
  entry: { readonly deviceId: DeviceId; readonly entryId: number; readonly now: Instant },
  parameters: UpdateParameters,
): Wire<typeof UpdateMessage> {
  const sent = entryNames.map((name) => [
    name,
    parameters.get(name) ?? parameters.get(short(name)),
  ]);
  const at = instantOf(parameters, zoneOf(parameters)) ?? entry.now;
  const refused = [...readUpdate(parameters)].flatMap(([sensorId, field]) =>
    field instanceof DomainError ? [sensorId as string] : [],
  );
  return {
    channel_id: entry.deviceId,
    entry_id: entry.entryId,
    created_at: formatTimestamp(at),
    ...Object.fromEntries(
      sent.filter(([name = '', text]) => text !== undefined && !refused.includes(name)),
    ),
  };
}

/** When an entry was made; undefined: not given. */
function instantOf(parameters: UpdateParameters, zone: TimeZone | undefined): Instant | undefined {
  const createdAt = parameters.get('created_at');
  return createdAt === undefined ? undefined : readLocalInstant(createdAt, 'created_at', zone);
}

/** The zone of times without an offset. Throws DomainError invalid. */
export function zoneOf(parameters: UpdateParameters): TimeZone | undefined {
  const name = parameters.get('timezone');
  return name === undefined ? undefined : readTimeZone(name);
}

export const xmlType = 'application/xml; charset=utf-8';

/** The same as XML, which older clients read. */
export function updateToXml(entry: Wire<typeof UpdateMessage>): string {
  const elements = Object.entries(entry).map(([name, value]) => {
    const tag = name.replaceAll('_', '-');
    return `  <${tag}>${xmlText(String(value))}</${tag}>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<entry>\n${elements.join('')}</entry>\n`;
}

/** Without the characters that XML cannot say at all. */
export const xmlText = (text: string): string =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones.
    .replace(/[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g, '\u{fffd}')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');

const shortNames: Readonly<Record<string, string>> = { latitude: 'lat', longitude: 'long' };
const short = (name: string): string => shortNames[name] ?? name;

const stamped = (value: JsonValue, timestamp: Instant | undefined): NewDatapoint =>
  timestamp === undefined ? { value } : { value, timestamp };

/** A probe that failed takes no other field of its update along. */
function fieldOf(text: string, timestamp: Instant | undefined): UpdateField {
  try {
    return stamped(readBareValue(text), timestamp);
  } catch (reason) {
    if (reason instanceof DomainError) return reason;
    throw reason;
  }
}

function locationOf(parameters: UpdateParameters): JsonValue | undefined {
  const latitude = degrees(parameters, ['lat', 'latitude'], 90);
  const longitude = degrees(parameters, ['long', 'longitude'], 180);
  if (latitude === undefined && longitude === undefined) return undefined;
  if (latitude === undefined || longitude === undefined) {
    throw invalid('give both lat and long, or none of them');
  }
  return defined({ latitude, longitude, elevation: degrees(parameters, ['elevation'], 1_000_000) });
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

/** Many updates of one device in one body. */
export interface BulkUpdate {
  /** Parameters beside the updates, the key among them. */
  readonly parameters: UpdateParameters;
  /** In their order; each has its `created_at`, where a time is known, or why it is none. */
  readonly updates: readonly (UpdateParameters | DomainError)[];
  readonly zone: TimeZone | undefined;
}

/** The meanings of the cells of a row. */
const columns = ['time', ...entryNames];

/** Reads a body of bulk_update.json, or a form of bulk_update.csv. Throws DomainError invalid. */
export function readBulkUpdate(bytes: Buffer, isJson: boolean, now: Instant): BulkUpdate {
  const { parameters, updates } = isJson ? ofObject(bytes) : ofForm(bytes);
  return { parameters, updates: timed(updates, now), zone: zoneOf(parameters) };
}

type Read = Pick<BulkUpdate, 'parameters' | 'updates'>;

function ofObject(bytes: Buffer): Read {
  const { updates, ...others } = readJsonObject(bytes);
  if (!Array.isArray(updates)) throw invalid('updates must be an array of objects');
  const elements: readonly JsonValue[] = updates;
  requireFew(elements.length);
  const noObject = invalid('an update must be an object such as {"field1": 21.5}');
  return {
    parameters: parametersOf(others),
    updates: elements.map((element) => {
      return isJsonObject(element) ? parametersOf(element) : noObject;
    }),
  };
}

function requireFew(updates: number): void {
  if (updates > bulkUpdatesMax) {
    throw invalid(`a body must have at most ${bulkUpdatesMax} updates: send the rest in another`);
  }
}

function ofForm(bytes: Buffer): Read {
  const parameters = readForm(bytes);
  const time = parameters.get('time_format') === 'relative' ? 'delta_t' : 'created_at';
  const parts = (parameters.get('updates') ?? '').split('|', bulkUpdatesMax + 2);
  // One may end with a separator.
  requireFew(parts.length - (parts.at(-1) === '' ? 1 : 0));
  const rows = parts.filter((row) => row.trim() !== '');
  if (rows.length === 0) throw invalid('updates must hold rows such as 2026-03-01T08:00:00Z,21.5');
  return {
    parameters,
    updates: rows.map((row) => {
      const cells = row.split(',');
      if (cells.length > columns.length) {
        return invalid(`the row has ${cells.length} cells, expected ${columns.length}`);
      }
      const named = cells.map((cell, at) => [columns[at] ?? '', cell.trim()] as const);
      return given(named.map(([name, cell]) => [name === 'time' ? time : name, cell]));
    }),
  };
}

/**
 * With the times of those that say how long after the one before they were made [decision 0024]:
 * the last one was made now. Before one that cannot be read, no time is known.
 */
function timed(updates: Read['updates'], now: Instant): Read['updates'] {
  if (!updates.some((update) => !isRefused(update) && update.has('delta_t'))) return updates;
  let at: Instant | DomainError = now;
  return updates.toReversed().map(withTime).toReversed();

  function withTime(update: UpdateParameters | DomainError): UpdateParameters | DomainError {
    const own = at;
    at = isRefused(update) ? update : theOneBefore(own, update);
    if (isRefused(update)) return update;
    if (isRefused(at) && at !== own) return at;
    if (update.has('created_at')) return update;
    return isRefused(own) ? own : new Map([...update, ['created_at', formatTimestamp(own)]]);
  }
}

const isRefused = (value: unknown): value is DomainError => value instanceof DomainError;

/** When the update before it was made, or why that is not known. */
function theOneBefore(at: Instant | DomainError, update: UpdateParameters): Instant | DomainError {
  const seconds = Number(update.get('delta_t') ?? 0);
  if (!(seconds >= 0 && seconds <= deltaMax)) {
    return invalid('delta_t must be the seconds since the update before');
  }
  return isRefused(at) ? at : at - Math.round(seconds * 1_000);
}

/** A year. */
const deltaMax = 31_536_000;
