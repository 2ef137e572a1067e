import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
} from '../../../../test/contract/storage/builders.ts';
import {
  datapointOf,
  somePage,
  tinyDatapointLimits,
} from '../../../../test/contract/storage/datapoint-arbitraries.ts';
import {
  allValues,
  appended,
  at,
  lastValue,
  push,
  sensor,
} from '../../../../test/contract/storage/datapoint-builders.ts';
import { datapointsContract } from '../../../../test/contract/storage/datapoints.contract.ts';
import {
  createNaiveDatapoints,
  type NaiveDatapoints,
} from '../../../../test/contract/storage/naive-datapoints.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { toDatapoints, weigh } from '../../../domain/datapoints/column-batch.ts';
import {
  type Page,
  type Push,
  readDatapoints,
} from '../../../domain/datapoints/datapoint-store.ts';
import { silentLog } from '../../../lib/log.ts';
import type { Storage } from '../../storage.ts';
import { databasePath } from '../connection.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { datapointLimits } from './datapoint-limits.ts';

/** Limits under which nearly every datapoint is flushed, merged, cut and trimmed at once. */
const tinyLimits = {
  ...datapointLimits,
  ...tinyDatapointLimits,
  summaryDatapointsMin: 1,
  crowdedChunksMax: 1_000,
};

const openTiny = (directory: string) =>
  openSqlite({ directory, log: silentLog, datapointLimits: tinyLimits });

/** An empty directory with a device of two sensors in its database. */
async function withDevice(storage: Storage): Promise<Storage> {
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1'), aSensor('s2')] }));
  return storage;
}

describe('with limits so small that everything is flushed at once', () => {
  datapointsContract(async () => {
    const ends: (() => void)[] = [];
    const storage = await openTiny(temporaryDirectory({ after: (end) => ends.push(end) }));
    const close = async (): Promise<void> => {
      await storage.close();
      for (const end of ends) end();
    };
    return { ...storage, close };
  });
});

const datapoint = datapointOf(
  fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom('wet', null, [1.5])),
);
const somePush: fc.Arbitrary<Push> = fc
  .record({
    id: fc.constantFrom('s1', 's2', 'nope'),
    points: fc.array(datapoint, { maxLength: 12 }),
  })
  .map(({ id, points }) => push(points, sensor('d1', id)));
const step = fc.oneof(
  { weight: 6, arbitrary: fc.array(somePush, { maxLength: 4 }).map((batch) => ({ batch })) },
  { weight: 3, arbitrary: somePage.map((asked) => ({ asked })) },
  { weight: 1, arbitrary: fc.constant({ reopen: true }) },
  { weight: 1, arbitrary: fc.constantFrom('s1', 's2').map((renewed) => ({ renewed })) },
);

/** A busy machine runs as many cases as it can in that time, and at least one. */
const patienceMs = 90_000;

test('whatever is pushed and read, the answers are those of a plain list', async (context) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const directory = temporaryDirectory(context);
      const oracle = createNaiveDatapoints();
      let storage = await withDevice(await openTiny(directory));
      try {
        for (const one of steps) {
          if ('reopen' in one) {
            await storage.close();
            storage = await openTiny(directory);
          } else if ('renewed' in one) {
            const { devices } = storage;
            await devices.removeSensor(deviceId('d1'), sensorId(one.renewed), noon);
            await devices.putSensor(deviceId('d1'), aSensor(one.renewed), noon);
            oracle.forget(sensor('d1', one.renewed));
          } else if ('batch' in one) {
            const outcomes = await appended(storage.datapoints, one.batch);
            assert.deepEqual(outcomes, expectedOf(oracle, one.batch));
          } else {
            await compare(storage, oracle, one.asked);
          }
        }
        await compare(storage, oracle, { order: 'asc', skip: 0, limit: 1_000 });
      } finally {
        await storage.close();
      }
    }),
    { numRuns: 60, interruptAfterTimeLimit: patienceMs, markInterruptAsFailure: false },
  );
});

