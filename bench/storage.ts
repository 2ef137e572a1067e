import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { datapointAt, singleBatch, toColumnBatch } from '../src/domain/datapoints/column-batch.ts';
import { type Push, readDatapoints } from '../src/domain/datapoints/datapoint-store.ts';
import { silentLog } from '../src/lib/log.ts';
import { databasePath } from '../src/storage/sqlite/connection.ts';
import { openSqlite } from '../src/storage/sqlite/sqlite-storage.ts';
import { datapointLimits } from '../src/storage/sqlite/timeseries/datapoint-limits.ts';
import type { Storage } from '../src/storage/storage.ts';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
} from '../test/contract/storage/builders.ts';

// How fast and how small the sqlite engine keeps datapoints: node bench/storage.ts [seconds]

const sensorCount = 1_000;
const sensorsPerDevice = 50;
const rowsPerCommit = 500;
const minute = 60_000;
const yearOfMinutes = 525_600;
const secondsToAppend = Number(process.argv[2] ?? 8);

const open = (directory: string, memtableBytesMax = datapointLimits.memtableBytesMax) =>
  openSqlite({
    directory,
    log: silentLog,
    datapointLimits: { ...datapointLimits, memtableBytesMax },
  });

const nameOf = (sensor: number) => ({
  deviceId: deviceId(`device-${Math.floor(sensor / sensorsPerDevice)}`),
  sensorId: sensorId(`sensor-${sensor % sensorsPerDevice}`),
});

async function addSensors(storage: Storage): Promise<void> {
  await storage.users.insert(aUser('alice'), 'hash');
  const sensors = Array.from({ length: sensorsPerDevice }, (_, n) => aSensor(`sensor-${n}`));
  for (let n = 0; n < sensorCount / sensorsPerDevice; n += 1) {
    await storage.devices.insert(aDevice(`device-${n}`, { sensors }));
  }
}

/** A number from 0 to 1 without a pattern, always the same for the same n. */
function noiseOf(n: number): number {
  const mixed = Math.imul(n ^ (n >>> 15), 0x2c1b_3c6d);
  const again = Math.imul(mixed ^ (mixed >>> 12), 0x297a_2d39);
  return ((again ^ (again >>> 15)) >>> 0) / 2 ** 32;
}

/** One value a minute, with a daily swing, some noise and a delay on the way. */
function pushOf(sensor: number, n: number): Push {
  const timestamp = noon + n * minute + sensor;
  const noise = noiseOf(n * sensorCount + sensor);
  const value = Math.round((22 + 6 * Math.sin(n / 229) + noise / 2) * 10) / 10;
  const receivedAt = timestamp + 200 + Math.floor(noiseOf(n * sensorCount - sensor) * 400);
  return { ...nameOf(sensor), batch: singleBatch(value, timestamp, receivedAt) };
}

function show(what: string, figure: number, unit: string): void {
  const digits = figure < 100 ? 2 : 0;
  console.log(`${what.padEnd(52)} ${figure.toFixed(digits).padStart(12)} ${unit}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Commits one batch after the other for a while; answers how many rows that made. */
async function append(storage: Storage): Promise<number> {
  const pauses: number[] = [];
  const end = performance.now() + secondsToAppend * 1_000;
  const start = performance.now();
  let rows = 0;
  while (performance.now() < end) {
    const batch: Push[] = [];
    for (let n = 0; n < rowsPerCommit; n += 1, rows += 1) {
      batch.push(pushOf(rows % sensorCount, Math.floor(rows / sensorCount)));
    }
    pauses.push(await timed(() => storage.datapoints.append(batch)));
  }
  const seconds = (performance.now() - start) / 1_000;
  pauses.sort((a, b) => a - b);
  show(`append, ${rowsPerCommit} rows a commit, ${sensorCount} sensors`, rows / seconds, 'rows/s');
  show('  a commit, median', pauses[Math.floor(pauses.length / 2)] ?? 0, 'ms');
  show(
    '  a commit, 99 of 100 are faster than',
    pauses[Math.floor(pauses.length * 0.99)] ?? 0,
    'ms',
  );
  show('  the slowest commit', pauses.at(-1) ?? 0, 'ms');
  return rows;
}

/** Flushes all that is left, so that the size says what datapoints take in the long run. */
async function showSize(directory: string, rows: number): Promise<void> {
  const flushing = await open(directory, 0);
  await flushing.datapoints.append([pushOf(0, 10_000_000)]);
  await flushedUpTo(directory, rows + 1);
  await flushing.close();
  const chunks = 'select sum(length(datapoints)) as n from chunks';
  const pages =
    'select page_count - freelist_count as n from pragma_page_count, pragma_freelist_count';
  show('a datapoint in a chunk', ask(directory, chunks) / rows, 'bytes');
  show(
    'a datapoint in the database, everything counted',
    (ask(directory, pages) * 4_096) / rows,
    'bytes',
  );
}

/** Waits until this many datapoints are in chunks. */
async function flushedUpTo(directory: string, count: number): Promise<void> {
  while (ask(directory, 'select coalesce(sum(count), 0) as n from chunks') < count) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function ask(directory: string, question: string): number {
  const database = new DatabaseSync(databasePath(directory), { readOnly: true });
  const answer = database.prepare(question).get() as { n: number };
  database.close();
  return answer.n;
}

async function showReads(directory: string, storage: Storage): Promise<void> {
  const step = 20_000;
  for (let n = 0; n < yearOfMinutes; n += step) {
    const length = Math.min(step, yearOfMinutes - n);
    const datapoints = Array.from({ length }, (_, k) => datapointAt(pushOf(0, n + k).batch, 0));
    await storage.datapoints.append([{ ...nameOf(0), batch: toColumnBatch(datapoints) }]);
  }
  await flushedUpTo(directory, yearOfMinutes - datapointLimits.memtableEntryBytesMax / 32);
  const times = 200;
  const read = (skip: number, limit: number) =>
    readDatapoints(storage.datapoints, nameOf(0), { order: 'desc', skip, limit });
  const first = await timed(() => read(0, 100));
  const last100 = await timed(async () => {
    for (let n = 0; n < times; n += 1) await read(0, 100);
  });
  const last10k = await timed(() => read(0, 10_000));
  const deep = await timed(() => read(500_000, 100));
  show('read the last 100 of a year of minutes, first time', first, 'ms');
  show('  again', last100 / times, 'ms');
  show('read the last 10 000', last10k, 'ms');
  show('read 100 after skipping 500 000', deep, 'ms');
}

async function inDirectory(work: (directory: string) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-bench-'));
  try {
    await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await inDirectory(async (directory) => {
  let storage = await open(directory);
  await addSensors(storage);
  const rows = await append(storage);
  await storage.close();
  const replay = await timed(async () => {
    storage = await open(directory);
  });
  show('open with a full log', replay, 'ms');
  await storage.close();
  await showSize(directory, rows);
});
await inDirectory(async (directory) => {
  const storage = await open(directory);
  await addSensors(storage);
  await showReads(directory, storage);
  await storage.close();
});
