import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGrantDirectory } from '../src/domain/access/grant-directory.ts';
import { createAccess } from '../src/domain/access/policy.ts';
import { guest } from '../src/domain/actor.ts';
import { createBudgets } from '../src/domain/budgets/budgets.ts';
import { createLongWork } from '../src/domain/budgets/long-work.ts';
import { toColumnBatch } from '../src/domain/datapoints/column-batch.ts';
import type { Correction } from '../src/domain/datapoints/corrections/correction.ts';
import { findInRange, findItems } from '../src/domain/datapoints/corrections/corrections.ts';
import type { SensorRef } from '../src/domain/datapoints/datapoint.ts';
import type { SensorRows } from '../src/domain/datapoints/datapoint-columns.ts';
import {
  createHistory,
  createReadAfter,
  type HistoryQuery,
} from '../src/domain/datapoints/history.ts';
import { createReadMany } from '../src/domain/datapoints/merged-history.ts';
import { createSummaries } from '../src/domain/datapoints/summaries.ts';
import type { CorrectionId, Username } from '../src/domain/ids.ts';
import { createInProcessFeed } from '../src/feed/in-process-feed.ts';
import { silentLog } from '../src/lib/log.ts';
import { ownPace } from '../src/lib/scheduling/fair-slices.ts';
import { createHexId } from '../src/lib/secret-token.ts';
import { createBuckets, parseInterval } from '../src/lib/time-bucket.ts';
import { utc } from '../src/lib/time-zone.ts';
import { openSqlite } from '../src/storage/sqlite/sqlite-storage.ts';
import type { Storage } from '../src/storage/storage.ts';
import { createJsonRows } from '../src/wire/rows.ts';
import { v2Spelling } from '../src/wire/spelling.ts';
import { aDevice, aSensor, deviceId, sensorId } from '../test/contract/storage/builders.ts';

// What corrections cost the reads of a sensor with 300,000 values, in milliseconds of processor:
// node bench/corrections.ts

const minutes = 300_000;
const minute = 60_000;
const start = Date.parse('2024-01-01T00:00:00Z');
const receivedBy = start + (minutes + 60) * minute;
const rounds = Number(process.env['ROUNDS'] ?? 7);
const at = (n: number): number => start + n * minute;
const valueAt = (n: number): number => Math.round(220 + 60 * Math.sin(n / 229)) / 10;

async function fill(storage: Storage, sensor: SensorRef, from = 0, to = minutes, more = 0) {
  const step = 20_000;
  for (let first = from; first < to; first += step) {
    const datapoints = Array.from({ length: Math.min(step, to - first) }, (_, n) => ({
      value: valueAt(first + n) + more,
      timestamp: at(first + n),
      receivedAt: more === 0 ? at(first + n) + 250 : receivedBy + 1,
    }));
    await storage.datapoints.append([{ ...sensor, batch: toColumnBatch(datapoints) }]);
  }
}

const searchOf = ({ datapoints }: Storage, sensor: SensorRef) => ({
  ...{ datapoints, sensor, until: receivedBy, clock: { now: () => receivedBy }, pace: ownPace() },
});

async function file(storage: Storage, sensor: SensorRef, found: Partial<Correction> | undefined) {
  const correction: Correction = {
    ...{ id: createHexId() as CorrectionId, ...sensor, kind: 'removed', items: [], count: 0 },
    ...{ from: 0, to: 0, by: 'ana' as Username, createdAt: receivedBy },
    ...{ reach: { until: receivedBy }, ...found },
  };
  const outcome = await storage.corrections.insert(correction);
  if (outcome !== 'inserted') throw new Error(outcome);
}

async function remove(storage: Storage, sensor: SensorRef, from: number, to: number, value = NaN) {
  const search = searchOf(storage, sensor);
  const only = Number.isNaN(value) ? {} : { value };
  const found = await findInRange(search, { from: at(from), to: at(to) }, only.value);
  await file(storage, sensor, found && { ...found, ...only });
}

async function correct(storage: Storage, sensor: SensorRef, minutesOf: readonly number[]) {
  const items = minutesOf.map((n) => ({ time: at(n), isTimed: true, value: 21 }));
  const { touched } = await findItems(searchOf(storage, sensor), items);
  await file(storage, sensor, touched && { ...touched, kind: 'corrected', items });
}

const every = (count: number, from: number): readonly number[] =>
  Array.from({ length: count }, (_, n) => from + Math.floor((n * (minutes - from)) / count));

type Make = (storage: Storage, sensor: SensorRef) => Promise<void>;
const cases: readonly (readonly [name: string, make: Make])[] = [
  ['none', async () => undefined],
  ['one value', (storage, sensor) => correct(storage, sensor, [150_000])],
  ['first and last', (storage, sensor) => correct(storage, sensor, [0, minutes - 1])],
  ['newest hour', (storage, sensor) => remove(storage, sensor, minutes - 60, minutes)],
  ['a month removed', (storage, sensor) => remove(storage, sensor, 100_000, 143_199)],
  [
    'a month sent anew',
    async (storage, sensor) => {
      await remove(storage, sensor, 100_000, 143_199);
      await fill(storage, sensor, 100_000, 143_200, 1);
    },
  ],
  ['by value', (storage, sensor) => remove(storage, sensor, 0, minutes, 28)],
  [
    '10,000 values',
    async (storage, sensor) => {
      await correct(storage, sensor, every(5_000, 0));
      await correct(storage, sensor, every(5_000, 7));
    },
  ],
];

