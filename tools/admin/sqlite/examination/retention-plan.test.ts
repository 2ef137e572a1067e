import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { silentLog } from '../../../../src/lib/log.ts';
import { countInRange } from '../../../../src/storage/chunks/datapoint-page.ts';
import { databasePath } from '../../../../src/storage/sqlite/connection.ts';
import { openSqlite } from '../../../../src/storage/sqlite/sqlite-storage.ts';
import {
  type DatapointLimits,
  datapointLimits,
} from '../../../../src/storage/sqlite/timeseries/datapoint-limits.ts';
import type { Storage } from '../../../../src/storage/storage.ts';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
} from '../../../../test/contract/storage/builders.ts';
import { at, push, sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { planRetentionOf, readLogged } from './retention-plan.ts';

const day = 86_400_000;
/** What is older than two days goes: the first of five days of datapoints, and a half. */
const now = noon + 4 * day;
const rawBefore = noon + 1.5 * day;

/** A service that runs, with a device of three sensors that keeps datapoints for two days. */
async function running(context: TestContext, limits: DatapointLimits = datapointLimits) {
  const directory = temporaryDirectory(context);
  const storage = await openSqlite({ directory, log: silentLog, datapointLimits: limits });
  context.after(() => storage.close());
  await storage.users.insert(aUser('alice'), 'hash');
  const sensors = ['s1', 's2', 's3'].map((id) => aSensor(id));
  await storage.devices.insert(aDevice('d1', { owner: aUser('alice').username, sensors }));
  await storage.retentions.put({ kind: 'device', deviceId: deviceId('d1') }, { rawDays: 2 });
  await storage.retentions.put(
    { kind: 'sensor', deviceId: deviceId('d1'), sensorId: sensorId('s3') },
    {},
  );
  return { directory, storage };
}

const fill = async (storage: Storage, from: number, count: number): Promise<void> => {
  for (const id of ['s1', 's2', 's3']) {
    const datapoints = Array.from({ length: count }, (_, n) => at((from + n) * 360, n));
    await storage.datapoints.append([push(datapoints, sensor('d1', id))]);
  }
};

const plan = async (directory: string) => {
  const devices = await planRetentionOf(directory, { now, ofService: {} });
  return devices.map(({ device, sensors, datapoints }) => ({ device, sensors, datapoints }));
};

/** What the service itself says of the two sensors that do not keep all. */
const counted = async ({ datapoints }: Storage): Promise<number> => {
  const range = { to: rawBefore - 1 };
  return (
    (await datapoints.count(sensor('d1', 's1'), range)) +
    (await datapoints.count(sensor('d1', 's2'), range))
  );
};

const inChunks = (directory: string): number => {
  using database = new DatabaseSync(databasePath(directory), { readOnly: true });
  return Number(database.prepare('select coalesce(sum(count), 0) as n from chunks').get()?.['n']);
};

test('what is in the log alone is counted, beside a service and after a crash', async (context) => {
  const { directory, storage } = await running(context);
  assert.deepEqual(await plan(directory), []);
  await fill(storage, 0, 1_000);
  assert.equal(inChunks(directory), 0);
  const due = await counted(storage);
  assert.equal(due, 2 * 360);
  assert.deepEqual(await plan(directory), [{ device: 'd1', sensors: 2, datapoints: due }]);
  // What is sent again is not stored again.
  await fill(storage, 0, 1_000);
  const crashed = temporaryDirectory(context);
  cpSync(directory, crashed, { recursive: true });
  assert.deepEqual(await plan(crashed), [{ device: 'd1', sensors: 2, datapoints: due }]);
});

test('what is in chunks is counted once, however much of it the log still has', async (context) => {
  const limits = { ...datapointLimits, memtableEntryBytesMax: 4_000, logBytesMax: 16_000 };
  const { directory, storage } = await running(context, limits);
  let stored = 0;
  while (stored < 900) {
    await fill(storage, stored, 45);
    stored += 45;
    const due = await counted(storage);
    assert.deepEqual(await plan(directory), [{ device: 'd1', sensors: 2, datapoints: due }]);
  }
  assert.ok(inChunks(directory) > 0, 'nothing came to chunks');
  assert.ok(inChunks(directory) < 3 * stored, 'all came to chunks');
});

test('what goes to chunks while the plan is made is not counted in both', async (context) => {
  const { directory, storage } = await running(context);
  await fill(storage, 0, 500);
  using database = new DatabaseSync(databasePath(directory), { readOnly: true });
  const loggedOf = readLogged(database);
  const old = (sensorId: string, flushed: number): number =>
    countInRange(loggedOf(sensor('d1', sensorId), flushed), { to: rawBefore - 1 });
  assert.equal(old('s1', 0), 360);
  assert.equal(old('s1', 0), 360);
  assert.equal(old('s1', 100), 260);
  assert.equal(old('s1', 500), 0);
  assert.equal(old('none', 0), 0);
});

test('a row of the log that cannot be read does not count, and the others do', async (context) => {
  const { directory, storage } = await running(context);
  await fill(storage, 0, 1_000);
  const crashed = temporaryDirectory(context);
  cpSync(directory, crashed, { recursive: true });
  {
    using database = new DatabaseSync(databasePath(crashed));
    database.exec(`update datapoint_log set pushes = x'01ffffff'
      where seq = (select min(seq) from datapoint_log where octet_length(pushes) > 1000)`);
  }
  assert.deepEqual(await plan(crashed), [{ device: 'd1', sensors: 1, datapoints: 360 }]);
});