/** How a push of each ends; the third sensor does not exist. */
const expectedOf = (oracle: NaiveDatapoints, batch: readonly Push[]): readonly object[] =>
  batch.map((one) => {
    if (one.sensorId === 'nope') return { kind: 'missing' };
    const fresh = oracle.append(one, toDatapoints(one.batch));
    const weight = fresh.reduce((sum, datapoint) => sum + weigh(datapoint), 0);
    return { kind: 'stored', fresh, ...(fresh.length > 0 && { weight }) };
  });

async function compare(storage: Storage, oracle: NaiveDatapoints, asked: Page): Promise<void> {
  for (const id of ['s1', 's2', 'nope']) {
    const of = sensor('d1', id);
    assert.deepEqual(await readDatapoints(storage.datapoints, of, asked), oracle.read(of, asked));
    assert.equal(await storage.datapoints.count(of, asked), oracle.count(of, asked));
  }
  const lasts = ['s1', 's2'].flatMap((id) => {
    const last = oracle.lastValue(sensor('d1', id));
    return last === undefined ? [] : [[sensorId(id), last] as const];
  });
  assert.deepEqual(
    await storage.datapoints.lastValues([deviceId('d1')]),
    new Map(lasts.length === 0 ? [] : [[deviceId('d1'), new Map(lasts)]]),
  );
}

test('the log stays short while sensors push, however idle another sensor is', async (context) => {
  const directory = temporaryDirectory(context);
  const storage = await withDevice(await openTiny(directory));
  await storage.datapoints.append([push([at(0, 'idle')], sensor('d1', 's2'))]);
  for (let n = 0; n < 200; n += 1) await storage.datapoints.append([push([at(n, n)])]);
  await storage.close();
  const database = new DatabaseSync(databasePath(directory), { readOnly: true });
  const { rows } = database.prepare('select count(*) as rows from datapoint_log').get() as {
    rows: number;
  };
  database.close();
  assert.ok(rows < 40, `${rows} rows in the log`);
});

test('a damaged chunk is told, and stops neither pushes nor other reads', async (context) => {
  const directory = temporaryDirectory(context);
  const errors: string[] = [];
  const log = { ...silentLog, error: (_: unknown, message: string) => errors.push(message) };
  const first = await withDevice(await openTiny(directory));
  for (let n = 0; n < 40; n += 1) await first.datapoints.append([push([at(n, n)])]);
  await first.close();
  const database = new DatabaseSync(databasePath(directory));
  database.exec(`update chunks set datapoints = x'01' where min_time <= ${noon + 5_000}`);
  database.close();

  const storage = await openSqlite({ directory, log, datapointLimits: tinyLimits });
  context.after(() => storage.close());
  await assert.rejects(allValues(storage.datapoints), /stored bytes are damaged: chunk \d+/);
  const newest = { order: 'desc', skip: 0, limit: 3 } as const;
  assert.equal((await readDatapoints(storage.datapoints, sensor(), newest)).length, 3);
  for (let n = 0; n < 5; n += 1) {
    const [outcome] = await storage.datapoints.append([push([at(2.5 + n / 100, `late ${n}`)])]);
    assert.equal(outcome?.kind, 'stored');
  }
  assert.ok(errors.includes('a chunk of datapoints cannot be read'));
  assert.equal(await lastValue(storage.datapoints), 'late 4');
});

