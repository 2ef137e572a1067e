import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sensor } from '../devices/device.ts';
import { parseDeviceId, parseSensorId } from '../ids.ts';
import type { Datapoint } from './datapoint.ts';
import { toDatapointColumns } from './datapoint-columns.ts';
import { mergeSteps } from './merged-history.ts';

const sourceOf = (id: string) => ({
  ref: { deviceId: parseDeviceId('d'), sensorId: parseSensorId(id) },
  sensor: {} as Sensor,
});

/** Ten texts of 3,200 characters of each sensor, three of them a step. */
const store = {
  async scan(_sensor: unknown, { skip, from: start }: { skip: number; from?: unknown }) {
    const from = skip + (typeof start === 'number' ? start : 0);
    const times = Array.from({ length: 3 }, (_, n) => from + n).filter((time) => time < 10);
    const datapoints = times.map(
      (time) => ({ timestamp: time, receivedAt: time, value: 'x'.repeat(3_200) }) as Datapoint,
    );
    return { columns: toDatapointColumns(datapoints), isCut: datapoints.length === 3 };
  },
};
const page = { order: 'asc', limit: 1_000, skip: 0 } as const;
const pace = { isOver: () => false, rest: async () => undefined, begin: () => undefined };

test('what is held of several sensors is told, and no more than it is', async () => {
  const sources = ['a', 'b', 'c'].map(sourceOf);
  const told: number[] = [];
  const steps = mergeSteps(store as never, sources, page, pace, (bytes) => told.push(bytes));
  let count = 0;
  for await (const step of steps) count += step.length;
  assert.equal(count, 30);
  const perStep = 3 * (32 + 3_200);
  assert.equal(Math.max(...told), 3 * perStep);
});

test('one sensor is read step by step, and nothing more of it is held', async () => {
  const told: number[] = [];
  const steps = mergeSteps(store as never, [sourceOf('a')], page, pace, (n) => told.push(n));
  const lengths: number[] = [];
  for await (const step of steps) lengths.push(step.length);
  assert.deepEqual(lengths, [3, 3, 3, 1]);
  assert.deepEqual(told, []);
});
