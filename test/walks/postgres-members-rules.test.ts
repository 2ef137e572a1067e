// In a process of its own: it starts a database server and several processes that share it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { findPostgres, onServer, type PostgresServer, sharedPostgres } from '../postgres-server.ts';
import { type MemberProcess, membersOf, signUp } from './member-processes.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const patienceMs = 15_000;

/** Ama's device and rules on it; what she pushes at which process, and how often each fired. */
async function field(
  { call }: MemberProcess,
  sensors: readonly string[],
  expressions: readonly string[],
  throttling?: number,
) {
  const ama = await signUp({ call }, 'ama');
  const json = { id: 'field', sensors: sensors.map((id) => ({ id })) };
  assert.equal((await call({ method: 'POST', path: '/devices', token: ama, json })).status, 204);
  const ids: string[] = [];
  for (const expression of expressions) {
    const made = await call({
      ...{ method: 'POST', path: '/notifications', token: ama },
      json: {
        condition: { devices: ['field'], sensors, expression },
        action: { usernames: ['ama'], channels: ['webhook'], message: 'it is hot' },
        ...(throttling !== undefined && { throttling }),
      },
    });
    assert.ok(made.status < 300, made.text);
    ids.push(made.text);
  }
  const path = (sensor: string): string => `/devices/field/sensors/${sensor}/value`;
  return {
    async push(at: MemberProcess, sensor: string, value: number): Promise<void> {
      const request = { method: 'POST', path: path(sensor), token: ama, json: { value } };
      const pushed = await at.call(request);
      assert.equal(pushed.status, 204, pushed.text);
    },
    async firings(at: MemberProcess): Promise<readonly number[]> {
      const counts: number[] = [];
      for (const id of ids) {
        const found = await at.call({ path: `/notifications/${id}/deliveries`, token: ama });
        assert.equal(found.status, 200, found.text);
        counts.push(Number(found.headers.get('x-total-count')));
      }
      return counts;
    },
  };
}

async function until(isTrue: () => Promise<boolean>, what: string): Promise<void> {
  const giveUpAt = performance.now() + patienceMs;
  while (!(await isTrue())) {
    assert.ok(performance.now() < giveUpAt, what);
    await wait(50);
  }
}

/** Keeps all looks of a schema in the order of their commits. */
const keepLooks = (schema: string): string => `
  set search_path to ${schema};
  create table kept_looks (place bigint, entry text);
  create function keep_look() returns trigger language plpgsql as
    $$begin insert into ${schema}.kept_looks values (new.place, new.entry); return new; end$$;
  create trigger keep_looks after insert on looks for each row execute function keep_look()`;

describe('rules of processes that share a database', {
  skip: isAbsent && 'needs PostgreSQL',
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await sharedPostgres();
  });
  after(() => server.close());

  test('remember what any of them was pushed', async () => {
    const start = await membersOf(server, 'members_states');
    await using one = await start();
    await using other = await start();
    const { push, firings } = await field(one, ['t'], ['t > 30 clear t < 25']);
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
    const expressions = ['a > 50; b > 50', 'a > 50; b > 50 clear a < 30', 'a > 80'];
    const { push, firings } = await field(one, ['a', 'b'], expressions);
    await onServer(server.url, keepLooks(schema));
    // Of a small generator with a seed: each run has the same values, in another interleaving.
    let seed = 7;
    const next = (max: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % max;
    };
    const load = async (at: MemberProcess): Promise<void> => {
      for (let n = 0; n < 15; n += 1) await push(at, next(2) === 0 ? 'a' : 'b', next(100));
    };
    await Promise.all([one, other, one, other, one, other].map(load));

    const { rows } = await onServer(
      server.url,
      `select entry from ${schema}.kept_looks order by place`,
    );
    assert.equal(rows.length, 90);
    const expected = [0, 0, 0];
    const values = new Map<string, number>();
    let isRaised = false;
    for (const { entry } of rows as { entry: string }[]) {
      const [, , sensor, { n }] = JSON.parse(entry) as [string, string, string, { n: number[] }];
      values.set(sensor, n[0] ?? 0);
      const { a = 0, b = 0 } = Object.fromEntries(values);
      const holds = a > 50 && b > 50;
      if (holds) expected[0] = (expected[0] ?? 0) + 1;
      if (isRaised) isRaised = !(a < 30);
      else if (holds) {
        isRaised = true;
        expected[1] = (expected[1] ?? 0) + 1;
      }
      if (a > 80) expected[2] = (expected[2] ?? 0) + 1;
    }
    assert.deepEqual(await firings(other), expected);
    const left = await onServer(server.url, `select count(*)::integer as n from ${schema}.looks`);
    assert.equal(left.rows[0].n, 0);
  });

  test('have one window', async () => {
    const start = await membersOf(server, 'members_window');
    await using one = await start();
    await using other = await start();
    const { push, firings } = await field(one, ['t'], ['t > 30'], 3_600);
    const all = Array.from({ length: 40 }, (_, n) => push(n % 2 === 0 ? one : other, 't', 31 + n));
    await Promise.all(all);
    assert.deepEqual(await firings(one), [1]);
  });

  test('are looked at by another one where a process ended before it looked', async () => {
    const schema = 'members_left';
    const start = await membersOf(server, schema);
    await using one = await start();
    await using other = await start();
    const { push, firings } = await field(one, ['t'], ['t > 30 clear t < 25']);
    // What a push of the other one leaves that is killed right after its commit.
    const entry = JSON.stringify([
      ...['datapoints', 'field', 't'],
      ...[{ t: [1], r: [Date.now()], m: [0], n: [31] }, null],
    ]);
    await onServer(
      server.url,
      `insert into ${schema}.looks (id, member, device_id, entry)
       select 'left', max(member), 'field', '${entry}' from ${schema}.members`,
    );
    other.running.kill('SIGKILL');
    // Its turn comes first: what it raised does not fire again.
    const pushed = push(one, 't', 32);
    await until(async () => (await firings(one))[0] === 1, 'a look that was left');
    await pushed;
    assert.deepEqual(await firings(one), [1]);
  });

  test('tell a silence once, and again only after the sensor was heard', async () => {
    const start = await membersOf(server, 'members_silences');
    await using one = await start();
    await using other = await start();
    const { push, firings } = await field(one, ['t'], ['silent(t, 2s)']);
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
