import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
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
  const { show } = createOverlay([aCorrection({ from: 10, to: 20 })]);
  assert.equal(show(at(10, 1)), undefined);
  assert.equal(show(at(20, 1, 1_000)), undefined);
  for (const kept of [at(9, 1), at(21, 1), at(15, 1, 1_001)]) assert.equal(show(kept), kept);
});

test('a removal by value looks at what is shown, not at what was pushed', () => {
  const corrected = aCorrection({
    kind: 'corrected',
    items: [{ time: 10, isTimed: true, value: 5 }],
  });
  const five = aCorrection({ id: 'c2' as CorrectionId, value: 5 });
  assert.equal(createOverlay([corrected, five]).show(at(10, 1)), undefined);
  assert.deepEqual(createOverlay([five, corrected]).show(at(10, 1)), at(10, 5));
  assert.equal(createOverlay([corrected, five]).touching(at(10, 1)), 'c2');
});

test('a timestamp and a time of receipt are different things', () => {
  const items = [{ time: 500, isTimed: true, value: 'right' }];
  const { show } = createOverlay([aCorrection({ kind: 'corrected', to: 1_000, items })]);
  const untimed = { value: 'wrong', receivedAt: 500 };
  assert.equal(show(untimed), untimed);
  assert.equal(show(at(500, 'wrong'))?.value, 'right');
});

test('what a clock ahead of ours received is reached, and nothing between', () => {
  const { show } = createOverlay([aCorrection({ reach: { until: 1_000, ahead: [5_000, 6_000] } })]);
  assert.equal(show(at(10, 1, 5_500)), undefined);
  assert.notEqual(show(at(10, 1, 4_999)), undefined);
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

test('the segments of a range are all of it, and only removals may lack anything', () => {
  const interval = fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 10 }));
  const property = fc.property(fc.array(interval), interval, (intervals, [from, length]) => {
    const removals = intervals.map(([start, more]) =>
      aCorrection({ from: start, to: start + more }),
    );
    const segments = createOverlay(removals).segments({ from, to: from + length });
    const times = segments.flatMap(({ from: first, to: last, mayLack }) =>
      Array.from({ length: last - first + 1 }, (_, n) => [first + n, mayLack]),
    );
    const expected = Array.from({ length: length + 1 }, (_, n) => [
      from + n,
      removals.some((one) => one.from <= from + n && from + n <= one.to),
    ]);
    assert.deepEqual(times, expected);
  });
  fc.assert(property);
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
    const shown = ordered.flatMap((one) => overlay.show(one) ?? []);
    assert.equal(columns.count, shown.length);
    for (const [row, one] of shown.entries()) {
      assert.deepEqual(columns.at(row), one);
      assert.equal(columns.times[row], one.timestamp);
      assert.equal(columns.numbers[row], typeof one.value === 'number' ? one.value : Number.NaN);
    }
  }
});
