import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import mqtt from 'mqtt';
import { passwordOf, type Service, startService } from './service.ts';

/** All guests together have 20 of these connections. */
const environment = { KIPIMO_BUDGETS: 'connections=40' };
let service: Service;
let key: string;

before(async () => {
  service = await startService({ environment });
  const ama = service.as('ama');
  await ama({ method: 'POST', path: '/devices', json: { id: 'tank', sensors: [{ id: 'level' }] } });
  const made = await ama({ method: 'POST', path: '/auth/keys', json: { name: 'board' } });
  key = (made.json as { key: string }).key;
});

after(() => service[Symbol.asyncDispose]());

const portOf = (url: string): number => Number(new URL(url).port);

/** Connections from 45 addresses that say nothing. */
async function besiege(port: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: 45 }, (_, at) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: `127.0.4.${at + 1}` });
    return socket.on('error', () => undefined);
  });
  await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), wait(1_000)])));
  await wait(50);
  return sockets;
}

interface Asked {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Asks on the one connection of an agent; answers the status and the connection. */
async function ask(agent: Agent, { path, method = 'GET', headers = {}, body }: Asked) {
  const asked = request(new URL(path, service.url), { agent, method, headers });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [import('node:http').IncomingMessage];
  answer.resume();
  const { socket } = answer;
  await once(answer, 'end');
  return { status: answer.statusCode, socket };
}

const json = { 'content-type': 'application/json' };

/** Ways to log in on a connection that stays open. */
const logins: Readonly<Record<string, () => Asked>> = {
  'a key': () => ({ path: '/api/v2/devices', headers: { authorization: `Bearer ${key}` } }),
  'a push with a key': () => ({
    path: '/api/v2/devices/tank/sensors/level/value',
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${key}` },
    body: '{"value":1}',
  }),
  'a password': () => ({
    path: '/api/v2/auth/token',
    method: 'POST',
    headers: json,
    body: JSON.stringify({ username: 'ama', password: passwordOf('ama') }),
  }),
  'a key in the address': () => ({ path: `/update?api_key=${key}&device_id=tank&field1=2` }),
};

for (const [how, asked] of Object.entries(logins)) {
  test(`a connection that logged in by ${how} is kept while guests take theirs`, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const { status, socket } = await ask(agent, asked());
    assert.ok(status === 200 || status === 204, `${status}`);
    const silent = await besiege(portOf(service.url));
    assert.equal(socket.destroyed, false);
    assert.equal((await ask(agent, asked())).socket, socket);
    for (const one of silent) one.destroy();
    agent.destroy();
  });
}

for (const transport of ['mqtt', 'websocket'] as const) {
  test(`by ${transport} who has logged in is kept, and a silent guest makes room`, async () => {
    const url =
      transport === 'mqtt' ? service.mqttUrl : `${service.url.replace('http', 'ws')}/websocket`;
    const quiet = { reconnectPeriod: 0, keepalive: 0 };
    const owner = await mqtt.connectAsync(url, {
      ...quiet,
      ...{ username: 'ama', password: passwordOf('ama') },
    });
    const guest = await mqtt.connectAsync(url, quiet);
    const ended = new Promise<void>((resolve) => guest.once('close', () => resolve()));
    for (const client of [owner, guest]) client.on('error', () => undefined);
    const silent = await besiege(portOf(service.mqttUrl));
    await ended;
    assert.equal(owner.connected, true);
    // Whoever is new is served on either port.
    assert.equal((await fetch(`${service.url}/healthz`)).status, 200);
    const late = await mqtt.connectAsync(service.mqttUrl, quiet);
    await Promise.all([late.endAsync(true), owner.endAsync(true)]);
    for (const one of silent) one.destroy();
  });
}

test('what guests are sent away for is counted', async () => {
  const { text } = await service.as('admin')({ path: '//metrics' });
  assert.match(text, /kipimo_mqtt_connections_refused_total\{reason="silent"\} [1-9]/);
});
