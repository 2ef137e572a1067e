// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { temporaryDirectory } from '../../src/storage/contract/temporary-directory.ts';
import {
  findPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../postgres-server.ts';
import { adminPassword, createCall, passwordOf } from '../service.ts';
import { startProcess } from '../service-process.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const directory = temporaryDirectory({ after });
const givenUpMsMax = 15_000;

describe('processes that share a database', { skip: isAbsent && 'needs PostgreSQL' }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  async function open(schema: string) {
    await onServer(server.url, `drop schema if exists ${schema} cascade`);
    const environment = {
      KIPIMO_DATABASE_URL: await schemaUrl(server.url, schema),
      KIPIMO_PROCESSES: 'several',
      KIPIMO_ADMIN_PASSWORD: adminPassword,
    };
    return async () => {
      const running = await startProcess({ directory, environment });
      return {
        running,
        call: createCall(running.url),
        [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
      };
    };
  }

  test('what one was told the other knows, also after the first was killed', async () => {
    const start = await open('members_walk');
    await using one = await start();
    await using other = await start();
    const ama = { username: 'ama', password: passwordOf('ama') };
    assert.equal((await one.call({ method: 'POST', path: '/users', json: ama })).status, 200);
    const login = await other.call({ method: 'POST', path: '/auth/token', json: ama });
    assert.equal(login.status, 200, login.text);
    const token = login.text;
    const made = await one.call({
      ...{ method: 'POST', path: '/devices', token },
      json: { id: 'field', sensors: [{ id: 's' }] },
    });
    assert.equal(made.status, 204, made.text);
    const push = (side: typeof one, value: number) =>
      side.call({ method: 'POST', path: '/devices/field/sensors/s/value', token, json: value });
    for (let value = 0; value < 20; value += 1) {
      assert.equal((await push(value % 2 === 0 ? one : other, value)).status, 204);
    }
    const values = async (side: typeof one) => {
      const read = await side.call({ path: '/devices/field/sensors/s/values?limit=100', token });
      return (read.json as readonly { value: number }[]).map(({ value }) => value);
    };
    assert.deepEqual(
      (await values(one)).toSorted((a, b) => a - b),
      Array.from({ length: 20 }, (_, at) => at),
    );
    assert.deepEqual(await values(other), await values(one));

    one.running.kill('SIGKILL');
    await one.running.exited;
    const asked = performance.now();
    assert.equal((await push(other, 20)).status, 204);
    assert.ok(performance.now() - asked < 3_000, 'the others go on');
    assert.equal((await values(other)).length, 21);
  });

  test('one that slept is given up, and ends when it wakes, having kept nothing', async () => {
    const start = await open('members_sleep');
    await using one = await start();
    await using other = await start();
    process.kill(one.running.pid, 'SIGSTOP');
    const late = one.call({ method: 'POST', path: '/devices', json: { id: 'late' } });
    late.catch(() => undefined);
    const until = performance.now() + givenUpMsMax;
    const { running } = other;
    while (!running.output().includes('gave up a process that was silent')) {
      assert.ok(performance.now() < until, `it was not given up: ${running.output()}`);
      await wait(100);
    }
    process.kill(one.running.pid, 'SIGCONT');
    const exit = await Promise.race([one.running.exited, wait(givenUpMsMax, 'it stays')]);
    assert.deepEqual(exit, { code: 1, signal: null }, one.running.output());
    assert.equal((await late.catch(() => undefined))?.status === 204, false);
    assert.equal((await other.call({ path: '/devices/late' })).status, 404);
    const made = await other.call({ method: 'POST', path: '/devices', json: { id: 'soon' } });
    assert.equal(made.status, 204, made.text);
  });
});
