import Type from 'typebox';
import type { Datapoint, SensorRef } from '../domain/datapoints/datapoint.ts';
import type { NewDatapoint, NewDatapoints } from '../domain/datapoints/new-columns.ts';
import { RefusedElements } from '../domain/datapoints/refusal-book.ts';
import { DomainError, invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import type { Instant } from '../lib/clock.ts';
import { isJsonObject, type JsonValue } from '../lib/json.ts';
import { parseLocalTime } from '../lib/local-time.ts';
import { LongJson, type LongText, longText, writeJson } from '../lib/long-json.ts';
import { withoutStackTraces } from '../lib/stackless.ts';
import { findTimeZone, type TimeZone } from '../lib/time-zone.ts';
import { formatTimestamp, noTimestamp, parseEnd, parseTimestamp } from '../lib/timestamp.ts';
import { Anything, DateText, Message, Plain, type Wire } from './fields.ts';
import { type Spelling, v2Spelling } from './spelling.ts';
import { shown } from './validation.ts';

const NewDatapointMessage = Message(
  'NewDatapoint',
  {
    value: Anything('The measurement: any JSON value.'),
    timestamp: Type.Optional(
      DateText('When it was measured: ISO 8601, any offset; without a zone UTC.'),
    ),
  },
  { required: ['value'] },
);

/** The body of a push; for the reference only, pushes are read by `readDatapoints`. */
export const PushMessage = Type.Union(
  [
    NewDatapointMessage,
    Type.Array(NewDatapointMessage),
    Type.Unknown({ description: 'A bare JSON value.' }),
  ],
  { description: 'One datapoint, an array of them, or a bare value.' },
);

/** The last value of a sensor, inside a sensor or device. */
export const LastValueMessage = Message('LastValue', {
  value: Anything('The measurement.'),
  timestamp: Type.Optional(DateText('When it was measured.')),
  date_received: DateText('When the service received it.'),
});

export const DatapointMessage = Message('Datapoint', {
  device_id: Type.String(),
  sensor_id: Type.String(),
  timestamp: Type.Optional(DateText('When it was measured; absent when the device has no clock.')),
  value: Anything('The measurement.'),
  date_received: DateText('When the service received it.'),
  correction: Type.Optional(Plain('With raw=true: the correction that changed what is shown.')),
});

/**
 * The datapoints of one push [contract 6]: an object with a value, an array of such objects, or any
 * other JSON value, which is itself the value. Of an array the elements that are no datapoints are
 * refused by themselves [contract 15].
 */
export function readDatapoints(body: JsonValue): PushedDatapoints {
  if (!Array.isArray(body)) {
    const only = isJsonObject(body) ? readDatapoint(body, '') : { value: body as JsonValue };
    return { datapoints: [only] };
  }
  if (body.length === 0) return { datapoints: [] };
  if (!isJsonObject(body[0]) && !body.some(hasValue)) return { datapoints: [{ value: body }] };
  const pushed = new PushedArray();
  withoutStackTraces(() => {
    for (const element of body) pushed.read(element);
  });
  return pushed;
}

/** Whether an array with such an element holds datapoints, and is no value by itself. */
export const hasValue = (element: JsonValue): boolean =>
  isJsonObject(element) && Object.hasOwn(element, 'value');

/** The datapoints of one push. */
export interface PushedDatapoints {
  readonly datapoints: NewDatapoints;
  /** Of an array: what of it was refused so far. */
  readonly refused?: RefusedElements;
}

/** Datapoints that are added one by one. */
export interface GrowingDatapoints extends NewDatapoints {
  push(datapoint: NewDatapoint): unknown;
}

/** An array of datapoints while its elements are read one by one. */
export class PushedArray implements PushedDatapoints {
  readonly datapoints: GrowingDatapoints;
  readonly refused = new RefusedElements();
  #count = 0;

  constructor(datapoints: GrowingDatapoints = []) {
    this.datapoints = datapoints;
  }

  /** Takes the next element. */
  read(element: JsonValue): void {
    try {
      const datapoint = readElement(element, this.#count);
      if (this.refused.count > 0) this.refused.place(this.datapoints.length, this.#count);
      this.datapoints.push(datapoint);
      this.#count += 1;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.refuse(error, () => writeJson(element));
    }
  }

  /** Refuses the next element. */
  refuse(refusal: DomainError, excerpt: () => string): void {
    this.refused.add(this.#count, refusal, excerpt);
    this.#count += 1;
  }

  /** The elements so far. */
  get count(): number {
    return this.#count;
  }
}

/** Reads an element of an array of datapoints; `index` counts from 0. */
function readElement(element: JsonValue, index: number): NewDatapoint {
  if (isJsonObject(element)) return readDatapoint(element, ` of datapoint ${index + 1}`);
  const got = element === null || typeof element !== 'object' ? writeJson(element) : 'an array';
  const shown = got.slice(0, limits.refusedExcerptMax);
  throw invalid(`datapoint ${index + 1} must be an object such as {"value": 21.5}, got ${shown}`);
}

/** Reads a datapoint object; `where` says which of several it is. */
export function readDatapoint(
  body: Readonly<Record<string, JsonValue>>,
  where: string,
): NewDatapoint {
  const { value, timestamp } = body;
  if (value === undefined || !Object.hasOwn(body, 'value')) {
    throw invalid(`the value${where} is missing: send {"value": …}`);
  }
  if (timestamp === undefined || timestamp === null) return { value };
  return { value, timestamp: readInstant(timestamp, `timestamp${where}`) };
}

/** An instant from the wire. Throws DomainError invalid, naming the field. */
export function readInstant(text: unknown, field: string, parse = parseTimestamp): Instant {
  const instant = typeof text === 'string' ? parse(text) : undefined;
  if (instant !== undefined) return instant;
  throw invalid(noTimestamp(text, field));
}

/** The end that a field says; a date alone is the end of that day. Throws DomainError invalid. */
export const readEnd = (text: string, field: string): Instant => readInstant(text, field, parseEnd);

/** A last value as sensors and devices show it. */
export function lastValueToWire(datapoint: Datapoint): Wire<typeof LastValueMessage> {
  const { value, timestamp, receivedAt } = datapoint;
  const date_received = formatTimestamp(receivedAt);
  return timestamp === undefined
    ? { value, date_received }
    : { value, timestamp: formatTimestamp(timestamp), date_received };
}

/** The same as JSON text. */
export function lastValueText({ value, timestamp, receivedAt }: Datapoint): string {
  const measured = timestamp === undefined ? '' : `"timestamp":"${formatTimestamp(timestamp)}",`;
  const received = formatTimestamp(receivedAt);
  return `{"value":${valueText(value)},${measured}"date_received":"${received}"}`;
}

/** A datapoint as it was pushed, as JSON text. */
export function pushedText({ value, timestamp }: NewDatapoint): string {
  const measured = timestamp === undefined ? '' : `,"timestamp":"${formatTimestamp(timestamp)}"`;
  return `{"value":${valueText(value)}${measured}}`;
}

const valueText = (value: JsonValue): string =>
  typeof value === 'number' ? String(value) : writeJson(value);

/** How the JSON of each datapoint of a sensor begins. */
export function datapointIds({ deviceId, sensorId }: SensorRef, spelling: Spelling): string {
  const [device, sensor] = [JSON.stringify(deviceId), JSON.stringify(sensorId)];
  return `{"${spelling.deviceId}":${device},"${spelling.sensorId}":${sensor},`;
}

/** Writes datapoints as JSON text by hand, for speed; a long value slice by slice. */
export function createDatapointWriter(
  sensor: SensorRef,
  spelling: Spelling = v2Spelling,
): (datapoint: Datapoint) => string | LongText {
  const ids = datapointIds(sensor, spelling);
  return ({ value, timestamp, receivedAt, correction }) => {
    const measured = timestamp === undefined ? '' : `"timestamp":"${formatTimestamp(timestamp)}",`;
    const received = formatTimestamp(receivedAt);
    const by = correction === undefined ? '' : `,"correction":"${correction}"`;
    const after = `,"date_received":"${received}"${by}}`;
    if (!(value instanceof LongJson)) return `${ids}${measured}"value":${valueText(value)}${after}`;
    return longText([`${ids}${measured}"value":`, value.text, after]);
  };
}

/** The zone of a name that a client sent. Throws DomainError invalid. */
export function readTimeZone(name: string): TimeZone {
  const zone = findTimeZone(name.trim());
  if (zone !== undefined) return zone;
  throw invalid(`timezone must be a name such as Africa/Nairobi, got ${shown(name)}`);
}

/** The instant that parseLocalTime reads. Throws DomainError invalid for its reasons. */
export function readLocalInstant(text: string, field: string, zone?: TimeZone): Instant {
  const read = parseLocalTime(text, field, zone);
  if (typeof read === 'string') throw invalid(read);
  return read;
}
