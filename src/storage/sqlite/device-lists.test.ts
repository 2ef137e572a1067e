import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import type { Username } from '../../domain/ids.ts';
import { countingOwned, firstPosition, listing } from '../sql/resources.ts';
import type { SqlReader, SqlSession } from '../sql/session.ts';
import { migrate } from './migrate.ts';
import { createReader, forSqlite } from './session.ts';

/** Ten devices, every other one private, as far apart as if others had been between them. */
const apart = 15_000;
const devices = 10;

function openDevices(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  migrate(database, ':memory:');
  const insert = database.prepare(
    `insert into devices (position, id, owner, visibility, created_at, modified_at, details)
     values (?, ?, ?, ?, 0, 0, '{}')`,
  );
  for (let n = 1; n <= devices; n += 1) {
    insert.run(n * apart, `d${n}`, n === 2 ? 'ana' : 'ben', n % 2 === 0 ? 'private' : null);
  }
  return database;
}

/** A reader that hands each statement on, with its values. */
function spiedReader(
  database: DatabaseSync,
  spy: (sql: string, values: readonly unknown[]) => void,
): SqlReader {
  const reader = createReader(database);
  const spied = (session: SqlSession): SqlSession => ({
    ...session,
    all(sql, ...values) {
      spy(sql, values);
      return session.all(sql, ...values);
    },
    first(sql, ...values) {
      spy(sql, values);
      return session.first(sql, ...values);
    },
  });
  return {
    ...reader,
    ...spied(reader),
    inSnapshot: (work) => reader.inSnapshot((session) => work(spied(session))),
  };
}

test('a list of devices searches ranges of indexes, and goes through no table', async () => {
  using database = openDevices();
  const ana: VisibleTo = { who: { username: 'ana' as Username, reached: new Set(['d8', 'd1']) } };
  const plans = new Map<string, string>();
  const reader = spiedReader(database, (sql) => {
    const rows = database.prepare(`explain query plan ${forSqlite(sql)}`).all();
    plans.set(sql, rows.map(({ detail }) => String(detail)).join('\n'));
  });
  const list = listing<{ id: string }>(reader, 'device', 'id');
  const listed = async (visibleTo: VisibleTo, limit: number, offset: number, owner?: string) => {
    const shown = owner === undefined ? { visibleTo } : { visibleTo, owner };
    const { rows, total } = await list.page({ ...shown, limit, offset });
    return [rows.map(({ id }) => id).join(), total];
  };
  assert.deepEqual(await listed({ who: 'public' }, 20, 0), ['d1,d3,d5,d7,d9', 5]);
  assert.deepEqual(await listed({ who: 'public' }, 2, 1), ['d3,d5', 5]);
  assert.deepEqual(await listed({ who: 'public' }, 2, 4), ['d9', 5]);
  assert.deepEqual(await listed({ who: 'public' }, 2, 5), ['', 5]);
  assert.deepEqual(await listed(ana, 20, 0), ['d1,d2,d3,d5,d7,d8,d9', 7]);
  assert.deepEqual(await listed(ana, 3, 4), ['d7,d8,d9', 7]);
  assert.deepEqual(await listed(ana, 20, 0, 'ben'), ['d1,d3,d5,d7,d8,d9', 6]);
  assert.deepEqual(await listed(ana, 20, 0, 'Ana'), ['d2', 1]);
  assert.deepEqual(await listed({ who: 'public' }, 2, 1, 'ben'), ['d3,d5', 5]);
  assert.deepEqual(await listed({ who: 'everything' }, 2, 8), ['d9,d10', 10]);
  const owners = ['ben', 'zoe', 'ANA'] as Username[];
  assert.deepEqual(await countingOwned(reader, 'device')(owners), [9, 0, 1]);
  const next = await list.next({ visibleTo: ana }, 2 * apart, 3);
  assert.deepEqual(next.map(({ id }) => id).join(), 'd3,d5,d7');
  assert.ok(plans.size >= 8);
  for (const [sql, plan] of plans) {
    assert.doesNotMatch(
      plan,
      /SCAN (devices|list_counts)|SEARCH devices [^\n]*\(listed=\?\)$/m,
      sql,
    );
  }
});

test('a list goes past many things in steps, with few granted ids at a time', async () => {
  using database = openDevices();
  const insert = database.prepare(
    `insert into devices (position, id, owner, visibility, created_at, modified_at, details)
     values (?, ?, 'ben', 'private', 0, 0, '{}')`,
  );
  const ids = Array.from({ length: 6_000 }, (_, n) => `granted${n}`);
  database.exec('begin');
  for (const [n, id] of ids.entries()) insert.run(devices * apart + 1 + n, id);
  database.exec('commit');
  const counts: number[] = [];
  const reader = spiedReader(database, (_, values) => {
    counts.push(...values.map((value) => (Array.isArray(value) ? value.length : 0)));
  });
  const reached = new Set([...ids.toReversed(), 'd4', 'gone']);
  const visibleTo: VisibleTo = { who: { username: 'ana' as Username, reached } };
  const list = listing<{ id: string }>(reader, 'device', 'id');
  const listed = async (limit: number, offset: number) => {
    const { rows, total } = await list.page({ visibleTo, limit, offset });
    return [rows.map(({ id }) => id).join(), total];
  };
  assert.deepEqual(await listed(4, 5), ['d7,d9,granted0,granted1', 6_007]);
  assert.ok(Math.max(...counts) <= 500, `${Math.max(...counts)} ids at a time`);
  assert.deepEqual(await listed(4, 6_005), ['granted5998,granted5999', 6_007]);
  assert.deepEqual(await listed(4, 6_007), ['', 6_007]);
  assert.deepEqual(await listed(4, 60_000), ['', 6_007]);
  assert.ok(Math.max(...counts) <= 5_004, `${Math.max(...counts)} positions at a time`);
  const shown = new Set<string>();
  for (let after = firstPosition; ; ) {
    const rows = await list.next({ visibleTo }, after, 1_000);
    for (const { id } of rows) shown.add(id);
    const last = rows.at(-1);
    if (last === undefined) break;
    after = last.position;
  }
  assert.equal(shown.size, 6_007);
});
