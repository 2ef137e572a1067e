import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { singleBatch } from '../src/domain/datapoints/column-batch.ts';
import type { Push } from '../src/domain/datapoints/datapoint-store.ts';
import { silentLog } from '../src/lib/log.ts';
import { openPostgres } from '../src/storage/postgres/postgres-storage.ts';
import { hotLimits } from '../src/storage/postgres/timeseries/hot-limits.ts';
import type { Storage } from '../src/storage/storage.ts';
import { aDevice, aSensor, aUser, deviceId, noon, sensorId } from './contract/storage/builders.ts';
import { emptySchemaCalled } from './postgres-schemas.ts';
import { onServer } from './postgres-server.ts';

const datapointLimits = { ...hotLimits, flushRowsMin: 4, flushDatapointsMin: 8 };

/** Processes on one empty schema that has a device with sensors a and b. */
export async function openSeveral(name: string, count = 2) {
  const url = await emptySchemaCalled(name);
  const opened = new AsyncDisposableStack();
  const open = async (): Promise<Storage> => {
    const storage = await openPostgres({ url, log: silentLog, serving: 'shared', datapointLimits });
    opened.defer(() => storage.close());
    return storage;
  };
  const storages: Storage[] = [];
  for (let at = 0; at < count; at += 1) storages.push(await open());
  const [one, other = one] = storages;
  assert.ok(one && other);
  await one.users.insert(aUser('ana'), 'hash');
  await one.devices.insert(aDevice(device, { sensors: [aSensor('a'), aSensor('b')] }));
  return { url, open, one, other, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** The device that the schema has. */
export const device = deviceId('d');
/** A sensor of it. */
export const sensor = (name: string) => ({ deviceId: device, sensorId: sensorId(name) });
/** A push of one value to it. */
export const pushTo = (name: string, value: number, at?: number): Push => ({
  ...sensor(name),
  batch: singleBatch(value, at, noon),
});

/** A connection on which nobody else runs anything. */
export async function connectTo(url: string) {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return {
    run: (sql: string) => client.query(sql),
    [Symbol.asyncDispose]: () => client.end().catch(() => undefined),
  };
}

/** Locks a sensor as a push does. */
export const lockSensor = (name: string): string =>
  `update sensors set details = details where sensor_id = '${name}'`;
/** Whether it is not over after a moment. */
export const stillWaits = async (work: Promise<unknown>): Promise<boolean> =>
  (await Promise.race([work, wait(300).then(() => wait)])) === wait;

/** Row by row, where there are gaps between the ordinals of a sensor or two have the same. */
const brokenOrdinals = `
  select series from (
    select series, ordinal,
      lag(ordinal + count) over (partition by bucket, series order by ordinal) as next
    from hot) as rows
  where next is not null and next <> ordinal`;
const miscounted = `
  select series from sensors left join retained_series as taken using (bucket, series)
  where arrivals <> coalesce(taken.datapoints, 0)
    + (select coalesce(sum(count), 0) from hot
      where hot.bucket = sensors.bucket and hot.series = sensors.series)
    + (select coalesce(sum(count), 0) from chunks
      where chunks.bucket = sensors.bucket and chunks.series = sensors.series)`;
const orphans = `
  select series from hot where not exists (
    select 1 from sensors where sensors.bucket = hot.bucket and sensors.series = hot.series)`;

/** Fails where datapoints are lost, twice, or of no sensor. */
export async function checkWhole(url: string): Promise<void> {
  for (const sql of [brokenOrdinals, miscounted, orphans]) {
    assert.equal((await onServer(url, sql)).rowCount, 0, sql);
  }
}
