import { isRecord } from '../../src/lib/record.ts';
import { parseExact } from '../api/exact-json.ts';

/** What a message on a value topic says, or why it says nothing to us. */
export interface ValueMessage {
  readonly deviceId: string;
  readonly kind: 'sensor' | 'actuator';
  /** Of the sensor or actuator. */
  readonly id: string;
  readonly values: readonly PushedValue[];
}

export interface PushedValue {
  readonly value: unknown;
  /** When it was measured, in ms since 1970; absent when the device has no clock. */
  readonly measuredAt?: number;
}

/** The topics on which the values of a device arrive. */
export function deviceFilters(deviceId: string): readonly string[] {
  return [`devices/${deviceId}/sensors/+/value`, `devices/${deviceId}/actuators/+/value`];
}

const decoder = new TextDecoder();

/** Reads a message from devices/{d}/sensors/{s}/value and its likes; undefined for all else. */
export function readValueMessage(topic: string, payload: Uint8Array): ValueMessage | undefined {
  const [root, deviceId, plural, id, field, ...more] = topic.split('/');
  const kind = plural === 'sensors' ? 'sensor' : plural === 'actuators' ? 'actuator' : undefined;
  if (root !== 'devices' || field !== 'value' || kind === undefined || more.length > 0) {
    return undefined;
  }
  if (deviceId === undefined || id === undefined) return undefined;
  const body = parse(decoder.decode(payload));
  if (body === undefined) return undefined;
  const values = kind === 'actuator' ? [{ value: body.json }] : pushedValues(body.json);
  return { deviceId, kind, id, values };
}

/** An object with a value, an array of such, or a bare value [contract 6]. */
function pushedValues(body: unknown): readonly PushedValue[] {
  if (Array.isArray(body) && isRecord(body[0])) return body.flatMap(pushedValues);
  if (!isRecord(body)) return [{ value: body }];
  if (!Object.hasOwn(body, 'value')) return [];
  const { value, timestamp } = body;
  const measuredAt = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  return [Number.isNaN(measuredAt) ? { value } : { value, measuredAt }];
}

function parse(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: parseExact(text) };
  } catch {
    return undefined;
  }
}
