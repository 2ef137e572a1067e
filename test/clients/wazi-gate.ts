import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { type PlainReply, plainRequest } from './plain-http.ts';

/** What a gateway measured; its clock writes nanoseconds and the offset of the place. */
export interface Measured {
  readonly value: unknown;
  readonly timestamp: string;
}

/** A device as the gateway keeps it, with all that was measured. */
export interface LocalDevice {
  readonly id: string;
  readonly name?: string;
  readonly sensors: readonly { readonly id: string; readonly values: readonly Measured[] }[];
}

/** A gateway that keeps everything and hands over what the cloud does not have yet. */
export interface WaziGate extends Disposable {
  /** Declares itself; the status tells whether it was known. */
  declare(): Promise<number>;
  /** Uploads what is newer than the cloud's last values; answers the requests it took. */
  sync(device: LocalDevice): Promise<readonly string[]>;
  /** Sends with its token, and logs in and tries again when that one has expired. */
  send(method: string, path: string, body?: Body): Promise<PlainReply>;
}

interface Body {
  readonly type: string;
  readonly text: string;
}

export interface WaziGateOptions {
  readonly id: string;
  readonly url: string;
  readonly login: { readonly username: string; readonly password: string };
}

const loginsMax = 2;
const sendsMax = 3;

const json = (value: unknown): Body => ({ type: 'application/json', text: JSON.stringify(value) });

/** A gateway in the field: one connection that is kept, and nothing sent that is not needed. */
export function createWaziGate({ id, url, login }: WaziGateOptions): WaziGate {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const trace: string[] = [];
  let token = '';

  async function once(method: string, path: string, body?: Body): Promise<PlainReply> {
    const reply = await plainRequest({
      url: `${url}/api/v2${path}`,
      method,
      agent,
      headers: {
        'User-Agent': 'Go-http-client/1.1',
        ...(token !== '' && { Authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'Content-Type': body.type }),
      },
      ...(body !== undefined && { body: body.text, isChunked: true }),
    });
    trace.push(`${method} ${path} ${reply.status}`);
    return reply;
  }

  /** A connection that breaks before the answer says nothing: the same is sent again. */
  async function persist(method: string, path: string, body?: Body): Promise<PlainReply> {
    for (let sends = 1; ; sends += 1) {
      try {
        return await once(method, path, body);
      } catch (error) {
        if (sends === sendsMax) throw error;
        trace.push(`${method} ${path} lost`);
      }
    }
  }

  async function logIn(): Promise<void> {
    token = '';
    const reply = await persist('POST', '/auth/token', json(login));
    assert.equal(reply.status, 200, reply.text);
    // Whatever the body is, it is the token.
    token = reply.text;
  }

  async function send(method: string, path: string, body?: Body): Promise<PlainReply> {
    if (token === '') await logIn();
    for (let logins = 1; ; logins += 1) {
      const reply = await persist(method, path, body);
      if (reply.status !== 401 || logins === loginsMax) return reply;
      await logIn();
    }
  }

  async function sync(device: LocalDevice): Promise<readonly string[]> {
    trace.length = 0;
    const path = `/devices/${device.id}`;
    const found = await send('GET', path);
    if (found.status === 404) {
      const { id: deviceId, name, sensors } = device;
      const parts = sensors.map((sensor) => ({ id: sensor.id }));
      await send('POST', '/devices', json({ id: deviceId, name, gateway_id: id, sensors: parts }));
    }
    const remote = newestOf(found);
    for (const { id: sensorId, values } of device.sensors) {
      const since = remote.get(sensorId) ?? Number.NEGATIVE_INFINITY;
      const missing = values.filter(({ timestamp }) => Date.parse(timestamp) > since);
      if (missing.length === 0) continue;
      // What is refused is the trouble of this sensor, and of no other.
      await send('POST', `${path}/sensors/${sensorId}/values`, json(missing));
    }
    return [...trace];
  }

  return {
    declare: async () =>
      (await send('POST', '/gateways', json({ id, name: 'Gate', visibility: 'public' }))).status,
    sync,
    send,
    [Symbol.dispose]: () => agent.destroy(),
  };
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** The time of each sensor's last value in the cloud, as sensors[].value.timestamp says it. */
function newestOf({ status, text }: PlainReply): ReadonlyMap<string, number> {
  if (status === 404) return new Map();
  assert.equal(status, 200, text);
  const { sensors = [] } = JSON.parse(text) as {
    readonly sensors?: readonly { id: string; value?: { timestamp: string } }[];
  };
  const newest = new Map<string, number>();
  for (const { id, value } of sensors) {
    if (value === undefined) continue;
    assert.match(value.timestamp, rfc3339);
    newest.set(id, Date.parse(value.timestamp));
  }
  return newest;
}
