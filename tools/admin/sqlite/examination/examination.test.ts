import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { silentLog } from '../../../../src/lib/log.ts';
import { databasePath } from '../../../../src/storage/sqlite/connection.ts';
import { lockDirectory } from '../../../../src/storage/sqlite/directory-lock.ts';
import { openSqlite } from '../../../../src/storage/sqlite/sqlite-storage.ts';
import {
  type DatapointLimits,
  datapointLimits,
} from '../../../../src/storage/sqlite/timeseries/datapoint-limits.ts';
import { aDevice, aSensor, aUser, noon } from '../../../../test/contract/storage/builders.ts';
import { at, push, sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import type { Examination } from '../../examination/chunk-examination.ts';
import { compact } from '../compaction.ts';
import { examine, isDamage } from './examination.ts';

interface Context {
  after(end: () => void): void;
}

const limits: DatapointLimits = {
  ...datapointLimits,
  chunkDatapointsMax: 32,
  chunkBlocksMax: 2,
  memtableEntryBytesMax: 4_000,
  summaryDatapointsMin: 64,
};
const perSensor = 1_000;

const open = (directory: string) =>
  openSqlite({ directory, log: silentLog, datapointLimits: limits });

/** A stopped data directory with datapoints of two sensors in chunks. */
async function filled(context: Context): Promise<string> {
  const directory = temporaryDirectory(context);
  const storage = await open(directory);
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d', { sensors: [aSensor('s1'), aSensor('s2')] }));
  for (const id of ['s1', 's2']) {
    const datapoints = Array.from({ length: perSensor }, (_, n) => at(n * 60, n / 10));
    await storage.datapoints.append([push(datapoints, sensor('d', id))]);
  }
  await storage.close();
  return directory;
}

const look = (directory: string, floorBytes = 0): Promise<Examination> =>
  examine({ directory, now: noon + 3_600_000, floorBytes, syncsMax: 5, onStage: () => undefined });

const told = ({ findings }: Examination): readonly string[] =>
  findings.map(({ level, sentence }) => `${level}: ${sentence}`);

function spoil(directory: string, sql: string): void {
  using database = new DatabaseSync(databasePath(directory), {
    enableForeignKeyConstraints: false,
  });
  database.exec(sql);
}

test('a directory in which all is well is found so, and not changed', async (context) => {
  const directory = await filled(context);
  const before = readFileSync(databasePath(directory));
  const found = await look(directory);
  assert.deepEqual(told(found), []);
  assert.equal(found.isInUse, false);
  assert.ok(found.datapointsInChunks > perSensor && found.datapointsInChunks <= 2 * perSensor);
  assert.ok(found.chunks >= 20 && found.logRows > 0);
  assert.deepEqual(
    found.largest.devices.map(({ name, datapoints }) => [name, datapoints]),
    [['d', found.datapointsInChunks]],
  );
  assert.equal(found.largest.sensors.length, 2);
  assert.equal(found.syncs?.count, 5);
  const { disk } = found;
  assert.equal(disk.databaseBytes, statSync(databasePath(directory)).size);
  // An hour of minutes, of two sensors.
  assert.ok(Math.abs(disk.datapointsPerDay - 120) < 10, `${disk.datapointsPerDay}`);
  assert.ok('daysLeft' in disk && (disk.daysLeft ?? 0) > 1_000);
  assert.deepEqual(readFileSync(databasePath(directory)), before);
  assert.ok(!readdirSync(directory).some((name) => name.startsWith('doctor')));
});

test('beside a service it is told so, and finds the same', async (context) => {
  const directory = await filled(context);
  const storage = await open(directory);
  const [found] = await Promise.all([
    look(directory),
    storage.datapoints.append([push([at(99_999, 1)], sensor('d', 's1'))]),
  ]);
  assert.equal(found.isInUse, true);
  assert.deepEqual(told(found), []);
  await storage.close();
});

const someChunk = '(select min(id) from chunks where series = 1)';
const plants: readonly (readonly [what: string, sql: string, sentence: RegExp])[] = [
  [
    'a byte of a chunk',
    `update chunks set datapoints = cast(
       substr(datapoints, 1, 20) || x'a5' || substr(datapoints, 22) as blob)
     where id = ${someChunk}`,
    /^damage: 64 datapoints of series 1 cannot be trusted: chunk 1: the checksum does not match/,
  ],
  [
    'a chunk that is gone',
    `delete from chunks where id = ${someChunk}`,
    /^damage: Of d\/s1 64 datapoints of \d+ are missing/,
  ],
  [
    'a chunk that is there twice',
    `insert into chunks (series, min_time, max_time, count, datapoints)
     select series, min_time, max_time, count, datapoints from chunks where id = ${someChunk}`,
    /^damage: d\/s1 has \d+ datapoints in chunks, and counts \d+/,
  ],
  [
    'a count that is wrong',
    `update chunks set count = count - 1 where id = ${someChunk}`,
    /cannot be trusted: chunk 1 has 64 of them/,
  ],
  [
    'times that are wrong',
    `update chunks set max_time = max_time - 1 where id = ${someChunk}`,
    /cannot be trusted: chunk 1 ends at another time/,
  ],
  [
    'a sensor that is gone',
    'delete from sensors where series = 2',
    /^damage: \d+ datapoints in chunks belong to series 2, which no sensor has/,
  ],
  [
    'a device that is gone',
    'delete from devices',
    /^damage: 2 rows of the table sensors belong to rows of devices that are not there/,
  ],
  [
    'a row of the log',
    "update datapoint_log set pushes = x'0102' where seq = (select max(seq) from datapoint_log)",
    /^damage: Row \d+ of the log of datapoints cannot be read/,
  ],
  [
    'a summary of another chunk',
    `update chunk_summaries set summary =
       (select summary from chunk_summaries where chunk > ${someChunk} order by chunk limit 1)
     where chunk = ${someChunk}`,
    /^damage: What is kept of chunk 1 of series 1 for aggregates is not what its datapoints come/,
  ],
  [
    'a byte of a summary',
    `update chunk_summaries set summary = cast(
       substr(summary, 1, 12) || x'a5' || substr(summary, 14) as blob) where chunk = ${someChunk}`,
    /^damage: What is kept of chunk 1 of series 1 for aggregates cannot be trusted: the checksum/,
  ],
  [
    'a summary of no chunk',
    "insert into chunk_summaries values (999999, x'01')",
    /^damage: 1 rows of the table chunk_summaries belong to rows of chunks that are not there/,
  ],
  [
    'an invitation to nothing that can be understood',
    `insert into invitations
       (id, hash, user_id, created_at, expires_at, uses_left, is_revoked, details)
     select 'i', 'h', id, 1, 2, 1, 0, '{"targets": [null]}' from users`,
    /^damage: The row i of the table invitations cannot be understood/,
  ],
  [
    'an account with a profile that is no JSON',
    `update users set profile = '{'`,
    /^damage: The row id-alice of the table users cannot be understood/,
  ],
  [
    'rows that were set aside',
    "insert into damaged_log_rows values (1, 'broken', x'')",
    /^warning: 1 rows of the log of datapoints could not be read and were set aside/,
  ],
];

for (const [what, sql, sentence] of plants) {
  test(`it finds ${what}`, async (context) => {
    const directory = await filled(context);
    spoil(directory, sql);
    const found = told(await look(directory));
    assert.ok(
      found.some((line) => sentence.test(line)),
      found.join('\n'),
    );
  });
}

for (const isInUse of [false, true]) {
  test(`pages that are overwritten are found, ${isInUse ? '' : 'not '}in use`, async (context) => {
    const directory = await filled(context);
    const path = databasePath(directory);
    spoil(directory, 'vacuum');
    const whole = readFileSync(path);
    if (isInUse) {
      const lock = lockDirectory(directory);
      context.after(() => lock.release());
    }
    const unnoticed: number[] = [];
    for (let page = 1; page < whole.length / 4_096; page += 1) {
      writeFileSync(path, Buffer.from(whole).fill(0x5a, page * 4_096, (page + 1) * 4_096));
      const isNoticed = await look(directory).then(
        ({ findings }) => findings.some(({ level }) => level === 'damage'),
        (error) => isDamage(error),
      );
      if (!isNoticed) unnoticed.push(page);
    }
    // Where pages of a tree lie is of no use to reads, and is checked when no process writes it.
    assert.deepEqual(unnoticed, isInUse ? [1] : []);
  });
}

test('a disk that is nearly full is warned of, no data directory refused', async (context) => {
  const directory = await filled(context);
  const found = told(await look(directory, Number.MAX_SAFE_INTEGER));
  assert.match(found.join('\n'), /^warning: The disk has \d+ MiB left; below \d+ MiB pushes/);
  await assert.rejects(look(temporaryDirectory(context)), /there is no database/);
  writeFileSync(databasePath(directory), 'something else'.repeat(1_000));
  await assert.rejects(look(directory), /not a SQLite database/);
});

test('missing summaries are worth a note alone, and wrong ones are made anew', async (context) => {
  const directory = temporaryDirectory(context);
  const flushesAtOnce = { ...datapointLimits, calmMs: 0 };
  const storage = await openSqlite({ directory, log: silentLog, datapointLimits: flushesAtOnce });
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d', { sensors: [aSensor('s1')] }));
  const datapoints = Array.from({ length: 30_000 }, (_, n) => at(n * 60, n / 10));
  await storage.datapoints.append([push(datapoints, sensor('d', 's1'))]);
  await storage.close();
  assert.deepEqual(told(await look(directory)), []);
  spoil(directory, 'delete from chunk_summaries where chunk = (select min(id) from chunks)');
  assert.deepEqual(told(await look(directory)), [
    'note: 1 chunks have no summary: aggregates read their datapoints.',
  ]);
  spoil(directory, 'insert into chunk_summaries select min(id), zeroblob(90) from chunks');
  assert.match(told(await look(directory)).join('\n'), /^damage: What is kept of chunk \d+/);
  compact(directory);
  assert.deepEqual(told(await look(directory)), []);
});

/** Gives all chunks other ids and back, each time in one commit, as fast as it can. */
const rewriting = `
  const { DatabaseSync } = require('node:sqlite');
  const { parentPort, workerData } = require('node:worker_threads');
  const database = new DatabaseSync(workerData.path, {
    enableForeignKeyConstraints: false, timeout: 5000 });
  for (let round = 0; Date.now() < workerData.until; round += 1) {
    const by = round % 2 === 0 ? 100000 : -100000;
    database.exec(\`begin immediate;
      update chunks set id = id + \${by};
      update chunk_summaries set chunk = chunk + \${by}; commit\`);
    if (round === 0) parentPort.postMessage('writing');
  }
  database.close();`;

test('chunks that are rewritten while they are read are not called damaged', async (context) => {
  const directory = await filled(context);
  const until = Date.now() + 2_500;
  const workerData = { path: databasePath(directory), until };
  const writer = new Worker(rewriting, { eval: true, workerData });
  await new Promise((resolve, reject) => writer.once('message', resolve).once('error', reject));
  const ended = new Promise((resolve) => writer.once('exit', resolve));
  while (Date.now() < until) {
    const { findings } = await look(directory);
    assert.deepEqual(
      findings.filter(({ level }) => level === 'damage'),
      [],
    );
  }
  await ended;
});
