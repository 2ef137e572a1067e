import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import { paidBy } from '../../lib/paid-work.ts';
import { createReader } from './reader.ts';

test('where the server has no room for more connections, reads share those that are there', {
  skip: noPostgres,
}, async () => {
  const url = await emptySchemaCalled('reader_few');
  await onServer(url, 'drop role if exists reader_few');
  await onServer(url, 'create role reader_few login connection limit 2');
  const own = new URL(url);
  own.username = 'reader_few';
  const warned: unknown[] = [];
  const log = { ...silentLog, warn: (fields: object) => void warned.push(fields) };
  const reader = createReader(own.href, log);
  try {
    const read = () => reader.first<{ found: number }>('select 1 as found from pg_sleep(0.01)');
    await read();
    const answers = await Promise.all(Array.from({ length: 60 }, read));
    assert.deepEqual(new Set(answers.map((row) => row?.found)), new Set([1]));
    assert.equal(warned.length, 1);
  } finally {
    await reader.close();
    await onServer(url, 'drop role reader_few');
  }
});

test('nobody waits for a connection behind the reads of guests', {
  skip: noPostgres,
}, async () => {
  const reader = createReader(await emptySchemaCalled('reader_guests'), silentLog);
  const done: string[] = [];
  const read = async (who: string) => {
    await reader.first('select 1 as found from pg_sleep(0.02)');
    done.push(who);
  };
  try {
    const guests = Array.from({ length: 40 }, (_, at) =>
      paidBy(`address/10.0.0.${at}`, () => read('a guest')),
    );
    const all = [...guests, paidBy('account/1', () => read('an account')), read('the service')];
    await Promise.all(all);
    // Other connections are opened for them, while a few guests are answered on theirs.
    for (const who of ['an account', 'the service']) {
      assert.ok(done.indexOf(who) < guests.length / 2, `${who} was number ${done.indexOf(who)}`);
    }
  } finally {
    await reader.close();
  }
});
