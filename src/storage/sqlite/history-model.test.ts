import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { tinyDatapointLimits } from '../../../test/contract/storage/datapoint-arbitraries.ts';
import type { HistoryEngine } from '../../../test/contract/storage/history-engine.ts';
import { runHistories } from '../../../test/contract/storage/history-runs.ts';
import { putSmallChunks } from '../../../test/contract/storage/small-chunks.ts';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { silentLog } from '../../lib/log.ts';
import { databasePath, openConnection } from './connection.ts';
import { openSqlite } from './sqlite-storage.ts';
import { createChunkRenewal } from './timeseries/chunk-renewal.ts';
import { datapointLimits } from './timeseries/datapoint-limits.ts';

/** Nearly every datapoint is flushed, merged, cut and summed up at once. */
const limits = {
  ...{ ...datapointLimits, ...tinyDatapointLimits },
  ...{ chunkBlocksMax: 6, chunkWeightMax: 64, summaryDatapointsMin: 6, longPushDatapointsMin: 5 },
};

/** An engine in a directory that crashes into another one. */
async function openEngine(parent: string): Promise<HistoryEngine & AsyncDisposable> {
  let generation = 0;
  let directory = join(parent, '0');
  const open = () => openSqlite({ directory, log: silentLog, datapointLimits: limits });
  let storage = await open();

  /** One consistent moment of the files: nothing is written while they are copied. */
  function copyTo(target: string): void {
    mkdirSync(target, { recursive: true });
    const path = databasePath(directory);
    const database = openConnection(path, { role: 'write' });
    database.exec('begin immediate');
    for (const end of ['', '-wal']) {
      if (existsSync(path + end)) copyFileSync(path + end, databasePath(target) + end);
    }
    database.exec('rollback');
    database.close();
  }

  return {
    storage: () => storage,
    async crash() {
      generation += 1;
      const next = join(parent, String(generation));
      copyTo(next);
      await storage.close();
      directory = next;
      storage = await open();
    },
    async rewrite() {
      await storage.close();
      const database = openConnection(databasePath(directory), { role: 'write' });
      putSmallChunks(database);
      const renewal = createChunkRenewal(database, limits);
      for (const walk = renewal.walk(); walk.next().done !== true; );
      database.close();
      storage = await open();
      return renewal.figures.replaced;
    },
    [Symbol.asyncDispose]: () => storage.close(),
  };
}

test('whatever happens to a history on the disk, it is that of a plain list', async (t) => {
  await using engine = await openEngine(temporaryDirectory(t));
  const counts = await runHistories(engine);
  t.diagnostic(JSON.stringify(counts));
  for (const [kind, times] of Object.entries(counts)) assert.ok(times > 0, `nothing was ${kind}`);
});
