import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createGrantDirectory } from '../src/domain/access/grant-directory.ts';
import { createAccess } from '../src/domain/access/policy.ts';
import { guest } from '../src/domain/actor.ts';
import { createBudgets } from '../src/domain/budgets/budgets.ts';
import { createLongWork } from '../src/domain/budgets/long-work.ts';
import { type AggregationPlan, aggregates } from '../src/domain/datapoints/aggregation.ts';
import { toColumnBatch } from '../src/domain/datapoints/column-batch.ts';
import { datapointsIn } from '../src/domain/datapoints/datapoint-columns.ts';
import { createHistory, type HistoryQuery } from '../src/domain/datapoints/history.ts';
import { createSummaries } from '../src/domain/datapoints/summaries.ts';
import { createInProcessFeed } from '../src/feed/in-process-feed.ts';
import { silentLog } from '../src/lib/log.ts';
import { createBuckets, parseInterval } from '../src/lib/time-bucket.ts';
import { findTimeZone, utc } from '../src/lib/time-zone.ts';
import { databasePath } from '../src/storage/sqlite/connection.ts';
import { openSqlite } from '../src/storage/sqlite/sqlite-storage.ts';
import { datapointLimits } from '../src/storage/sqlite/timeseries/datapoint-limits.ts';
import type { Storage } from '../src/storage/storage.ts';
import { aDevice, aSensor, deviceId, sensorId } from '../test/contract/storage/builders.ts';

// How long aggregates and downsampling of a year of minutes take: node bench/aggregates.ts

const yearOfMinutes = 525_600;
const start = Date.parse('2024-01-01T00:00:00Z');
const sensor = { deviceId: deviceId('d1'), sensorId: sensorId('s1') };
const selection = { deviceIds: [sensor.deviceId], sensorIds: [sensor.sensorId] };
const everything: HistoryQuery = {
  order: 'asc',
  skip: 0,
  limit: Number.MAX_SAFE_INTEGER,
  isCalibrated: true,
};
const rounds = 9;
/** So many of one sensor may stay outside of chunks. */
const memtableEntryMax = datapointLimits.memtableEntryBytesMax / 32;

async function fill(storage: Storage): Promise<void> {
  await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
  const step = 20_000;
  for (let from = 0; from < yearOfMinutes; from += step) {
    const datapoints = Array.from({ length: Math.min(step, yearOfMinutes - from) }, (_, n) => {
      const timestamp = start + (from + n) * 60_000;
      const noise = ((from + n) * 7_919) % 13;
      const value = Math.round((22 + 6 * Math.sin((from + n) / 229)) * 10 + noise) / 10;
      return { value, timestamp, receivedAt: timestamp + 250 + noise };
    });
    await storage.datapoints.append([{ ...sensor, batch: toColumnBatch(datapoints) }]);
  }
}

/** Datapoints in chunks. */
function flushedIn(directory: string): number {
  const database = new DatabaseSync(databasePath(directory), { readOnly: true });
  const row = database.prepare('select sum(count) as count from chunks').get();
  database.close();
  return Number(row?.['count'] ?? 0);
}

async function show(what: string, work: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const begin = performance.now();
    await work();
    times.push(performance.now() - begin);
  }
  const [first = 0] = times;
  const median = times.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  console.log(
    `${what.padEnd(44)} first ${first.toFixed(1).padStart(7)} ms, median ` +
      `${median.toFixed(1).padStart(7)} ms`,
  );
}

const planOf = (names: AggregationPlan['aggregates'], text: string, zone: string) => {
  const interval = parseInterval(text);
  if (interval === undefined) throw new Error(`${text} is no interval`);
  const bucketOf = createBuckets(interval, findTimeZone(zone) ?? utc);
  return { aggregates: names, bucketOf };
};

async function measure(storage: Storage): Promise<void> {
  const { devices, datapoints, pushedDatapoints, grants } = storage;
  const feed = createInProcessFeed({ log: silentLog });
  const settings = { publicPush: 'open' } as const;
  const access = createAccess({ grants: createGrantDirectory(grants, feed), settings });
  const longWork = createLongWork(createBudgets());
  const summaries = createSummaries({ devices, datapoints, pushedDatapoints, access, longWork });
  const readHistory = createHistory({ devices, datapoints, pushedDatapoints, access, longWork });
  const aggregate = (plan: AggregationPlan) => () =>
    summaries.aggregate(guest, selection, everything, plan);
  await show('daily average, UTC', aggregate(planOf(['avg'], '1d', 'UTC')));
  await show('daily average, Europe/Paris', aggregate(planOf(['avg'], '1d', 'Europe/Paris')));
  await show('monthly, all aggregates', aggregate(planOf(aggregates, '1mo', 'Africa/Dakar')));
  await show('hourly average, Europe/Paris', aggregate(planOf(['avg'], '1h', 'Europe/Paris')));
  for (const points of [1_000, 100, 20]) {
    await show(`downsampled to ${points} points`, () =>
      summaries.downsample(guest, selection, everything, points),
    );
  }
  await show('for comparison: every datapoint read', async () => {
    const { steps } = await readHistory(guest, sensor, everything);
    let sum = 0;
    for await (const step of steps) {
      for (const [, { value }] of datapointsIn(step)) sum += Number(value);
    }
    return sum;
  });
}

const directory = mkdtempSync(join(tmpdir(), 'kipimo-bench-'));
try {
  const filling = await openSqlite({ directory, log: silentLog });
  await fill(filling);
  while (flushedIn(directory) < yearOfMinutes - memtableEntryMax)
    await new Promise((resolve) => setImmediate(resolve));
  await filling.close();
  // Opened anew: nothing is decoded, and no flushing goes on beside the first round.
  const storage = await openSqlite({ directory, log: silentLog });
  await measure(storage);
  await storage.close();
} finally {
  rmSync(directory, { recursive: true, force: true });
}
