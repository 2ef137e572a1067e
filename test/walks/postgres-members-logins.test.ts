// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import mqtt from 'mqtt';
import { limits } from '../../src/domain/limits.ts';
import { findPostgres, onServer, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { passwordOf } from '../service.ts';
import { type MemberProcess, membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;

const logIn = async ({ call }: MemberProcess, username: string, password: string) =>
  (await call({ method: 'POST', path: '/auth/token', json: { username, password } })).status;

/** Over MQTT; answers what refused it. */
const connect = async ({ running }: MemberProcess, username: string, password: string) => {
  const given = { username, password, reconnectPeriod: 0, protocolVersion: 5 } as const;
  try {
    (await mqtt.connectAsync(running.mqttUrl, given)).end(true);
    return 0;
  } catch (error) {
    return (error as { code?: number }).code;
  }
};

describe('failed logins at processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('count together, over HTTP and MQTT, and are forgiven together', async () => {
    const start = await membersOf(server, 'members_logins');
    await using one = await start();
    await using other = await start();
    for (const name of ['ama', 'kofi']) await signUp(one, name);
    const both = [one, other] as const;

    // A login forgives what failed at both.
    for (let count = 0; count < limits.loginFailuresPerUser - 1; count += 1) {
      assert.equal(await logIn(both[count % 2] ?? one, 'kofi', 'wrong password'), 401);
    }
    assert.equal(await logIn(one, 'kofi', passwordOf('kofi')), 200);
    for (const side of both) assert.equal(await logIn(side, 'kofi', 'wrong password'), 401);

    // Every third one comes over MQTT.
    for (let count = 0; count < limits.loginFailuresPerUser; count += 1) {
      const side = both[count % 2] ?? one;
      if (count % 3 === 0) assert.equal(await connect(side, 'ama', 'wrong password'), 0x86);
      else assert.equal(await logIn(side, 'ama', 'wrong password'), 401);
    }
    for (const side of both) {
      assert.equal(await logIn(side, 'ama', passwordOf('ama')), 429);
      assert.notEqual(await connect(side, 'ama', passwordOf('ama')), 0);
      assert.equal(await logIn(side, 'kofi', passwordOf('kofi')), 200);
    }

    // All that strangers try from one network, whatever the names.
    for (let count = 0; count < limits.loginFailuresPerAddress; count += 1) {
      assert.equal(await logIn(both[count % 2] ?? one, `nobody-${count}`, 'wrong'), 401);
    }
    for (const side of both) assert.equal(await logIn(side, 'nobody', 'wrong'), 429);
  });

  test('of many strangers slow an account down at all, and close it at none', async () => {
    const more = { KIPIMO_TRUSTED_PROXIES: '127.0.0.1,::1' };
    const start = await membersOf(server, 'members_logins_strangers', more);
    await using one = await start();
    await using other = await start();
    await signUp(one, 'ama');
    const both = [one, other] as const;
    const from = async ({ call }: MemberProcess, address: string, password: string) => {
      const json = { username: 'ama', password };
      const headers = { 'x-forwarded-for': address };
      return (await call({ method: 'POST', path: '/auth/token', json, headers })).status;
    };
    for (let count = 0; count < limits.loginFailuresOfStrangers + 5; count += 1) {
      assert.equal(await from(both[count % 2] ?? one, `10.${count}.0.7`, 'wrong'), 401);
    }
    for (const [index, side] of both.entries()) {
      const startedAt = performance.now();
      assert.equal(await from(side, `198.51.${index}.7`, passwordOf('ama')), 200);
      const waitedMs = performance.now() - startedAt;
      assert.ok(waitedMs >= limits.slowLoginPauseMs, `${waitedMs} ms: it was not slowed down`);
      assert.equal(await from(side, `198.51.${index}.8`, 'wrong'), 401);
    }
  });

  test('count where they were made while the others sleep', async () => {
    const start = await membersOf(server, 'members_logins_asleep');
    await using one = await start();
    await using other = await start();
    await signUp(one, 'ama');
    process.kill(other.running.pid, 'SIGSTOP');
    try {
      const tries = Array.from({ length: limits.loginFailuresPerUser }, () =>
        logIn(one, 'ama', 'wrong password'),
      );
      for (const status of await Promise.all(tries)) assert.equal(status, 401);
    } finally {
      process.kill(other.running.pid, 'SIGCONT');
    }
    await wait(1_000);
    assert.equal(await logIn(other, 'ama', passwordOf('ama')), 429);
    assert.equal(await logIn(one, 'ama', passwordOf('ama')), 429);
  });

  test('leave no names in what the processes tell each other', async () => {
    const schema = 'members_logins_names';
    const start = await membersOf(server, schema);
    await using one = await start();
    await using _other = await start();
    assert.equal(await logIn(one, 'a-password-by-mistake', 'ama'), 401);
    const { rows } = await onServer(server.url, `select entry from ${schema}.feed_log`);
    const entries = (rows as readonly { entry: string }[]).map(({ entry }) => entry);
    assert.ok(entries.some((entry) => entry.includes('"failures"')));
    assert.ok(!entries.some((entry) => entry.includes('by-mistake')));
  });
});
