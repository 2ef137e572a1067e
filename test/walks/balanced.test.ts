// In a process of its own: it starts servers of PostgreSQL and HAProxy, and processes between them.
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import mqtt, { type MqttClient } from 'mqtt';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { type Doors, hasHaproxy, startHaproxy } from '../haproxy.ts';
import { emptySchemaCalled, noPostgres } from '../postgres-schemas.ts';
import { freePort } from '../postgres-server.ts';
import { adminPassword, createCall, passwordOf } from '../service.ts';
import { type ServiceProcess, startProcess } from '../service-process.ts';

/** Until a process that was killed is out of the balancer, and what it had is served. */
const servedMsMax = 5_000;
const calmMs = 1_500;
const topic = 'devices/field/sensors/s/value';

interface Sent {
  readonly value: number;
  readonly isAcknowledged: boolean;
}

/** Pushes one value after the other through the balancer, as a device does that never stops. */
function startPushing(url: string, token: string) {
  const call = createCall(url);
  const sent: Sent[] = [];
  let isOver = false;
  const running = (async () => {
    for (let value = 0; !isOver; value += 1) {
      const path = '/devices/field/sensors/s/value';
      const json = { value, timestamp: new Date().toISOString() };
      const reply = await call({ method: 'POST', path, token, json }).catch(() => undefined);
      sent.push({ value, isAcknowledged: reply?.status === 204 });
    }
  })();
  return {
    sent,
    /** Resolves when one that was sent from now on was acknowledged; after how many ms. */
    async served(): Promise<number> {
      const [from, at] = [sent.length + 1, performance.now()];
      while (!sent.slice(from).some(({ isAcknowledged }) => isAcknowledged)) await wait(10);
      return performance.now() - at;
    },
    async end(): Promise<readonly Sent[]> {
      isOver = true;
      await running;
      return sent;
    },
  };
}

/** A client with a kept session that notes the values it gets, and comes back by itself. */
async function subscribe(url: string, token: string, got: number[]): Promise<MqttClient> {
  const client = await mqtt.connectAsync(url, {
    ...{ clientId: 'reader', username: 'x', password: token, clean: false, reconnectPeriod: 200 },
  });
  client.on('message', (_, payload) => {
    got.push((JSON.parse(String(payload)) as { value: number }).value);
  });
  client.on('error', () => undefined);
  await client.subscribeAsync(topic, { qos: 1 });
  return client;
}

/** The status of a login with a wrong password from this address of the machine. */
function failedLogin(url: string, localAddress: string, username: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = request(`${url}/api/v2/auth/token`, {
    ...{ method: 'POST', localAddress, headers: { 'content-type': 'application/json' } },
  });
  asked.on('response', (response) => {
    response.resume().on('end', () => resolve(response.statusCode ?? 0));
  });
  asked.on('error', reject);
  asked.end(JSON.stringify({ username, password: 'not the password' }));
  return promise;
}

