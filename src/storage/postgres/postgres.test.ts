import { describe } from 'node:test';
import { noPostgres, postgresOfTests } from '../../../test/postgres-schemas.ts';
import { emptySchema, onServer, schemaUrl } from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import { retentionContract, storageContract } from '../contract/storage-contract.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';
import { hotLimits } from './timeseries/hot-limits.ts';

/** A few datapoints fill chunks, so that hours lie in several, and steps end within them. */
const tiny = {
  ...hotLimits,
  ...{ chunkDatapointsMax: 4, chunkBlocksMax: 2, summaryDatapointsMin: 2 },
  ...{ flushDatapointsMin: 5, flushRowsMin: 2, flushDatapointsPerStep: 3 },
};

async function openEmpty(datapointLimits = hotLimits): Promise<Storage> {
  const url = await schemaUrl((await postgresOfTests()).url, 'contract');
  const { rows } = await onServer(url, `select to_regclass('users') is not null as there`);
  if (rows[0].there) await emptySchema(url);
  return openPostgres({ url, log: silentLog, datapointLimits });
}

describe('the postgres engine', { skip: noPostgres }, () => {
  storageContract(() => openEmpty());
  describe('small chunks', () => retentionContract(() => openEmpty(tiny)));
});
