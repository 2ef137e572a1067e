import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aDevice, aSensor, deviceId, sensorId } from '../../../test/contract/storage/builders.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { type HourTally, hoursPerStep } from '../../domain/datapoints/retention/hours.ts';
import { dayMs, hourMs } from '../../domain/datapoints/retention/retention.ts';
import { silentLog } from '../../lib/log.ts';
import { openPostgres } from './postgres-storage.ts';

/** An empty database with a device that has a sensor. */
async function openWithSensor(name: string) {
  const url = await emptySchemaCalled(name);
  const storage = await openPostgres({ url, log: silentLog });
  await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
  return { url, storage };
}

const sensor = { deviceId: deviceId('d1'), sensorId: sensorId('s1') };

const anHour = (at: number): HourTally => ({
  ...{ begin: at * hourMs, count: 1, numbers: 1, textNumbers: 0, min: at, max: at, sum: at },
  ...{ first: at, last: at, rise: 0, fall: 0 },
});

describe('retention in PostgreSQL', { skip: noPostgres }, () => {
  test('what is no number of days, after damage, deletes nothing', async () => {
    const { url, storage } = await openWithSensor('retention-days');
    const scope = { kind: 'device', deviceId: sensor.deviceId } as const;
    await storage.retentions.put(scope, { rawDays: 3, hourlyDays: 4 });
    await onServer(url, 'update retentions set raw_days = -1, hourly_days = 9999999');
    assert.deepEqual(await storage.retentions.find(scope), {});
    const [found] = await storage.retentions.sensors({ after: -1, max: 10 });
    assert.deepEqual(found?.nearest, { retention: {}, source: 'device' });
    await storage.close();
  });

  test('days that cannot be read end no step before its time', async () => {
    const { url, storage } = await openWithSensor('retention-hours');
    const hours = Array.from({ length: hoursPerStep + 144 }, (_, at) => anHour(at));
    const state = { rawBefore: hours.length * hourMs };
    assert.equal(await storage.retaining.restore(sensor, state, hours), 'put');
    await onServer(
      url,
      `update hourly_summaries set summary = 'x' where day / ${dayMs} in (2, 3, 4)`,
    );
    const read = await storage.datapoints.hours(sensor, { from: 5 * hourMs }, hoursPerStep);
    assert.equal(read.count, hoursPerStep);
    assert.deepEqual(
      [...read.starts.slice(42, 44)].map((at) => at / hourMs),
      [47, 120],
    );
    await storage.close();
  });
});
