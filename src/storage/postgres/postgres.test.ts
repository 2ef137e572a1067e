import { describe } from 'node:test';
import { correctionsContract } from '../../../test/contract/storage/corrections.contract.ts';
import { datapointsContract } from '../../../test/contract/storage/datapoints.contract.ts';
import { retainingContract } from '../../../test/contract/storage/retaining.contract.ts';
import {
  retentionContract,
  storageContract,
} from '../../../test/contract/storage/storage-contract.ts';
import { emptySchemaCalled, noPostgres, postgresOfTests } from '../../../test/postgres-schemas.ts';
import { emptySchema, onServer, schemaUrl } from '../../../test/postgres-server.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { postgresLimits } from './postgres-limits.ts';
import { openPostgres } from './postgres-storage.ts';
import { type HotLimits, hotLimits } from './timeseries/hot-limits.ts';

/** A few datapoints fill chunks, so that hours lie in several, and steps end within them. */
const tiny = {
  ...hotLimits,
  ...{ chunkDatapointsMax: 4, chunkBlocksMax: 2, summaryDatapointsMin: 2 },
  ...{ flushDatapointsMin: 5, flushRowsMin: 2, flushDatapointsPerStep: 3 },
  seriesPerLook: 2,
};

/** Nobody waits: chunks go as soon as others follow them. */
const atOnce = {
  ...postgresLimits,
  ...{ shardPageRows: 20, shardStepBytes: 100, shardStepPauseMs: 0, shardRestMs: 5 },
  shardLeavingMs: 0,
};

async function openEmpty(datapointLimits = hotLimits): Promise<Storage> {
  const url = await schemaUrl((await postgresOfTests()).url, 'contract');
  const { rows } = await onServer(url, `select to_regclass('users') is not null as there`);
  if (rows[0].there) await emptySchema(url);
  return openPostgres({ url, log: silentLog, datapointLimits });
}

async function openSharded(datapointLimits: HotLimits): Promise<Storage> {
  const url = await emptySchemaCalled('sharded');
  const shardUrls = [await emptySchemaCalled('shard_one'), await emptySchemaCalled('shard_two')];
  return openPostgres({ url, shardUrls, log: silentLog, datapointLimits, sendingLimits: atOnce });
}

describe('the postgres engine', { skip: noPostgres }, () => {
  storageContract(() => openEmpty());
  describe('small chunks', () => retentionContract(() => openEmpty(tiny)));
  describe('chunks in two further databases', () => {
    const open = () => openSharded(tiny);
    describe('datapoints', () => datapointsContract(open));
    describe('corrections', () => correctionsContract(open));
    describe('what retention takes', () => retainingContract(open));
  });
});
