import { after, describe } from 'node:test';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { emptiedFor } from '../../../test/lived-rules.ts';
import { firesTheSameAfterCrashes, firesTheSameInAnyOrder } from '../../../test/rule-properties.ts';
import { silentLog } from '../../lib/log.ts';
import { openSqlite } from './sqlite-storage.ts';

const ends: (() => unknown)[] = [];
after(async () => {
  for (const end of ends.toReversed()) await end();
});

const ground = emptiedFor(async () => {
  const directory = temporaryDirectory({ after: (end) => ends.push(end) });
  const storage = await openSqlite({ directory, log: silentLog });
  ends.push(storage.close);
  return [storage];
});

describe('rules on the sqlite engine', () => {
  firesTheSameAfterCrashes({ ground, numRuns: 20 });
  firesTheSameInAnyOrder({ ground, numRuns: 20 });
});
