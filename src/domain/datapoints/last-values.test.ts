import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aSensor, deviceId, sensorId } from '../../../test/contract/storage/builders.ts';
import type { Access } from '../access/policy.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { createLongWork } from '../budgets/long-work.ts';
import type { DeviceStore } from '../devices/device.ts';
import type { Datapoint } from './datapoint.ts';
import { datapointsIn } from './datapoint-columns.ts';
import type { DatapointStore } from './datapoint-store.ts';
import { createReadLastValues } from './last-values.ts';

const large = 'x'.repeat(60_000);

test('a large last value is read when the answer comes to it, by itself', async () => {
  let read = 0;
  const sensors = ['s1', 's2', 's3', 's4'].map((id) => aSensor(id));
  const ofDevice = new Map<string, Datapoint | 'large'>([
    [sensorId('s1'), { value: 1, receivedAt: 1 }],
    [sensorId('s2'), 'large'],
    [sensorId('s3'), 'large'],
  ]);
  const readLastValues = createReadLastValues({
    devices: { find: async (id: string) => aDevice(id, { sensors }) } as never as DeviceStore,
    access: { require: async () => undefined } as never as Access,
    longWork: createLongWork(createBudgets()),
    datapoints: {
      briefLastValues: async (ids: readonly string[]) => new Map(ids.map((id) => [id, ofDevice])),
      async lastValue() {
        read += 1;
        return { value: large, receivedAt: 2 };
      },
    } as never as DatapointStore,
  });
  const selection = { deviceIds: [deviceId('d1'), deviceId('d2')], isCalibrated: true };
  const steps = (await readLastValues({ kind: 'guest' }, selection))[Symbol.asyncIterator]();
  const found: unknown[] = [];
  for (let next = await steps.next(); next.done !== true; next = await steps.next()) {
    found.push([
      read,
      ...[...datapointsIn(next.value)].map(([{ ref }, { value }]) =>
        [ref.deviceId, ref.sensorId, value === large].join(' '),
      ),
    ]);
  }
  assert.deepEqual(found, [
    [0, 'd1 s1 false'],
    [1, 'd1 s2 true'],
    [2, 'd1 s3 true'],
    [2, 'd2 s1 false'],
    [3, 'd2 s2 true'],
    [4, 'd2 s3 true'],
  ]);
});
