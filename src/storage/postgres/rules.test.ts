import { after, describe } from 'node:test';
import { emptiedFor, type Ground } from '../../../test/lived-rules.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import {
  firesAsOneProcess,
  firesTheSameAfterCrashes,
  firesTheSameInAnyOrder,
} from '../../../test/rule-properties.ts';
import { silentLog } from '../../lib/log.ts';
import type { Storage } from '../storage.ts';
import { openPostgres } from './postgres-storage.ts';

const opened: Storage[] = [];
after(() => Promise.all(opened.map((storage) => storage.close())));

const groundOf = (schema: string, serving: 'alone' | 'shared', processes: number): Ground =>
  emptiedFor(async () => {
    const url = await emptySchemaCalled(schema);
    const open = async (): Promise<Storage> => {
      const storage = await openPostgres({ url, log: silentLog, serving });
      opened.push(storage);
      return storage;
    };
    const first = await open();
    const others: Storage[] = [];
    while (others.length < processes - 1) others.push(await open());
    return [first, ...others];
  });

describe('rules on the postgres engine', { skip: noPostgres }, () => {
  const ground = groundOf('rules_alone', 'alone', 1);
  firesTheSameAfterCrashes({ ground, numRuns: 10 });
  firesTheSameInAnyOrder({ ground, numRuns: 10 });
});

describe('rules of three processes on the postgres engine', { skip: noPostgres }, () => {
  const ground = groundOf('rules_shared', 'shared', 3);
  firesAsOneProcess({ ground, numRuns: 10 });
  firesTheSameInAnyOrder({ ground, numRuns: 5 });
});
