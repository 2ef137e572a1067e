import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { aDevice, aSensor, aUser } from '../../../test/contract/storage/builders.ts';
import { at } from '../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { type LogFields, silentLog } from '../../lib/log.ts';
import { encodeChunk, toBlock } from '../chunks/chunk.ts';
import { toColumns } from '../chunks/columns.ts';
import {
  createBackgroundRenewal,
  createRenewalNews,
  type RenewalReport,
} from './background-renewal.ts';
import { databasePath, openConnection } from './connection.ts';
import { sqliteLimits } from './sqlite-limits.ts';
import { openSqlite } from './sqlite-storage.ts';
import { datapointLimits } from './timeseries/datapoint-limits.ts';

const fast = { ...sqliteLimits.renewal, startMs: 1, pauseMs: 1, pauseWhileBusyMs: 1, retryMs: 5 };
const chunkCount = 60;

test('a database that another process writes is renewed later, and the log says so', async (t) => {
  const directory = temporaryDirectory(t);
  const storage = await openSqlite({ directory, log: silentLog });
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d', { sensors: [aSensor('s')] }));
  await storage.close();
  using database = openConnection(databasePath(directory), { role: 'write' });
  const insert = database.prepare('insert into chunks values (null, 1, ?, ?, 1, ?)');
  for (let n = 0; n < chunkCount; n += 1) {
    const block = toBlock(toColumns([at(n, n)]));
    insert.run(block.minTime, block.maxTime, encodeChunk([block]));
  }
  using other = new DatabaseSync(databasePath(directory), { timeout: 0 });
  other.exec('begin immediate');

  const lines: string[] = [];
  const line = (fields: LogFields, message: string) => {
    lines.push(`${message} ${fields['chunks'] ?? ''}`.trim());
  };
  const counted: number[] = [];
  const reports: RenewalReport[] = [];
  const news = createRenewalNews({
    log: { ...silentLog, info: line, warn: line, error: line },
    reporter: { chunksRenewed: ({ replaced }) => counted.push(replaced) },
  });
  const renewal = createBackgroundRenewal({
    database,
    chunks: datapointLimits,
    times: fast,
    onWritten: () => undefined,
    // The writer never rests.
    calledAt: () => performance.now(),
    tell(report) {
      reports.push(report);
      news(report);
    },
  });
  const until = async (condition: (report: RenewalReport) => boolean) => {
    const deadline = performance.now() + 20_000;
    while (!reports.some(condition)) {
      assert.ok(performance.now() < deadline, JSON.stringify(reports));
      await wait(2);
    }
  };
  await until(({ problem }) => problem !== undefined);
  assert.equal(database.prepare('pragma synchronous').get()?.['synchronous'], 2);
  other.exec('commit');
  await until(({ isOver }) => isOver);
  renewal.stop();
  assert.deepEqual(lines, [
    'chunks of datapoints cannot be written anew now',
    'chunks of datapoints are written anew in the background',
    `chunks of datapoints were written anew ${chunkCount - 1}`,
  ]);
  // All but the end of the series, which flushes write anew.
  assert.equal(counted.at(-1), chunkCount - 1);
  assert.equal(database.prepare('select count(*) as n from chunks').get()?.['n'], 2);
});
