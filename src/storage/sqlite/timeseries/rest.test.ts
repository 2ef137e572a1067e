import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { aDevice, aSensor, aUser } from '../../../../test/contract/storage/builders.ts';
import {
  allValues,
  at,
  lastValue,
  push,
} from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { silentLog } from '../../../lib/log.ts';
import { databasePath } from '../connection.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { datapointLimits } from './datapoint-limits.ts';

const limits = {
  ...datapointLimits,
  restMs: 1,
  restBytesMin: 100 * 32,
  restEntryBytesMin: 10 * 32,
  memtableEntryBytes: 0,
};
const datapoints = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => at(from + n, from + n));

test('what waits in the log goes to chunks at rest, if it is much', async (context) => {
  const directory = temporaryDirectory(context);
  const open = () => openSqlite({ directory, log: silentLog, datapointLimits: limits });
  const storage = await open();
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
  using reader = new DatabaseSync(databasePath(directory), { readOnly: true });
  const logged = reader.prepare('select seq, octet_length(pushes) as bytes from datapoint_log');
  const inChunks = reader.prepare('select coalesce(sum(count), 0) as n from chunks');

  await storage.datapoints.append([push(datapoints(0, 99))]);
  // Longer than the rest: too little for the work.
  await wait(20);
  assert.equal(inChunks.get()?.['n'], 0);
  await storage.datapoints.append([push(datapoints(99, 99))]);
  while (inChunks.get()?.['n'] !== 198) await wait(1);
  const rows = logged.all() as { seq: number; bytes: number }[];
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    [2],
    'numbers of rows never start again',
  );
  assert.ok((rows[0]?.bytes ?? 0) < 10, `${rows[0]?.bytes}`);
  await storage.datapoints.append([push(datapoints(198, 2))]);
  await storage.close();

  const again = await open();
  const values = datapoints(0, 200).map(({ value }) => value);
  assert.deepEqual(await allValues(again.datapoints), values);
  assert.equal(await lastValue(again.datapoints), 199);
  // A repeat is known, wherever the first one is by now.
  await again.datapoints.append([push(datapoints(197, 3))]);
  assert.deepEqual(await allValues(again.datapoints), values);
  await again.close();
});

test('what is left of a long push goes at rest, as the log keeps all', async (context) => {
  const directory = temporaryDirectory(context);
  const inSteps = { ...limits, memtableEntryBytesMax: 150 * 32, flushBytesPerStep: 150 * 32 };
  const options = { directory, log: silentLog, datapointLimits: inSteps };
  const storage = await openSqlite(options);
  context.after(() => storage.close());
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
  using reader = new DatabaseSync(databasePath(directory), { readOnly: true });
  const inChunks = reader.prepare('select coalesce(sum(count), 0) as n from chunks');

  await storage.datapoints.append([push(datapoints(0, 190))]);
  for (let turn = 0; turn < 2_000 && inChunks.get()?.['n'] !== 190; turn += 1) await wait(1);
  assert.equal(inChunks.get()?.['n'], 190);
});
