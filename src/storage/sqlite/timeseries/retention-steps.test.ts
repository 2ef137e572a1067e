import { after, describe } from 'node:test';
import { retentionContract } from '../../../../test/contract/storage/storage-contract.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { silentLog } from '../../../lib/log.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { datapointLimits } from './datapoint-limits.ts';

/** A few datapoints fill chunks, so that hours lie in several, and steps end within them. */
const tiny = {
  ...datapointLimits,
  ...{ chunkDatapointsMax: 4, chunkBlocksMax: 2, summaryDatapointsMin: 2 },
  ...{ memtableEntryBytes: 0, memtableEntryBytesMax: 3 * 32, memtableBytesMax: 6 * 32 },
};

describe('what retention takes of small chunks', () =>
  retentionContract(() =>
    openSqlite({
      directory: temporaryDirectory({ after }),
      log: silentLog,
      datapointLimits: tiny,
    }),
  ));
