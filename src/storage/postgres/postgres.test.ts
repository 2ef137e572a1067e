import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { correctionsContract } from '../../../test/contract/storage/corrections.contract.ts';
import { datapointsContract } from '../../../test/contract/storage/datapoints.contract.ts';
import { runHistories } from '../../../test/contract/storage/history-runs.ts';
import {
  retentionContract,
  storageContract,
} from '../../../test/contract/storage/storage-contract.ts';
import { noPostgres, postgresOfTests } from '../../../test/postgres-schemas.ts';
import { emptySchema, onServer, schemaUrl } from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';
import { hotLimits } from './timeseries/hot-limits.ts';

/** A few datapoints fill chunks, so that hours lie in several, and steps end within them. */
const tiny = {
  ...hotLimits,
  ...{ chunkDatapointsMax: 4, chunkBlocksMax: 2, summaryDatapointsMin: 2 },
  ...{ flushDatapointsMin: 5, flushRowsMin: 2, flushDatapointsPerStep: 3 },
  seriesPerLook: 2,
};

const urlOfContract = async () => schemaUrl((await postgresOfTests()).url, 'contract');

async function openEmpty(datapointLimits = hotLimits): Promise<Storage> {
  const url = await urlOfContract();
  const { rows } = await onServer(url, `select to_regclass('users') is not null as there`);
  if (rows[0].there) await emptySchema(url);
  return openPostgres({ url, log: silentLog, datapointLimits });
}

describe('the postgres engine', { skip: noPostgres }, () => {
  storageContract(() => openEmpty());
  describe('small chunks', () => {
    const open = () => openEmpty(tiny);
    retentionContract(open);
    describe('datapoints', () => datapointsContract(open));
    describe('corrections', () => correctionsContract(open));
    test('whatever happens to a history, it is that of a plain list', async (t) => {
      let storage = await open();
      t.after(() => storage.close());
      const { rewritten, ...counts } = await runHistories({
        storage: () => storage,
        async crash() {
          await storage.close();
          storage = await openPostgres({
            url: await urlOfContract(),
            log: silentLog,
            datapointLimits: tiny,
          });
        },
        // Its flushes write small chunks anew by themselves.
        rewrite: async () => 0,
      });
      t.diagnostic(JSON.stringify({ ...counts, rewritten }));
      for (const [kind, times] of Object.entries(counts)) {
        assert.ok(times > 0, `nothing was ${kind}`);
      }
    });
  });
});
