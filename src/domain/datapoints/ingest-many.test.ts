import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { endlessRoom } from '../../../test/endless-room.ts';
import { createManualClock } from '../../../test/manual-clock.ts';
import { createAccess } from '../access/policy.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { createLongWork, type LongWork } from '../budgets/long-work.ts';
import type { Device } from '../devices/device.ts';
import { DomainError } from '../errors.ts';
import { guestUsername, parseDeviceId, parseSensorId, type SensorId } from '../ids.ts';
import { type BulkRow, bulkStepOf } from './bulk-step.ts';
import { emptyBatch } from './column-batch.ts';
import type { AppendOutcome, Push } from './datapoint-store.ts';
import { createIngestMany } from './ingest-many.ts';

const deviceId = parseDeviceId('field');
const [first, second] = [parseSensorId('TC1'), parseSensorId('TC2')];
const now = Date.UTC(2026, 2, 20);

const device: Device = {
  id: deviceId,
  owner: guestUsername,
  createdAt: now,
  modifiedAt: now,
  sensors: [{ id: first }, { id: second }],
  actuators: [],
};

/** The ingest path with a store whose commits the test ends one by one. */
function openReadPath(longWork: Pick<LongWork, 'arriving'> = createLongWork(createBudgets())) {
  const commits: { push: Push; end: (outcome: AppendOutcome | Error) => void }[] = [];
  let finds = 0;
  let { sensors } = device;
  const ingestMany = createIngestMany({
    valueBytesMax: 65_536,
    room: endlessRoom(),
    longWork,
    devices: {
      peek: () => undefined,
      find: async (id: string) => {
        finds += 1;
        return id === deviceId ? { ...device, sensors } : undefined;
      },
    },
    access: createAccess({
      grants: { peek: () => [], scopesOn: async () => [] },
      settings: { publicPush: 'open' },
    }),
    appender: {
      append: (push) =>
        new Promise((resolve, reject) => {
          const end = (outcome: AppendOutcome | Error) =>
            outcome instanceof Error ? reject(outcome) : resolve(outcome);
          commits.push({ push, end });
        }),
      drain: async () => undefined,
    },
    clock: createManualClock(now),
  });
  const endAll = (outcome: AppendOutcome | Error = { kind: 'stored', fresh: emptyBatch }) => {
    for (const { end } of commits.splice(0)) end(outcome);
  };
  const makeSensor = (id: SensorId) => {
    sensors = [...sensors, { id }];
  };
  return { bulk: ingestMany({ kind: 'guest' }), commits, endAll, makeSensor, finds: () => finds };
}

const lineOf = (line: number, sensorId = first, id = deviceId): BulkRow => ({
  line,
  sensor: { deviceId: id, sensorId },
  datapoint: { value: line },
});

test('lines of one sensor travel together, in their order', async () => {
  const { bulk, commits, endAll } = openReadPath();
  await bulk.add(bulkStepOf([lineOf(1), lineOf(2, second), lineOf(3)]));
  assert.deepEqual(
    commits.map(({ push }) => [push.sensorId, [...push.batch.numbers]]),
    [
      [first, [1, 3]],
      [second, [2]],
    ],
  );
  endAll();
  assert.deepEqual(await bulk.finish(), { stored: 3, refused: [], refusedCount: 0 });
});

test('no third step is taken before the first is on disk', async () => {
  const { bulk, commits, endAll } = openReadPath();
  await bulk.add(bulkStepOf([lineOf(1)]));
  let isTaken = false;
  const taking = bulk.add(bulkStepOf([lineOf(2)])).then(() => {
    isTaken = true;
  });
  for (let turns = 0; turns < 10; turns += 1) await turn();
  assert.deepEqual([isTaken, commits.length, bulk.stored], [false, 1, 0]);
  endAll();
  await taking;
  assert.deepEqual([commits.length, bulk.stored], [1, 1]);
  endAll();
  assert.equal((await bulk.finish()).stored, 2);
});

test('a device is asked for once in a request, and a missing one too', async () => {
  const { bulk, endAll, finds } = openReadPath();
  const nowhere = parseDeviceId('nowhere');
  for (const line of [1, 3, 5]) {
    const added = bulk.add(bulkStepOf([lineOf(line), lineOf(line + 1, first, nowhere)]));
    for (let turns = 0; turns < 5; turns += 1) await turn();
    endAll();
    await added;
  }
  for (let turns = 0; turns < 5; turns += 1) await turn();
  endAll();
  const { stored, refused } = await bulk.finish();
  assert.equal(finds(), 2);
  assert.equal(stored, 3);
  assert.deepEqual(
    refused.map(({ line, refusal }) => [line, refusal.code]),
    [
      [2, 'not_found'],
      [4, 'not_found'],
      [6, 'not_found'],
    ],
  );
});

test('a sensor that is made during a request takes its lines from then on', async () => {
  const { bulk, endAll, makeSensor } = openReadPath();
  const late = parseSensorId('late');
  await bulk.add(bulkStepOf([lineOf(1), lineOf(2, late), lineOf(3)]));
  endAll();
  makeSensor(late);
  await bulk.add(bulkStepOf([lineOf(4), lineOf(5, late), lineOf(6, late)]));
  endAll();
  const { stored, refused } = await bulk.finish();
  assert.deepEqual([stored, refused.map(({ line }) => line)], [5, [2]]);
});

test('a sensor that goes while its lines are under way refuses them', async () => {
  const { bulk, endAll } = openReadPath();
  await bulk.add(bulkStepOf([lineOf(1), lineOf(2)]));
  endAll({ kind: 'missing' });
  const { stored, refusedCount } = await bulk.finish();
  assert.deepEqual([stored, refusedCount], [0, 2]);
});

test('a commit that fails ends the request, with what was stored before', async () => {
  const { bulk, endAll } = openReadPath();
  await bulk.add(bulkStepOf([lineOf(1)]));
  endAll();
  await bulk.add(bulkStepOf([lineOf(2)]));
  endAll(new DomainError('unavailable', 'the disk failed'));
  await assert.rejects(bulk.finish(), /the disk failed/);
  assert.equal(bulk.stored, 1);
});

test('many devices, there or not, are looked for in turns', async () => {
  let rests = 0;
  const pace = {
    isOver: () => true,
    async rest() {
      rests += 1;
    },
    begin: () => undefined,
  };
  const { bulk, endAll } = openReadPath({ arriving: () => ({ arrive: () => undefined, pace }) });
  const nowhere = Array.from({ length: 640 }, (_, at) =>
    lineOf(at + 1, first, parseDeviceId(`nowhere-${at}`)),
  );
  await bulk.add(bulkStepOf(nowhere));
  endAll();
  assert.equal((await bulk.finish()).refusedCount, nowhere.length);
  assert.ok(rests >= 20, `${rests} turns`);
});
