import { describe } from 'node:test';
import { correctionsContract } from '../../../test/contract/storage/corrections.contract.ts';
import { datapointsContract } from '../../../test/contract/storage/datapoints.contract.ts';
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

async function openEmpty(datapointLimits = hotLimits): Promise<Storage> {
  const url = await schemaUrl((await postgresOfTests()).url, 'contract');
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
  });
});
