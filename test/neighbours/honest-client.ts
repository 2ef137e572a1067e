import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import mqtt, { type MqttClient } from 'mqtt';
import { adminPassword, type Call, type Reply } from '../service.ts';

/** What the honest client waited for in one round, in milliseconds. */
export interface Round {
  readonly push: number;
  readonly delivery: number;
  readonly alarm: number;
  readonly login: number;
}

/** An owner with a device, a subscription, and an alarm that reaches a webhook. */
export interface HonestClient extends AsyncDisposable {
  /** Pushes one value, waits for it over MQTT and for its alarm, and logs in. */
  round(): Promise<Round>;
  /** Before the program ends on purpose. */
  pause(): Promise<void>;
  /** After it was started again. */
  resume(): Promise<void>;
}

/** Where the program is now; it moves with a restart. */
type ReadService = () => {
  readonly mqttUrl: string;
  call(request: Call): Promise<Reply>;
};

const username = 'honest';
const password = 'an honest password';
const topic = 'devices/honest-tank/sensors/level/value';
/** Whoever waits longer waits in vain; the round then fails by name. */
const patienceMs = 10_000;

export async function startHonestClient(place: ReadService): Promise<HonestClient> {
  const arrivals = createArrivals();
  const webhook = createServer((request, response) => {
    void text(request).then((body) => {
      arrivals.tell('alarm', /level is (\d+)/.exec(body)?.[1]);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const { port } = webhook.address() as AddressInfo;
  const key = await furnish(place, `http://127.0.0.1:${port}/alarm`);
  let subscriber = await subscribe(place().mqttUrl, key, arrivals);
  let value = 0;

  return {
    async round() {
      value += 1;
      const marker = String(value);
      const delivery = arrivals.expect('delivery', marker);
      const alarm = arrivals.expect('alarm', marker);
      const [push, login] = await Promise.all([
        timed(() => pushValue(place, key, value)),
        timed(() => logIn(place)),
      ]);
      return { push, login, delivery: await delivery, alarm: await alarm };
    },
    async pause() {
      await subscriber.endAsync(true);
    },
    async resume() {
      subscriber = await subscribe(place().mqttUrl, key, arrivals);
    },
    async [Symbol.asyncDispose]() {
      await subscriber.endAsync(true);
      webhook.closeAllConnections();
      await new Promise((resolve) => webhook.close(resolve));
    },
  };
}

/** The account, made by the administrator, with its device, key and alarm; answers the key. */
async function furnish(place: ReadService, webhook: string): Promise<string> {
  const need = async (request: Call): Promise<Reply> => {
    const reply = await place().call(request);
    assert.ok(reply.status < 300, `${request.path}: ${reply.status} ${reply.text}`);
    return reply;
  };
  const admin = await need({
    method: 'POST',
    path: '/auth/token',
    json: { username: 'admin', password: adminPassword },
  });
  const account = { username, password, webhook: [webhook] };
  await need({ method: 'POST', path: '/users', token: admin.text, json: account });
  const { text: token } = await need({ method: 'POST', path: '/auth/token', json: account });
  const device = { id: 'honest-tank', visibility: 'private', sensors: [{ id: 'level' }] };
  await need({ method: 'POST', path: '/devices', token, json: device });
  await need({
    method: 'POST',
    path: '/notifications',
    token,
    json: {
      description: 'every value',
      condition: { devices: ['honest-tank'], sensors: ['level'], expression: 'level > 0' },
      action: { usernames: [username], channels: ['webhook'], message: 'level is {level}' },
      throttling: 0,
    },
  });
  const made = await need({ method: 'POST', path: '/auth/keys', token, json: { name: 'board' } });
  return (made.json as { key: string }).key;
}

async function subscribe(url: string, key: string, arrivals: Arrivals): Promise<MqttClient> {
  const client = await mqtt.connectAsync(url, {
    protocolVersion: 5,
    reconnectPeriod: 0,
    username,
    password: key,
  });
  client.on('message', (_topic, payload) => {
    const message = JSON.parse(payload.toString()) as { value?: unknown };
    arrivals.tell('delivery', String(message.value));
  });
  client.on('error', () => undefined);
  await client.subscribeAsync(topic, { qos: 1 });
  return client;
}

async function pushValue(place: ReadService, token: string, value: number): Promise<void> {
  const path = '/devices/honest-tank/sensors/level/value';
  const reply = await place().call({ method: 'POST', path, token, json: { value } });
  assert.equal(reply.status, 204, `the honest push was refused: ${reply.status} ${reply.text}`);
}

async function logIn(place: ReadService): Promise<void> {
  const json = { username, password };
  const reply = await place().call({ method: 'POST', path: '/auth/token', json });
  assert.equal(reply.status, 200, `the honest login was refused: ${reply.status} ${reply.text}`);
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return Math.round(performance.now() - startedAt);
}

/** Things that are waited for, by kind and marker. */
interface Arrivals {
  /** Resolves with the milliseconds until it was told; rejects when it never is. */
  expect(kind: string, marker: string): Promise<number>;
  tell(kind: string, marker: string | undefined): void;
}

function createArrivals(): Arrivals {
  const waiting = new Map<string, () => void>();
  return {
    expect(kind, marker) {
      const startedAt = performance.now();
      const arrived = new Promise<number>((resolve, reject) => {
        const impatience = setTimeout(
          () => reject(new Error(`the honest client's ${kind} never came`)),
          patienceMs,
        );
        waiting.set(`${kind} ${marker}`, () => {
          clearTimeout(impatience);
          resolve(Math.round(performance.now() - startedAt));
        });
      });
      // It is awaited after the push; until then nobody listens.
      arrived.catch(() => undefined);
      return arrived;
    },
    tell(kind, marker) {
      const key = `${kind} ${marker}`;
      waiting.get(key)?.();
      waiting.delete(key);
    },
  };
}
