import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../lib/json.ts';
import type { CorrectionId, DeviceId, SensorId, Username } from '../../ids.ts';
import type { Datapoint } from '../datapoint.ts';
import { toDatapointColumns } from '../datapoint-columns.ts';
import { type Correction, receivedOutside } from './correction.ts';
import { createOverlay } from './overlay.ts';

const aCorrection = (changes: Partial<Correction>): Correction => ({
  id: 'c1' as CorrectionId,
  deviceId: 'd1' as DeviceId,
  sensorId: 's1' as SensorId,
  ...{ kind: 'removed', from: 0, to: 100, items: [], count: 0, createdAt: 1_000 },
  by: 'ana' as Username,
  reach: { until: 1_000 },
  ...changes,
});

const at = (timestamp: number, value: JsonValue, receivedAt = 500): Datapoint => ({
  ...{ value, timestamp, receivedAt },
});

test('a removal touches what was received until it was made, in its range', () => {
  const { follow } = createOverlay([aCorrection({ from: 10, to: 20 })]);
  assert.equal(follow(at(10, 1)).shown, undefined);
  assert.equal(follow(at(20, 1, 1_000)).shown, undefined);
  for (const kept of [at(9, 1), at(21, 1), at(15, 1, 1_001)])
    assert.equal(follow(kept).shown, kept);
});

test('a removal by value looks at what is shown, not at what was pushed', () => {
  const corrected = aCorrection({
    kind: 'corrected',
    items: [{ time: 10, isTimed: true, value: 5 }],
  });
  const five = aCorrection({ id: 'c2' as CorrectionId, value: 5 });
  assert.equal(createOverlay([corrected, five]).follow(at(10, 1)).shown, undefined);
  assert.deepEqual(createOverlay([five, corrected]).follow(at(10, 1)).shown, at(10, 5));
  assert.equal(createOverlay([corrected, five]).follow(at(10, 1)).by, 'c2');
});

test('a timestamp and a time of receipt are different things', () => {
  const items = [{ time: 500, isTimed: true, value: 'right' }];
  const { follow } = createOverlay([aCorrection({ kind: 'corrected', to: 1_000, items })]);
  const untimed = { value: 'wrong', receivedAt: 500 };
  assert.equal(follow(untimed).shown, untimed);
  assert.equal(follow(at(500, 'wrong')).shown?.value, 'right');
});

test('what a clock ahead of ours received is reached, and nothing between', () => {
  const { follow } = createOverlay([
    aCorrection({ reach: { until: 1_000, ahead: [5_000, 6_000] } }),
  ]);
  assert.equal(follow(at(10, 1, 5_500)).shown, undefined);
  assert.notEqual(follow(at(10, 1, 4_999)).shown, undefined);
});

test('what is received from now on is out of the reach of every correction', () => {
  const reaches = [
    { until: 10, ahead: [11, 20] as const },
    { until: 5, ahead: [21, 30] as const },
  ];
  assert.equal(receivedOutside(reaches, 3), 31);
  assert.equal(receivedOutside(reaches, 31), 31);
  assert.equal(receivedOutside([{ until: 10 }], 10), 11);
});

test('columns show what each of their datapoints does', () => {
  const corrections = [
    aCorrection({ from: 10, to: 30, value: 2 }),
    aCorrection({
      ...{ id: 'c2' as CorrectionId, kind: 'corrected', from: 20, to: 40 },
      items: [{ time: 40, isTimed: true, value: 'text' }],
    }),
  ];
  const overlay = createOverlay(corrections);
  const datapoints = [5, 10, 20, 30, 40, 50].map((time, n) => at(time, n % 2 === 0 ? 2 : 7));
  for (const ordered of [datapoints, datapoints.toReversed()]) {
    const columns = overlay.showColumns(toDatapointColumns(ordered));
    const shown = ordered.flatMap((one) => overlay.follow(one).shown ?? []);
    assert.equal(columns.count, shown.length);
    for (const [row, one] of shown.entries()) {
      assert.deepEqual(columns.at(row), one);
      assert.equal(columns.times[row], one.timestamp);
      assert.equal(columns.numbers[row], typeof one.value === 'number' ? one.value : Number.NaN);
    }
  }
});
