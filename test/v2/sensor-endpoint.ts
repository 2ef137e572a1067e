import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { Reply, Service } from '../service.ts';

/** A datapoint as a read answers it. */
export interface WireDatapoint {
  readonly device_id: string;
  readonly sensor_id: string;
  readonly timestamp?: string;
  readonly value: unknown;
  readonly date_received: string;
}

/** One sensor of a fresh device of its own, seen through the API by a guest. */
export interface SensorEndpoint {
  readonly deviceId: string;
  readonly sensorId: string;
  /** Of the sensor, below /api/v2. */
  readonly path: string;
  /** Sends JSON to …/values and expects 204. */
  push(json: unknown): Promise<void>;
  /** Sends the text as it is to …/values, or to …/value. */
  send(
    body: string | Uint8Array,
    options?: { type?: string; to?: 'value' | 'values'; mayFail?: boolean },
  ): Promise<Reply>;
  read(query?: string, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** Every datapoint, oldest first. */
  all(): Promise<readonly WireDatapoint[]>;
  /** The sensor as GET answers it. */
  get(): Promise<Readonly<Record<string, unknown>>>;
}

/** Makes a guest's device with one sensor. */
export async function openSensor(
  service: Pick<Service, 'call'>,
  sensor: { readonly id: string } & Readonly<Record<string, unknown>> = { id: 'TC1' },
): Promise<SensorEndpoint> {
  const deviceId = `field-${randomUUID()}`;
  const reply = await service.call({
    method: 'POST',
    path: '/devices',
    json: { id: deviceId, sensors: [sensor] },
  });
  assert.equal(reply.status, 204, reply.text);
  return doorOf(service, deviceId, sensor.id);
}

/** The endpoint of a sensor that is there already. */
export function doorOf(
  service: Pick<Service, 'call'>,
  deviceId: string,
  sensorId: string,
): SensorEndpoint {
  const path = `/devices/${deviceId}/sensors/${sensorId}`;
  const read: SensorEndpoint['read'] = (query = '', headers = {}) =>
    service.call({ path: `${path}/values${query}`, headers });
  return {
    deviceId,
    sensorId,
    path,
    async push(json) {
      const reply = await service.call({ method: 'POST', path: `${path}/values`, json });
      assert.equal(reply.status, 204, reply.text);
      assert.equal(reply.text, '');
    },
    send: (body, { type = 'application/json', to = 'values', ...options } = {}) =>
      service.call({ method: 'POST', path: `${path}/${to}`, body, type, ...options }),
    read,
    all: async () => datapointsOf(await read('?limit=1000000')),
    get: async () => {
      const reply = await service.call({ path });
      assert.equal(reply.status, 200, reply.text);
      return reply.json as Readonly<Record<string, unknown>>;
    },
  };
}

/** The datapoints of a successful read. */
export function datapointsOf(reply: Reply): readonly WireDatapoint[] {
  assert.equal(reply.status, 200, reply.text);
  assert.ok(Array.isArray(reply.json), reply.text);
  return reply.json;
}

/** The values of datapoints, in their order. */
export const valuesOf = (datapoints: readonly WireDatapoint[]): readonly unknown[] =>
  datapoints.map(({ value }) => value);

/** Asserts a refusal in the one form that all have [contract 2]; answers its description. */
export function refusalOf(reply: Reply, status: number, error: string): string {
  assert.equal(reply.status, status, reply.text);
  const body = reply.json as { error?: unknown; description?: unknown };
  assert.equal(body.error, error);
  assert.ok(typeof body.description === 'string' && body.description !== '', reply.text);
  return body.description;
}

/** Numbered minutes of a day long past, as timestamps. */
export const minute = (number: number): string =>
  new Date(Date.parse('2016-06-08T00:00:00Z') + number * 60_000).toISOString();
