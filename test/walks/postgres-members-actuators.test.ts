// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import mqtt from 'mqtt';
import { findPostgres, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { passwordOf } from '../service.ts';
import { fieldOf, type MemberProcess } from './member-processes.ts';
import { until } from './rule-model.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const path = '/devices/field/actuators/pump/value';

/** Ama's field at two processes, with what a subscriber at the first one was told of its pump. */
async function watchedField(server: PostgresServer, schema: string) {
  const { one, other, ama } = await fieldOf(server, schema);
  const account = { username: 'ama', password: passwordOf('ama') };
  const watcher = await mqtt.connectAsync(one.running.mqttUrl, account);
  const told: unknown[] = [];
  watcher.on('message', (_, payload) => void told.push(JSON.parse(payload.toString())));
  await watcher.subscribeAsync('devices/field/actuators/pump/value', { qos: 1 });
  return {
    ...{ one, other, told },
    async set({ call }: MemberProcess, json: unknown, time = ''): Promise<void> {
      const reply = await call({ method: 'PUT', path: `${path}${time}`, token: ama, json });
      assert.equal(reply.status, 204, reply.text);
    },
    /** How many milliseconds it took. */
    async untilValue(value: unknown): Promise<number> {
      const begun = performance.now();
      const isSo = async () => (await one.call({ path, token: ama })).text === String(value);
      await until(isSo, `it never was ${value}`);
      return performance.now() - begun;
    },
    async [Symbol.asyncDispose]() {
      watcher.end(true);
      await one[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

describe('settings for a while of processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  for (const [signal, schema] of [
    ['SIGTERM', 'actuators_ended'],
    ['SIGKILL', 'actuators_killed'],
  ] as const) {
    test(`what a process took that ends by ${signal} is set back by another one`, async () => {
      await using field = await watchedField(server, schema);
      const { one, other, told } = field;
      await field.set(one, 1, '?for=1d');
      await field.set(other, 2, '?for=4s');
      other.running.kill(signal);
      await other.running.exited;
      const tookMs = await field.untilValue(0);
      assert.ok(tookMs < 10_000, `after ${Math.round(tookMs)} ms`);
      await until(async () => told.length === 3, `told ${told}`);
      assert.deepEqual(told, [1, 2, 0]);
    });
  }

  test('what another process set later is left alone, and set back once', async () => {
    await using field = await watchedField(server, 'actuators_replaced');
    const { one, other, told } = field;
    await field.set(other, 1, '?for=2s');
    await field.set(one, 2);
    await field.set(other, 3, '?for=1d');
    await field.set(one, 4, '?for=3s');
    await field.untilValue(2);
    await field.set(one, 5, '?for=1s');
    await field.set(other, 6, '?for=3s');
    await field.untilValue(2);
    // Longer than another process leaves it to the one that took it.
    await assert.rejects(until(async () => told.length > 8, 'as it should', 3_000));
    assert.deepEqual(told, [1, 2, 3, 4, 2, 5, 6, 2]);
  });
});
