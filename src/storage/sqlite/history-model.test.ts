import assert from 'node:assert/strict';
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { aDevice, deviceId, noon, sensorId } from '../../../test/contract/storage/builders.ts';
import { tinyDatapointLimits } from '../../../test/contract/storage/datapoint-arbitraries.ts';
import { sensor } from '../../../test/contract/storage/datapoint-builders.ts';
import {
  type HistoryCounts,
  type HistoryEngine,
  noCounts,
} from '../../../test/contract/storage/history-engine.ts';
import { createHistoryModel } from '../../../test/contract/storage/history-model.ts';
import {
  type HistoryStep,
  historyStep,
  wholeHistory,
} from '../../../test/contract/storage/history-steps.ts';
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

/** For longer runs by hand. */
const rounds = Number(process.env['HISTORY_ROUNDS'] ?? 8);

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

/** Runs histories on an engine, each of a sensor of its own; answers what happened. */
async function runHistories(engine: HistoryEngine): Promise<HistoryCounts> {
  const counts = noCounts();
  await engine.storage().devices.insert(aDevice('d1', { sensors: [] }));
  let round = 0;
  const steps = fc.array(historyStep, { minLength: 10, maxLength: 30, size: 'max' });
  const property = fc.asyncProperty(steps, async (given) => {
    round += 1;
    const id = `r${round}`;
    await engine.storage().devices.putSensor(deviceId('d1'), { id: sensorId(id) }, noon);
    const model = createHistoryModel(engine, sensor('d1', id), counts);
    for (const one of given) {
      await model.run(one);
      await model.compare();
    }
    await engine.storage().devices.removeSensor(deviceId('d1'), sensorId(id), noon);
  });
  // A history that fails is made shorter for so long, not for ever.
  const interruptAfterTimeLimit = 10_000 * rounds;
  const examples: [HistoryStep[]][] = [[[...wholeHistory]]];
  await fc.assert(property, { numRuns: rounds, examples, interruptAfterTimeLimit });
  return counts;
}

test('whatever happens to a history on the disk, it is that of a plain list', async (t) => {
  await using engine = await openEngine(temporaryDirectory(t));
  const counts = await runHistories(engine);
  t.diagnostic(JSON.stringify(counts));
  for (const [kind, times] of Object.entries(counts)) assert.ok(times > 0, `nothing was ${kind}`);
});
