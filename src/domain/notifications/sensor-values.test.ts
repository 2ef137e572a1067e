import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aSensor } from '../../../test/contract/storage/builders.ts';
import type { Datapoint } from '../datapoints/datapoint.ts';
import { toDatapointColumns } from '../datapoints/datapoint-columns.ts';
import type { DeviceId, SensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { createSensorValues, newestOf } from './sensor-values.ts';

test('large values are read one by one, and so many of them', async () => {
  const names = Array.from({ length: 2 * limits.otherLargeValuesMax }, (_, at) => `s${at}`);
  const device = aDevice('d', { sensors: [...names, 'small'].map((id) => aSensor(id)) });
  const found = new Map<SensorId, Datapoint | 'large'>();
  for (const name of names) found.set(name as SensorId, 'large');
  found.set('small' as SensorId, { value: 5, receivedAt: 1 });
  let [read, underWay, most] = [0, 0, 0];
  const values = await createSensorValues({
    briefLastValues: async (ids) => new Map(ids.map((id) => [id, found])),
    scan: async () => ({ columns: toDatapointColumns([]), isCut: false }),
    async lastValue() {
      read += 1;
      underWay += 1;
      most = Math.max(most, underWay);
      await Promise.resolve();
      underWay -= 1;
      return { value: ['x'.repeat(60_000), 5], receivedAt: 2 };
    },
  }).fetch(device);
  assert.deepEqual([read, most], [limits.otherLargeValuesMax, 1]);
  assert.equal(values.get('small')?.value, 5);
  assert.notEqual(values.get('s0'), undefined);
  assert.equal(values.get(names.at(-1) ?? ''), undefined);
});

test('a value that is newer by time than the last one holds', async () => {
  const device = aDevice('d', { sensors: [aSensor('s')] });
  const stored: readonly Datapoint[] = [
    { value: 9, timestamp: 19, receivedAt: 20 },
    { value: 7, timestamp: 17, receivedAt: 30 },
    { value: 5, receivedAt: 10 },
  ];
  const values = await createSensorValues({
    briefLastValues: async (ids) =>
      new Map(ids.map((id) => [id, new Map([['s' as SensorId, { value: 5, receivedAt: 10 }]])])),
    scan: async (_sensor, { limit }) => ({
      columns: toDatapointColumns(stored.slice(0, limit)),
      isCut: false,
    }),
    lastValue: async () => undefined,
  }).fetch(device);
  assert.equal(values.get('s')?.value, 9);
});

test('the newest of a clock that is a little ahead is found in the first rows', async () => {
  const aheadMs = 1_000;
  let rows = 0;
  const scan = async (_: unknown, { skip, limit }: { skip: number; limit: number }) => {
    rows += limit;
    const some = Array.from({ length: limit }, (_row, at) => {
      const receivedAt = 1e9 - 10_000 * (skip + at);
      return { value: at, timestamp: receivedAt + aheadMs, receivedAt };
    });
    return { columns: toDatapointColumns(some), isCut: false };
  };
  const sensor = { deviceId: 'd' as DeviceId, sensorId: 's' as SensorId };
  const found = await newestOf({ scan }, sensor, () => true);
  assert.deepEqual(found, { said: 1e9 + aheadMs, received: 1e9 + aheadMs });
  assert.ok(rows <= 20, `${rows} rows`);
});
