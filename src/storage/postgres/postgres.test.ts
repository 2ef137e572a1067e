import { after, describe } from 'node:test';
import {
  emptySchema,
  findPostgres,
  onServer,
  type PostgresServer,
  schemaUrl,
  sharedPostgres,
} from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import { retentionContract, storageContract } from '../contract/storage-contract.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';
import { hotLimits } from './timeseries/hot-limits.ts';

const isAbsent = process.env['TEST_POSTGRES'] === 'off' || findPostgres() === undefined;
const skip = isAbsent ? 'needs PostgreSQL' : false;

let server: Promise<PostgresServer> | undefined;
const started = (): Promise<PostgresServer> => {
  server ??= sharedPostgres();
  return server;
};
after(async () => (await server)?.close());

/** A few datapoints fill chunks, so that hours lie in several, and steps end within them. */
const tiny = {
  ...hotLimits,
  ...{ chunkDatapointsMax: 4, chunkBlocksMax: 2, summaryDatapointsMin: 2 },
  ...{ flushDatapointsMin: 5, flushRowsMin: 2, flushDatapointsPerStep: 3 },
};

async function openEmpty(datapointLimits = hotLimits): Promise<Storage> {
  const url = await schemaUrl((await started()).url, 'contract');
  const { rows } = await onServer(url, `select to_regclass('users') is not null as there`);
  if (rows[0].there) await emptySchema(url);
  return openPostgres({ url, log: silentLog, datapointLimits });
}

describe('the postgres engine', { skip }, () => {
  storageContract(() => openEmpty());
  describe('small chunks', () => retentionContract(() => openEmpty(tiny)));
});