test('when flushing fails, pushes go on until memory is full', async (context) => {
  const directory = temporaryDirectory(context);
  const prepared = await withDevice(await openTiny(directory));
  await prepared.close();
  // The writer tries every millisecond.
  const database = new DatabaseSync(databasePath(directory), { timeout: 10_000 });
  database.exec(`create trigger no_chunks before insert on chunks begin
    select raise(abort, 'no chunks today'); end`);

  const limits = {
    ...tinyLimits,
    memtableBytesRefused: 20 * 32,
    flushRetryMsMin: 1,
    flushRetryMsMax: 1,
  };
  const storage = await openSqlite({ directory, log: silentLog, datapointLimits: limits });
  context.after(() => storage.close());
  let accepted = 0;
  const refusal = await (async () => {
    for (; accepted < 100; accepted += 1) {
      await storage.datapoints.append([push([at(accepted, accepted)])]);
    }
    return undefined;
  })().catch((error: unknown) => error);
  assert.ok(refusal instanceof Error && 'code' in refusal && refusal.code === 'unavailable');
  assert.ok(accepted >= 20 && accepted < 100, `${accepted} pushes were accepted`);
  assert.equal(await storage.datapoints.count(sensor(), {}), accepted);

  database.exec('drop trigger no_chunks');
  database.close();
  // A push is taken again as soon as a retry has freed capacity.
  while (accepted < 100) {
    const outcome = await storage.datapoints
      .append([push([at(accepted, accepted)])])
      .catch(() => new Promise((resolve) => setImmediate(resolve)));
    if (outcome !== undefined) accepted += 1;
  }
  const values = await allValues(storage.datapoints);
  assert.deepEqual(
    values,
    Array.from({ length: 100 }, (_, n) => n),
  );
});

test('flushing goes on after the log row with the only last value was damaged', async (context) => {
  const directory = temporaryDirectory(context);
  const first = await withDevice(await openSqlite({ directory, log: silentLog }));
  await first.datapoints.append([push([at(10, 'newest')])]);
  // The newest says nothing new, so that this row moves no last value.
  await first.datapoints.append([push([at(10, 'newest'), at(4, 'oldest'), at(5, 'older')])]);
  await first.close();
  const database = new DatabaseSync(databasePath(directory));
  context.after(() => database.close());
  database.exec(`update datapoint_log set pushes = x'01ffffff'
    where seq = (select min(seq) from datapoint_log)`);

  for (const when of ['now', 'when it is in chunks']) {
    const storage = await openTiny(directory);
    try {
      assert.equal(await lastValue(storage.datapoints), 'older', when);
      for (let n = 0; n < 40; n += 1) {
        await storage.datapoints.append([push([at(n, n)], sensor('d1', 's2'))]);
      }
      assert.deepEqual(await allValues(storage.datapoints), ['oldest', 'older'], when);
    } finally {
      await storage.close();
    }
  }
  const row = 'select sealed, value from last_values join sensors using (series)';
  assert.deepEqual(
    { ...database.prepare(`${row} where sensor_id = 's1'`).get() },
    { sealed: 3, value: '"older"' },
  );
});

test('a last value before a damaged log row stays the last value', async (context) => {
  const directory = temporaryDirectory(context);
  const first = await withDevice(await openSqlite({ directory, log: silentLog }));
  await first.datapoints.append([push([at(10, 'newest')])]);
  // Their newest says nothing new, so that these rows move no last value.
  for (const one of [at(2, 'lost'), at(3, 'older')]) {
    await first.datapoints.append([push([at(10, 'newest'), one])]);
  }
  await first.close();
  const database = new DatabaseSync(databasePath(directory));
  context.after(() => database.close());
  database.exec(`update datapoint_log set pushes = x'01ffffff'
    where seq = (select seq from datapoint_log order by seq limit 1 offset 1)`);

  for (const when of ['now', 'when it is in chunks']) {
    const storage = await openTiny(directory);
    try {
      assert.equal(await lastValue(storage.datapoints), 'newest', when);
      for (let n = 0; n < 40; n += 1) {
        await storage.datapoints.append([push([at(n, n)], sensor('d1', 's2'))]);
      }
      assert.deepEqual(await allValues(storage.datapoints), ['older', 'newest'], when);
    } finally {
      await storage.close();
    }
  }
});
