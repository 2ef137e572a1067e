import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Push } from '../../src/domain/datapoints/datapoint-store.ts';
import { silentLog } from '../../src/lib/log.ts';
import { openSqlite } from '../../src/storage/sqlite/sqlite-storage.ts';
import { datapointLimits } from '../../src/storage/sqlite/timeseries/datapoint-limits.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { aDevice, aSensor, aUser, noon } from '../contract/storage/builders.ts';
import { allValues, lastValueIn, push, sensor } from '../contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';

const rounds = Number(process.env['KILL_ROUNDS'] ?? 20);
const batchPushes = 12;
const sensors = ['s0', 's1', 's2'];
/** Small enough that most kills come while something is flushed, merged or trimmed. */
const smallLimits = {
  ...datapointLimits,
  chunkDatapointsMax: 16,
  memtableEntryBytes: 0,
  memtableEntryBytesMax: 10 * 32,
  memtableBytesMax: 40 * 32,
  logBytesMax: 100 * 32,
  flushBytesPerStep: 20 * 32,
  trimRowsPerStep: 3,
  restMs: 1,
  restBytesMin: 32,
  restEntryBytesMin: 32,
};

const open = (directory: string): Promise<Storage> =>
  openSqlite({ directory, log: silentLog, datapointLimits: smallLimits });

/** The n-th datapoint of the story: its own time, most of them late, sensor after sensor. */
function pushOf(n: number): Push {
  const timestamp = noon + ((n * 7_919) % 100_000) * 1_000;
  return push([{ value: n, timestamp, receivedAt: noon + n }], sensor('d', sensors[n % 3]));
}

/** The child: goes on with the story, and says after each commit how far it is. */
async function tellStory(directory: string, start: number): Promise<never> {
  const storage = await open(directory);
  for (let n = start; ; n += batchPushes) {
    await storage.datapoints.append(Array.from({ length: batchPushes }, (_, k) => pushOf(n + k)));
    process.stdout.write(`${n + batchPushes}\n`);
    // Now and then long enough for a rest, in which all that is in memory is flushed.
    if (n % 5 === 0) await wait(3);
  }
}

/** Lets a child go on from `start`, kills it after some commits, answers how far it said it was. */
async function killedAfter(directory: string, start: number, commits: number): Promise<number> {
  const child = spawn(process.execPath, [import.meta.filename, directory, `${start}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = start;
  let left = commits;
  for await (const line of createInterface({ input: child.stdout })) {
    told = Number(line);
    left -= 1;
    if (left === 0) child.kill('SIGKILL');
  }
  return told;
}

async function assertKept(directory: string, told: number): Promise<void> {
  const storage = await open(directory);
  const kept: number[] = [];
  for (const id of sensors) {
    const values = (await allValues(storage.datapoints, sensor('d', id))).map(Number);
    const last = await lastValueIn(storage.datapoints, sensor('d', id));
    assert.equal(last, values.length === 0 ? undefined : Math.max(...values));
    kept.push(...values);
  }
  await storage.close();
  kept.sort((a, b) => a - b);
  // All that was acknowledged, perhaps the batch under way, each datapoint once.
  assert.deepEqual(
    kept,
    kept.map((_, n) => n),
  );
  assert.ok(kept.length >= told, `${told} were acknowledged, ${kept.length} are there`);
  assert.ok(kept.length <= told + batchPushes);
}

const [, , storyDirectory, storyStart] = process.argv;
if (storyDirectory !== undefined && storyStart !== undefined) {
  await tellStory(storyDirectory, Number(storyStart));
} else {
  test('after kill -9 every acknowledged datapoint is there, once', async (context) => {
    const directory = temporaryDirectory(context);
    const prepared = await open(directory);
    await prepared.users.insert(aUser('alice'), 'hash');
    await prepared.devices.insert(aDevice('d', { sensors: sensors.map((id) => aSensor(id)) }));
    await prepared.close();
    let told = 0;
    for (let round = 0; round < rounds; round += 1) {
      const commits = 1 + ((round * 7) % 13);
      told = await killedAfter(directory, told, commits);
      await assertKept(directory, told);
    }
    assert.ok(told > rounds * batchPushes);
  });
}
