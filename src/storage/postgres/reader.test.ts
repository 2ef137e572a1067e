import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
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
