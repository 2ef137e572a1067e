// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  findPostgres,
  onServer,
  type PostgresServer,
  sharedPostgres,
  startPostgres,
} from '../postgres-server.ts';
import { type MemberProcess, membersOf } from './member-processes.ts';
import {
  createNumbers,
  firingsOf,
  keepEvaluations,
  makeField,
  modelled,
  until,
} from './rule-model.ts';

/** Less than it takes until a process counts as ended. */
const servedMsMax = 3_000;
/** From the moment in which the database takes connections again. */
const recoveryMsMax = 3_000;
const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;

describe('rules of processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  /** A look as a push of the process that started last leaves it when it is killed after it. */
  async function leaveLook(schema: string): Promise<void> {
    const entry = JSON.stringify([
      ...['datapoints', 'field', 't'],
      ...[{ t: [1], r: [Date.now()], m: [0], n: [31] }, null],
    ]);
    await onServer(
      server.url,
      `insert into ${schema}.looks (id, member, device_id, entry)
       select 'left', max(member), 'field', '${entry}' from ${schema}.members`,
    );
  }

  test('remember what any of them was pushed', async () => {
    const start = await membersOf(server, 'members_states');
    await using one = await start();
    await using other = await start();
    const { push, firings } = await makeField(one, ['t'], ['t > 30 clear t < 25']);
    await push(one, 't', 31);
    await push(other, 't', 32);
    assert.deepEqual(await firings(other), [1], 'raised at the one, it fired at the other');
    await push(other, 't', 20);
    await push(one, 't', 31);
    assert.deepEqual(await firings(one), [2], 'cleared at the other, it is to fire at the one');
    for (let round = 0; round < 30; round += 1) {
      await push(round % 2 === 0 ? one : other, 't', 20);
      await Promise.all([push(one, 't', 31), push(other, 't', 32), push(one, 't', 33)]);
      assert.deepEqual(await firings(other), [3 + round], 'of pushes at both at once one fires');
    }
  });

  test('look at what any of them was pushed in the order of commits, each once', async () => {
    const schema = 'members_order';
    const start = await membersOf(server, schema);
    await using one = await start();
    await using other = await start();
    const { push, firings } = await makeField(one, ['a', 'b'], modelled);
    const looks = await keepEvaluations(server.url, schema);
    const next = createNumbers(7);
    const load = async (at: MemberProcess): Promise<void> => {
      for (let n = 0; n < 40; n += 1) await push(at, next(2) === 0 ? 'a' : 'b', next(100));
    };
    await Promise.all([one, other, one, other, one, other].map(load));

    const pushes = await looks.pushes();
    assert.equal(pushes.length, 240);
    assert.deepEqual(await firings(other), firingsOf(pushes));
    await until(async () => (await looks.waiting()) === 0, 'the end of all looks');
  });

  test('have one window', async () => {
    const start = await membersOf(server, 'members_window');
    await using one = await start();
    await using other = await start();
    const { push, firings } = await makeField(one, ['t'], ['t > 30'], 3_600);
    const all = Array.from({ length: 40 }, (_, n) => push(n % 2 === 0 ? one : other, 't', 31 + n));
    await Promise.all(all);
    assert.deepEqual(await firings(one), [1]);
  });

  test('are looked at by another one where a process ended before it looked', async () => {
    const schema = 'members_left';
    const start = await membersOf(server, schema);
    await using one = await start();
    await using other = await start();
    const { push, firings } = await makeField(one, ['t'], ['t > 30 clear t < 25']);
    await leaveLook(schema);
    other.running.kill('SIGKILL');
    // Its turn comes first: what it raised does not fire again.
    const killedAt = performance.now();
    await push(one, 't', 32);
    // It takes six seconds until that process counts as ended.
    assert.ok(performance.now() - killedAt < servedMsMax, 'a push waited for a killed process');
    assert.deepEqual(await firings(one), [1]);
  });

  test('wait for no process that stands still', async () => {
    const schema = 'members_still';
    const start = await membersOf(server, schema);
    await using one = await start();
    await using other = await start();
    const { push, firings } = await makeField(one, ['t'], ['t > 30 clear t < 25']);
    await push(other, 't', 20);
    await leaveLook(schema);
    process.kill(other.running.pid, 'SIGSTOP');
    try {
      const stoppedAt = performance.now();
      await push(one, 't', 32);
      assert.ok(performance.now() - stoppedAt < servedMsMax, 'a push waited for another process');
    } finally {
      process.kill(other.running.pid, 'SIGCONT');
    }
    await push(other, 't', 33);
    assert.deepEqual(await firings(other), [1]);
  });

  test('tell a silence once, and again only after the sensor was heard', async () => {
    const start = await membersOf(server, 'members_silences');
    await using one = await start();
    await using other = await start();
    const { push, firings } = await makeField(one, ['t'], ['silent(t, 2s)']);
    await push(one, 't', 1);
    for (const round of [1, 2]) {
      // Heard now at the one, now at the other, sooner than it would be silent.
      for (let n = 0; n < 5; n += 1) {
        await push(n % 2 === 0 ? one : other, 't', n);
        await wait(600);
      }
      assert.deepEqual(await firings(one), [round - 1], 'it was not silent');
      await until(async () => (await firings(other))[0] === round, `silence ${round}`);
      await wait(1_500);
      assert.deepEqual(await firings(one), [round], 'told once');
    }
  });
});

describe('rules on a database that is killed', { skip: isAbsent && 'needs PostgreSQL' }, () => {
  test('are made again soon after the database was killed', async () => {
    const own = await startPostgres();
    try {
      const start = await membersOf(own, 'members_away');
      await using one = await start();
      await using other = await start();
      const { push, tryPush } = await makeField(one, ['t'], ['t > 30 clear t < 25']);
      await push(other, 't', 20);
      const servedAt = new Map<MemberProcess, number>();
      let isOver = false;
      const load = async (at: MemberProcess): Promise<void> => {
        for (let n = 0; !isOver; n += 1) {
          if ((await tryPush(at, 't', n % 50)) === 204) servedAt.set(at, performance.now());
          else await wait(20);
        }
      };
      const loads = [one, other, one, other].map(load);
      await wait(500);
      await own.stop('SIGKILL');
      await wait(500);
      await own.start();
      const backAt = performance.now();
      const isServed = async () => [one, other].every((at) => (servedAt.get(at) ?? 0) > backAt);
      await until(isServed, 'pushes are answered again', recoveryMsMax);
      isOver = true;
      await Promise.all(loads);
      const count = 'select count(*)::integer as n from members_away.looks';
      const waiting = async (): Promise<number> => (await onServer(own.url, count)).rows[0].n;
      await until(async () => (await waiting()) === 0, 'the end of all looks');
    } finally {
      await own.close();
    }
  });
});
