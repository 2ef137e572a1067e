import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import test from 'node:test';
import type { VisibleTo } from '../../domain/access/viewer.ts';
import type { Username } from '../../domain/ids.ts';
import { countOfOwners } from '../sql/devices.ts';
import { firstPosition, listing, slicesOf } from '../sql/resources.ts';
import type { SqlReader, SqlSession } from '../sql/session.ts';
import { createReader } from './session.ts';

/** Positions that one statement may go through: 200,000 devices took 18 ms in one. */
const positionsMax = 20_000;
/** Ten devices, every other one private, as far apart as if others had been between them. */
const apart = 15_000;
const devices = 10;

function openDevices(): DatabaseSync {
  const database = new DatabaseSync(':memory:');
  const file = new URL('migrations/0001-accounts-and-devices.sql', import.meta.url);
  database.exec(readFileSync(file, 'utf8'));
  const insert = database.prepare(
    `insert into devices (position, id, owner, visibility, created_at, modified_at, details)
     values (?, ?, ?, ?, 0, 0, '{}')`,
  );
  for (let n = 1; n <= devices; n += 1) {
    insert.run(n * apart, `d${n}`, n === 2 ? 'ana' : 'ben', n % 2 === 0 ? 'private' : null);
  }
  return database;
}

/** A reader that keeps how many ids each statement is given. */
function countedReader(database: DatabaseSync, counts: number[]): SqlReader {
  const reader = createReader(database);
  const count = (values: readonly unknown[]) =>
    counts.push(...values.map((value) => (Array.isArray(value) ? value.length : 0)));
  const counted = (session: SqlSession): SqlSession => ({
    ...session,
    all(sql, ...values) {
      count(values);
      return session.all(sql, ...values);
    },
    first(sql, ...values) {
      count(values);
      return session.first(sql, ...values);
    },
  });
  return {
    ...reader,
    ...counted(reader),
    inSnapshot: (work) => reader.inSnapshot((session) => work(counted(session))),
  };
}

/** A reader that keeps how many positions each statement over devices went through. */
function spiedReader(database: DatabaseSync, spans: number[]): SqlReader {
  const reader = createReader(database);
  const spied = (session: SqlSession): SqlSession => ({
    ...session,
    all(sql, ...values) {
      spans.push(spanOf(sql, values));
      return session.all(sql, ...values);
    },
    first(sql, ...values) {
      if (sql.includes('count(*)')) spans.push(spanOf(sql, values));
      return session.first(sql, ...values);
    },
  });
  return {
    ...reader,
    ...spied(reader),
    inSnapshot: (work) => reader.inSnapshot((session) => work(spied(session))),
  };
}

function spanOf(sql: string, values: readonly unknown[]): number {
  const [, from, to] = /position > \$(\d+) and position <= \$(\d+)/.exec(sql) ?? [];
  if (from === undefined || to === undefined) return Number.POSITIVE_INFINITY;
  return Number(values[Number(to) - 1]) - Number(values[Number(from) - 1]);
}

test('a list of devices goes through few positions at a time', async () => {
  using database = openDevices();
  const ana: VisibleTo = { who: { username: 'ana' as Username, reached: new Set(['d8']) } };
  const spans: number[] = [];
  const list = listing<{ id: string }>(spiedReader(database, spans), 'device', 'id');
  const listed = async (visibleTo: VisibleTo, limit: number, offset: number) => {
    const { rows, total } = await list({ visibleTo, limit, offset });
    return [rows.map(({ id }) => id).join(), total];
  };
  assert.deepEqual(await listed({ who: 'public' }, 20, 0), ['d1,d3,d5,d7,d9', 5]);
  assert.deepEqual(await listed({ who: 'public' }, 2, 1), ['d3,d5', 5]);
  assert.deepEqual(await listed({ who: 'public' }, 2, 4), ['d9', 5]);
  assert.deepEqual(await listed({ who: 'public' }, 2, 5), ['', 5]);
  assert.deepEqual(await listed(ana, 20, 0), ['d1,d2,d3,d5,d7,d8,d9', 7]);
  assert.deepEqual(await listed(ana, 3, 4), ['d7,d8,d9', 7]);
  assert.ok(Math.max(...spans) <= positionsMax, `${Math.max(...spans)} positions at a time`);
});

test('the devices of many owners are counted few positions at a time', async () => {
  using database = openDevices();
  const spans: number[] = [];
  const owners = ['ben', 'zoe', 'ANA'] as Username[];
  assert.deepEqual(await countOfOwners(spiedReader(database, spans), owners), [9, 0, 1]);
  assert.ok(
    spans.length > 1 && Math.max(...spans) <= 50_000,
    `${spans.join()} positions at a time`,
  );
});

test('a list is given few of the ids that its user was granted at a time', async () => {
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
  const reader = countedReader(database, counts);
  const reached = new Set([...ids.toReversed(), 'd4', 'gone']);
  const visibleTo: VisibleTo = { who: { username: 'ana' as Username, reached } };
  const { rows, total } = await listing<{ id: string }>(
    reader,
    'device',
    'id',
  )({
    ...{ visibleTo, limit: 4, offset: 5 },
  });
  assert.deepEqual([rows.map(({ id }) => id).join(), total], ['d7,d9,granted0,granted1', 6_007]);
  const sliceFrom = await slicesOf(reader, 'device', visibleTo);
  const shown = new Set<string>();
  for (let after = firstPosition; after < devices * apart + ids.length; ) {
    const slice = sliceFrom?.(after);
    assert.ok(slice !== undefined && typeof slice.visibleTo.who === 'object');
    for (const id of slice.visibleTo.who.reached ?? []) shown.add(id);
    after = slice.end;
  }
  assert.equal(shown.size, ids.length + 1);
  assert.ok(Math.max(...counts) <= 2_000, `${Math.max(...counts)} ids at a time`);
});
