// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { generate } from 'mqtt-packet';
import { findPostgres, sharedPostgres } from '../postgres-server.ts';
import { fieldOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const floodMs = 6_000;

/** Publishes at QoS 0 as fast as the server reads. */
async function flood(port: number, token: string, signal: AbortSignal): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  const login = { username: 'bo', password: Buffer.from(token) };
  const terms = { protocolId: 'MQTT', protocolVersion: 4, clean: true, keepalive: 0 } as const;
  socket.write(generate({ cmd: 'connect', clientId: 'flood', ...terms, ...login }));
  await once(socket, 'data');
  const about = { qos: 0, retain: false, dup: false, payload: Buffer.alloc(20, 'x') } as const;
  const many = Buffer.concat(
    Array.from({ length: 1_000 }, () =>
      generate({ cmd: 'publish', topic: 'devices/bo/x', ...about }),
    ),
  );
  while (!signal.aborted && !socket.destroyed) {
    if (!socket.write(many)) await once(socket, 'drain', { signal }).catch(() => undefined);
  }
  socket.destroy();
}

test('who publishes below a device without a pause shuts out nobody', {
  skip: isAbsent && 'needs PostgreSQL',
}, async (context) => {
  const server = await sharedPostgres();
  context.after(() => server.close());
  const { one, other, ama } = await fieldOf(server, 'members_flood');
  await using closing = new AsyncDisposableStack();
  for (const each of [one, other]) closing.use(each);
  const bo = await signUp(one, 'bo');
  await one.call({ method: 'POST', path: '/devices', token: bo, json: { id: 'bo' } });
  const stop = new AbortController();
  const flooding = flood(Number(new URL(one.running.mqttUrl).port), bo, stop.signal);
  const path = '/devices/field/sensors/s/value';
  const until = performance.now() + floodMs;
  const answers = new Map<number, number>();
  for (let value = 0; performance.now() < until; value += 1) {
    const { status } = await one.call({ method: 'POST', path, token: ama, json: { value } });
    answers.set(status, (answers.get(status) ?? 0) + 1);
    await wait(20);
  }
  stop.abort();
  await flooding;
  assert.deepEqual([...answers.keys()], [204], JSON.stringify([...answers]));
});
