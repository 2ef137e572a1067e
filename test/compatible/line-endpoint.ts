import assert from 'node:assert/strict';
import type { Reply, Service } from '../service.ts';

/** Writes line protocol as clients of InfluxDB 2 do. */
export function writeLines(
  service: Service,
  body: string | Uint8Array,
  options: {
    readonly key?: string;
    readonly query?: string;
    readonly headers?: Readonly<Record<string, string>>;
  } = {},
): Promise<Reply> {
  const { key, query = '?org=o&bucket=b', headers = {} } = options;
  const authorization = key === undefined ? {} : { authorization: `Token ${key}` };
  const path = `/write${query}`;
  return service.call({ method: 'POST', path, body, headers: { ...authorization, ...headers } });
}

/** A new access key of this user. */
export async function keyOf(
  service: Service,
  username: string,
  narrowed: { readonly devices?: readonly string[]; readonly scopes?: readonly string[] } = {},
): Promise<string> {
  const json = { name: 'door', ...narrowed };
  const reply = await service.as(username)({ method: 'POST', path: '/auth/keys', json });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { readonly key: string }).key;
}

/** Makes a device of this user, or of the guest. */
export async function makeDevice(
  service: Service,
  username: string,
  device: {
    readonly id: string;
    readonly visibility?: 'public' | 'private';
    readonly sensors?: readonly { readonly id: string }[];
  },
): Promise<void> {
  const reply = await service.as(username)({ method: 'POST', path: '/devices', json: device });
  assert.equal(reply.status, 204, reply.text);
}

/** Values and timestamps of a sensor, as the admin reads them. */
export async function datapointsOf(
  service: Service,
  deviceId: string,
  sensorId: string,
): Promise<readonly (readonly [unknown, string | undefined])[]> {
  const path = `/devices/${deviceId}/sensors/${encodeURIComponent(sensorId)}/values?limit=200000`;
  const reply = await service.as('admin')({ path });
  assert.equal(reply.status, 200, reply.text);
  const found = reply.json as readonly { readonly value: unknown; readonly timestamp?: string }[];
  return found.map(({ value, timestamp }) => [value, timestamp]);
}

/** Ids of a device's sensors, as the admin sees them; undefined: there is no such device. */
export async function sensorsOf(
  service: Service,
  deviceId: string,
): Promise<readonly string[] | undefined> {
  const reply = await service.as('admin')({ path: `/devices/${deviceId}` });
  if (reply.status === 404) return undefined;
  return (reply.json as { sensors: readonly { id: string }[] }).sensors.map(({ id }) => id);
}
