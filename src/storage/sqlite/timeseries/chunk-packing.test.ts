import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import { aDevice, aSensor, aUser } from '../../../../test/contract/storage/builders.ts';
import {
  allValues,
  at,
  push,
  sensor,
} from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { compact } from '../../../../tools/admin/sqlite/compaction.ts';
import { silentLog } from '../../../lib/log.ts';
import { databasePath } from '../connection.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { type DatapointLimits, datapointLimits } from './datapoint-limits.ts';

const open = (directory: string, limits = datapointLimits) =>
  openSqlite({ directory, log: silentLog, datapointLimits: limits });

function chunksOf(directory: string): { n: number; points: number; versions: string }[] {
  using database = new DatabaseSync(databasePath(directory), { readOnly: true });
  return database
    .prepare(
      `select series, count(*) as n, sum(count) as points,
         group_concat(distinct hex(substr(datapoints, 1, 1))) as versions
       from chunks group by series`,
    )
    .all() as unknown as { n: number; points: number; versions: string }[];
}

const read = async (directory: string, of = sensor()) => {
  const storage = await open(directory);
  const values = await allValues(storage.datapoints, of);
  await storage.close();
  return values;
};

const old = join(import.meta.dirname, '../../../../test/old-databases/0.1.sqlite.br');

test('chunks of an older database become fewer, with the same datapoints', async (context) => {
  const directory = temporaryDirectory(context);
  writeFileSync(databasePath(directory), brotliDecompressSync(readFileSync(old)));
  const values = await read(directory, sensor('farm', 'level'));
  const [before] = chunksOf(directory);
  assert.deepEqual([before?.n, before?.versions], [5, '02']);
  compact(directory);
  const [after] = chunksOf(directory);
  assert.deepEqual([after?.n, after?.versions, after?.points], [2, '02', before?.points]);
  assert.ok(values.length > 4_096);
  using database = new DatabaseSync(databasePath(directory), { readOnly: true });
  const summarised = database.prepare('select chunk from chunk_summaries order by chunk').all();
  const due = database
    .prepare('select id as chunk from chunks where count >= 256 order by id')
    .all();
  assert.deepEqual([summarised.length > 0, summarised], [true, due]);
  database.close();
  assert.deepEqual(await read(directory, sensor('farm', 'level')), values);
});

test('small chunks become long ones in their order, around what is damaged', async (context) => {
  const directory = temporaryDirectory(context);
  const small: DatapointLimits = {
    ...datapointLimits,
    ...{ chunkDatapointsMax: 16, chunkBlocksMax: 2, memtableEntryBytesMax: 800 },
  };
  const storage = await open(directory, small);
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
  for (let n = 0; n < 2_000; n += 40) {
    // Many of one time: their order is that of arrival alone.
    const datapoints = Array.from({ length: 40 }, (_, k) =>
      at(n < 1_000 ? n + k : 1_000, `${n + k}`),
    );
    await storage.datapoints.append([push(datapoints)]);
  }
  await storage.close();
  const values = await read(directory);
  assert.equal(values.length, 2_000);
  const [before] = chunksOf(directory);
  assert.ok((before?.n ?? 0) > 40, `${before?.n}`);
  compact(directory);
  const [after] = chunksOf(directory);
  assert.ok((after?.n ?? 0) <= (before?.n ?? 0) / 4, `${after?.n}`);
  assert.deepEqual(await read(directory), values);

  const first = 'select id from chunks order by min_time, id limit 1';
  const bytes = `select hex(datapoints) as bytes from chunks where id = (${first})`;
  using database = new DatabaseSync(databasePath(directory));
  database.exec(`update chunks set datapoints = x'02ff' where id = (${first})`);
  database.close();
  compact(directory);
  using again = new DatabaseSync(databasePath(directory), { readOnly: true });
  assert.equal(again.prepare(bytes).get()?.['bytes'], '02FF');
  assert.equal(chunksOf(directory)[0]?.points, after?.points);
});
