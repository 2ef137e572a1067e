import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sensor } from '../devices/device.ts';
import { parseDeviceId, parseSensorId } from '../ids.ts';
import type { Datapoint } from './datapoint.ts';
import { datapointsIn, type SensorRows, toDatapointColumns } from './datapoint-columns.ts';
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
const read = { store: store as never, page, query: { isCalibrated: true }, pace };
const lengthOf = (step: readonly SensorRows<unknown>[]): number => [...datapointsIn(step)].length;

test('what is held of several sensors is told, and no more than it is', async () => {
  const sources = ['a', 'b', 'c'].map(sourceOf);
  const told: number[] = [];
  const hold = (bytes: number) => told.push(bytes);
  let count = 0;
  for await (const step of mergeSteps({ ...read, sources, hold })) count += lengthOf(step);
  assert.equal(count, 30);
  const perStep = 3 * (32 + 3_200);
  assert.equal(Math.max(...told), 3 * perStep);
});

test('one sensor is read step by step, and nothing more of it is held', async () => {
  const told: number[] = [];
  const hold = (bytes: number) => told.push(bytes);
  const sources = [sourceOf('a')];
  const lengths: number[] = [];
  for await (const step of mergeSteps({ ...read, sources, hold })) lengths.push(lengthOf(step));
  assert.deepEqual(lengths, [3, 3, 3, 1]);
  assert.deepEqual(told, []);
});
