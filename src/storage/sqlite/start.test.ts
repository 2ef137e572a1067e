import assert from 'node:assert/strict';
import { DatabaseSync, type SQLInputValue, StatementSync } from 'node:sqlite';
import { test } from 'node:test';
import {
  aDevice,
  aSensor,
  aUser,
  noon,
  username,
} from '../../../test/contract/storage/builders.ts';
import { push, sensor } from '../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { latestInstant } from '../../lib/clock.ts';
import { silentLog } from '../../lib/log.ts';
import { databasePath } from './connection.ts';
import { openSqlite } from './sqlite-storage.ts';
import { datapointLimits } from './timeseries/datapoint-limits.ts';

/** A directory with so many devices, whose sensors have a datapoint each: in chunks or the log. */
async function filled(directory: string, count: number, place: 'chunks' | 'log'): Promise<void> {
  const limits = place === 'chunks' ? { ...datapointLimits, memtableBytesMax: 0 } : datapointLimits;
  const storage = await openSqlite({ directory, log: silentLog, datapointLimits: limits });
  await storage.users.insert(aUser('alice'), 'hash');
  const ids = Array.from({ length: count }, (_, n) => `d${n}`);
  for (const id of ids) await storage.devices.insert(aDevice(id, { sensors: [aSensor('s')] }));
  const datapoints = [{ value: 1, receivedAt: noon }];
  await storage.datapoints.append(ids.map((id) => push(datapoints, sensor(id, 's'))));
  await storage.close();
}

/** The statements of the main thread while a storage is opened, as often as they ran. */
async function statementsOfStart(directory: string): Promise<ReadonlyMap<string, number>> {
  const ran = new Map<string, number>();
  const { prototype } = StatementSync;
  const { all, get, iterate } = prototype;
  const counted = <Answer>(run: (...values: SQLInputValue[]) => Answer) =>
    function (this: StatementSync, ...values: SQLInputValue[]): Answer {
      ran.set(this.sourceSQL, (ran.get(this.sourceSQL) ?? 0) + 1);
      return Reflect.apply(run, this, values) as Answer;
    };
  Object.assign(prototype, { all: counted(all), get: counted(get), iterate: counted(iterate) });
  try {
    const storage = await openSqlite({ directory, log: silentLog });
    const { devices } = storage;
    assert.ok(((await devices.storedByOwner()).get(username('alice')) ?? 0) > 0);
    await devices.strangersByOwner();
    assert.ok((await storage.newestReceived(latestInstant)) !== undefined);
    await storage.close();
  } finally {
    Object.assign(prototype, { all, get, iterate });
  }
  return ran;
}

test('a start goes through no table of what all have', async (t) => {
  const directory = temporaryDirectory(t);
  await filled(directory, 20, 'chunks');
  const ran = await statementsOfStart(directory);
  using database = new DatabaseSync(databasePath(directory));
  const plans = [...ran.keys()].flatMap((sql) =>
    /^pragma/i.test(sql)
      ? []
      : database
          .prepare(`explain query plan ${sql}`)
          .all()
          .map(({ detail }) => `${detail}: ${sql}`),
  );
  assert.ok(plans.length > 4);
  const tables = 'devices|sensors|actuators|last_values|chunks';
  const scans = new RegExp(`^(SCAN|SEARCH) (${tables})(?! USING INTEGER|[^:]*[(]| [^:]*_of_)`);
  assert.deepEqual(
    plans.filter((plan) => scans.test(plan)),
    [],
  );
});

test('a start asks for the sensors of a log row at once', async (t) => {
  const directory = temporaryDirectory(t);
  await filled(directory, 20, 'log');
  const ran = await statementsOfStart(directory);
  assert.deepEqual(
    [...ran].filter(([sql, times]) => times > 3 && !sql.startsWith('pragma')),
    [],
  );
});