async function cpuOf(work: () => Promise<unknown>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    times.push((user + system) / 1_000);
  }
  const [first = 0, ...others] = times;
  const median = others.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  return `${median.toFixed(median < 10 ? 2 : 0)} (${first.toFixed(0)})`;
}

type Reading = (sensor: SensorRef) => Promise<unknown>;

function readingsOf(storage: Storage): ReadonlyMap<string, Reading> {
  const { devices, datapoints, pushedDatapoints, grants, corrections: book } = storage;
  const feed = createInProcessFeed({ log: silentLog });
  const settings = { publicPush: 'open' } as const;
  const access = createAccess({ grants: createGrantDirectory(grants, feed), settings });
  const longWork = createLongWork(createBudgets());
  const parts = { devices, datapoints, pushedDatapoints, access, longWork };
  const summaries = createSummaries(parts);
  const readHistory = createHistory(parts);
  const readMany = createReadMany(parts);
  const readAfter = createReadAfter({ ...parts, book });
  const all: HistoryQuery = { order: 'asc', skip: 0, limit: 1_000_000, isCalibrated: true };
  const write = createJsonRows(v2Spelling);
  const written = async (steps: AsyncIterable<readonly SensorRows[]>) => {
    for await (const step of steps) write(step);
  };
  const page =
    (changes: Partial<HistoryQuery>): Reading =>
    async (sensor) =>
      written((await readHistory(guest, sensor, { ...all, limit: 20, ...changes })).steps);
  const selection = ({ deviceId: device, sensorId: sensor }: SensorRef) => ({
    ...{ deviceIds: [device], sensorIds: [sensor] },
  });
  const by =
    (text: string, changes: Partial<HistoryQuery> = {}): Reading =>
    async (sensor) => {
      const interval = parseInterval(text);
      if (interval === undefined) throw new Error(`${text} is no interval`);
      const plan = {
        aggregates: ['avg', 'count'],
        bucketOf: createBuckets(interval, utc),
      } as const;
      return summaries.aggregate(guest, selection(sensor), { ...all, ...changes }, plan);
    };
  return new Map<string, Reading>([
    ['first page', page({})],
    ['last page', page({ order: 'desc' })],
    ['offset 143,000', page({ skip: 143_000 })],
    ['from 99,990', page({ from: at(99_990) })],
    ['from 110,000', page({ from: at(110_000) })],
    [
      'after 99,990',
      async (sensor) => {
        const query = { ...all, limit: 20 };
        const first = { time: at(99_990), count: 0 };
        const { next } = await readAfter(guest, sensor, query, first);
        await readAfter(guest, sensor, query, next);
      },
    ],
    ['all', page({ limit: 1_000_000 })],
    ['all raw', page({ limit: 1_000_000, isRaw: true, isCalibrated: false })],
    [
      'all merged',
      async (sensor) => {
        const other = { ...sensor, sensorId: sensorId('other') };
        const both = { ...selection(sensor), sensorIds: [sensor.sensorId, other.sensorId] };
        await written((await readMany.merged(guest, both, all)).steps);
      },
    ],
    ['by hour', by('1h')],
    ['by day', by('1d')],
    ['by month', by('1mo')],
    ['by day, newest 100,000', by('1d', { lastN: 100_000 })],
    ['200 points', (sensor) => summaries.downsample(guest, selection(sensor), all, 20)],
  ]);
}

const directory = mkdtempSync(join(tmpdir(), 'kipimo-bench-'));
try {
  const filling = await openSqlite({ directory, log: silentLog });
  const sensors = cases.map((_, n) => aSensor(`s${n}`));
  await filling.devices.insert(aDevice('d1', { sensors: [...sensors, aSensor('other')] }));
  const refOf = (n: number) => ({ deviceId: deviceId('d1'), sensorId: sensorId(`s${n}`) });
  await fill(filling, { deviceId: deviceId('d1'), sensorId: sensorId('other') }, 0, 10);
  for (const [n, [name, make]] of cases.entries()) {
    await fill(filling, refOf(n));
    const before = process.threadCpuUsage();
    await make(filling, refOf(n));
    const { user } = process.threadCpuUsage(before);
    console.log(`${name}: made with ${(user / 1_000).toFixed(0)} ms`);
  }
  await filling.close();
  // Opened anew: nothing is decoded, and no flushing goes on beside the first round.
  const storage = await openSqlite({ directory, log: silentLog });
  const readings = [...readingsOf(storage)].filter(([name]) =>
    name.includes(process.env['READING'] ?? ''),
  );
  const rows = new Map<string, string[]>();
  for (const [n, [made]] of cases.entries()) {
    for (const [name, read] of readings) {
      const text = await cpuOf(() => read(refOf(n)));
      if (process.env['VERBOSE'] !== undefined) console.log(`${made}: ${name}: ${text}`);
      rows.set(name, [...(rows.get(name) ?? []), text]);
    }
  }
  console.log(['', ...cases.map(([name]) => name)].map((one) => one.padStart(18)).join(''));
  for (const [name, texts] of rows) {
    console.log(name.padStart(24) + texts.map((one) => one.padStart(18)).join(''));
  }
  await storage.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