describe('processes behind a balancer', {
  skip: noPostgres || (!hasHaproxy && 'needs HAProxy'),
}, () => {
  const directory = temporaryDirectory({ after: (end) => after(end) });
  const doors: Doors[] = [];
  const running: ServiceProcess[] = [];
  const ends = new AsyncDisposableStack();
  let start: (at: number) => Promise<ServiceProcess>;
  let balancer: Awaited<ReturnType<typeof startHaproxy>>;
  let token: string;

  before(async () => {
    const environment = {
      KIPIMO_DATABASE_URL: await emptySchemaCalled('balanced'),
      KIPIMO_PROCESSES: 'several',
      KIPIMO_ADMIN_PASSWORD: adminPassword,
      KIPIMO_TRUSTED_PROXIES: '127.0.0.1',
    };
    for (let at = 0; at < 3; at += 1) {
      doors.push({ http: await freePort(), mqtt: await freePort() });
    }
    start = async (at) => {
      const { http, mqtt: mqttPort } = doors[at] as Doors;
      const ports = { KIPIMO_HTTP_PORT: `${http}`, KIPIMO_MQTT_PORT: `${mqttPort}` };
      return startProcess({ directory, environment: { ...environment, ...ports } });
    };
    ends.defer(async () => {
      for (const one of running) await one[Symbol.asyncDispose]();
    });
    for (const at of doors.keys()) running[at] = await start(at);
    balancer = ends.use(await startHaproxy(directory, doors));
    const call = createCall(balancer.url);
    const json = { username: 'ama', password: passwordOf('ama') };
    // Until the balancer has seen that they are ready.
    while ((await call({ path: '//readyz' })).status !== 200) await wait(50);
    assert.equal((await call({ method: 'POST', path: '/users', json })).status, 200);
    token = (await call({ method: 'POST', path: '/auth/token', json })).text;
    const device = { id: 'field', sensors: [{ id: 's' }] };
    const made = await call({ method: 'POST', path: '/devices', token, json: device });
    assert.equal(made.status, 204, made.text);
  });
  after(() => ends.disposeAsync());

  test('know the address of a client', async () => {
    let status = 0;
    let logins = 0;
    for (; status !== 429 && logins < 500; logins += 1) {
      status = await failedLogin(balancer.url, '127.0.0.2', `nobody-${logins % 50}`);
    }
    assert.equal(status, 429, `${logins} logins with wrong passwords were answered`);
    assert.notEqual(await failedLogin(balancer.url, '127.0.0.3', 'somebody'), 429);
  });

  test('one is killed, then all are replaced: nothing that was acknowledged is lost', async () => {
    const got: number[] = [];
    const reader = await subscribe(balancer.mqttUrl, token, got);
    ends.defer(() => reader.endAsync(true));
    const publisher = await mqtt.connectAsync(balancer.mqttUrl, {
      ...{ clientId: 'writer', username: 'x', password: token, clean: false },
      reconnectPeriod: 200,
    });
    publisher.on('error', () => undefined);
    ends.defer(() => publisher.endAsync(true));
    const pushing = startPushing(balancer.url, token);
    let published = 0;
    let isOver = false;
    const publishing = (async () => {
      for (; !isOver; published += 1) {
        await publisher.publishAsync(topic, JSON.stringify({ value: -1 - published }), { qos: 1 });
      }
    })();

    await wait(calmMs);
    running[0]?.kill('SIGKILL');
    await running[0]?.exited;
    const servedMs = await pushing.served();
    assert.ok(servedMs < servedMsMax, `served ${Math.round(servedMs)} ms after a kill`);
    running[0] = await start(0);
    await wait(calmMs);
    const refusedBefore = pushing.sent.filter(({ isAcknowledged }) => !isAcknowledged).length;
    for (const at of doors.keys()) {
      running[at]?.kill('SIGTERM');
      assert.deepEqual(await running[at]?.exited, { code: 0, signal: null });
      running[at] = await start(at);
      await wait(calmMs);
    }
    const sent = await pushing.end();
    isOver = true;
    await publishing;

    const refused = sent.filter(({ isAcknowledged }) => !isAcknowledged).length - refusedBefore;
    assert.ok(refused <= 3, `${refused} pushes were refused while processes were replaced`);
    const call = createCall(balancer.url);
    const path = `/devices/field/sensors/s/values?limit=${sent.length + published + 10}`;
    const { json, status } = await call({ path, token });
    assert.equal(status, 200);
    const stored = new Set((json as { value: number }[]).map(({ value }) => value));
    const acknowledged = sent.filter((one) => one.isAcknowledged).map(({ value }) => value);
    const own = Array.from({ length: published }, (_, at) => -1 - at);
    assert.deepEqual(
      acknowledged.filter((value) => !stored.has(value)),
      [],
    );
    assert.deepEqual(
      own.filter((value) => !stored.has(value)),
      [],
    );
    const giveUpAt = performance.now() + 10_000;
    const missing = () => {
      const all = new Set(got);
      return own.filter((value) => !all.has(value));
    };
    while (missing().length > 0 && performance.now() < giveUpAt) await wait(50);
    assert.deepEqual(missing(), [], 'the subscriber got all that was published with QoS 1');
    assert.ok(acknowledged.length > 100 && published > 100, `${acknowledged.length} ${published}`);
  });
});
