// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { findPostgres, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { passwordOf } from '../service.ts';
import { membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const givenUpMsMax = 15_000;

describe('processes that share a database', { skip: isAbsent && 'needs PostgreSQL' }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('what one was told the other knows, also after the first was killed', async () => {
    const start = await membersOf(server, 'members_walk');
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

  test('what is taken back at one is refused at the other once that is answered', async () => {
    const start = await membersOf(server, 'members_rights');
    await using one = await start();
    await using other = await start();
    const ama = await signUp(one, 'ama');
    const bo = await signUp(one, 'bo');
    const json = { id: 'field', visibility: 'private', sensors: [{ id: 's' }] };
    const made = await one.call({ method: 'POST', path: '/devices', token: ama, json });
    assert.equal(made.status, 204, made.text);
    const path = '/devices/field/grants/bo';
    const see = async (token: string) =>
      (await other.call({ path: '/devices/field', token })).status;
    const times: number[] = [];
    for (let round = 0; round < 5; round += 1) {
      assert.equal(await see(bo), 403, 'it is private');
      const shared = await one.call({
        method: 'PUT',
        path,
        token: ama,
        json: ['device:view', 'device-data:view'],
      });
      assert.ok(shared.status < 300, `${shared.status} ${shared.text}`);
      assert.equal(await see(bo), 200, 'it is shared');
      const askedAt = performance.now();
      const revoked = await one.call({ method: 'DELETE', path, token: ama });
      assert.ok(revoked.status < 300, `${revoked.status} ${revoked.text}`);
      times.push(performance.now() - askedAt);
      assert.equal(await see(bo), 403, 'it is taken back');
    }
    assert.ok(Math.min(...times) < 250, `nobody waits for a look: ${times.join(', ')}`);
    // A token that ends.
    assert.equal((await other.call({ path: '/users/me', token: bo })).status, 200);
    assert.ok((await one.call({ method: 'DELETE', path: '/auth/token', token: bo })).status < 300);
    assert.equal((await other.call({ path: '/users/me', token: bo })).status, 401);
  });

  test('one that slept for a while trusts nothing that it remembers', async () => {
    const start = await membersOf(server, 'members_trust');
    await using one = await start();
    await using other = await start();
    const ama = await signUp(one, 'ama');
    const bo = await signUp(one, 'bo');
    const json = { id: 'field', visibility: 'private', sensors: [{ id: 's' }] };
    await one.call({ method: 'POST', path: '/devices', token: ama, json });
    const path = '/devices/field/grants/bo';
    await one.call({ method: 'PUT', path, token: ama, json: ['device:view', 'device-data:view'] });
    const see = () => other.call({ path: '/devices/field', token: bo });
    assert.equal((await see()).status, 200);
    const cy = await signUp(one, 'cy');
    const lookIn = () => other.call({ path: '/users/me', token: cy });
    assert.equal((await lookIn()).status, 200);
    process.kill(other.running.pid, 'SIGSTOP');
    const asked: ReturnType<typeof see>[] = [];
    const askedIn: ReturnType<typeof see>[] = [];
    try {
      const askedAt = performance.now();
      const revoked = await one.call({ method: 'DELETE', path, token: ama });
      assert.ok(revoked.status < 300, revoked.text);
      assert.ok(performance.now() - askedAt < 2_000, 'nobody waits longer for one that sleeps');
      const ended = await one.call({ method: 'DELETE', path: '/auth/token', token: cy });
      assert.ok(ended.status < 300, ended.text);
      for (let at = 0; at < 20; at += 1) {
        asked.push(see());
        askedIn.push(lookIn());
      }
      await wait(200);
    } finally {
      process.kill(other.running.pid, 'SIGCONT');
    }
    for (const { status } of await Promise.all(asked)) assert.equal(status, 403);
    for (const { status } of await Promise.all(askedIn)) assert.equal(status, 401);
  });

  test('one that slept is given up, and ends when it wakes, having kept nothing', async () => {
    const start = await membersOf(server, 'members_sleep');
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
