import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonValue } from '../../../lib/json.ts';
import type { CorrectionId, DeviceId, SensorId, Username } from '../../ids.ts';
import type { Datapoint } from '../datapoint.ts';
import { toDatapointColumns } from '../datapoint-columns.ts';
import { type Correction, receivedOutside } from './correction.ts';
import { createOverlay } from './overlay.ts';
import { addTouched, joinParts, type OpenParts } from './touched.ts';

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

const minuteMs = 60_000;
const aMinutes = (id: string, value = 7) =>
  aCorrection({ id: id as CorrectionId, to: 999 * minuteMs, value });

/** A walk through 1,000 minutes of which every second one is 7, and how often it was begun. */
function countedWalk(gate?: Promise<void>) {
  let begun = 0;
  async function* walk() {
    begun += 1;
    await gate;
    yield toDatapointColumns(
      Array.from({ length: 1_000 }, (_, minute) => at(minute * minuteMs, minute % 2 ? 7 : 1)),
    );
  }
  return { walk, begun: () => begun };
}

const removedIn = (overlay: ReturnType<typeof createOverlay>) =>
  overlay.parts().reduce((sum, { removed }) => sum + removed, 0);

test('corrections that change during the first walk find what it found', async () => {
  const [removal, later] = [aMinutes('c1'), aMinutes('c2', 8)];
  let open = (): void => undefined;
  const { walk, begun } = countedWalk(new Promise((resolve) => (open = resolve)));
  const first = createOverlay([removal, later]);
  const searching = first.search(walk);
  const second = createOverlay([removal]);
  const joined = second.search(walk);
  open();
  await Promise.all([searching, joined]);
  await second.search(walk);
  assert.deepEqual([removedIn(first), removedIn(second), begun()], [500, 500, 1]);
  const third = createOverlay([aMinutes('c3', 9), removal]);
  assert.equal(removedIn(third), 500);
});

test('first reads that come at once walk once, and again when the walk failed', async () => {
  const { walk, begun } = countedWalk();
  const overlay = createOverlay([aMinutes('c1')]);
  const failing = () => {
    throw new Error('the disk failed');
  };
  const failed = [overlay.search(failing), overlay.search(failing)];
  for (const one of failed) await assert.rejects(one, /disk failed/);
  await Promise.all(Array.from({ length: 20 }, () => overlay.search(walk)));
  assert.deepEqual([removedIn(overlay), begun()], [500, 1]);
});

test('a removal of many hours keeps no more parts than a sensor has', async () => {
  const hours = 200_000;
  async function* walk() {
    for (let hour = 0; hour < hours; hour += 1_000) {
      const some = Array.from({ length: 1_000 }, (_, n) =>
        at((hour + n) * 60 * minuteMs, n % 2 ? 7 : 1),
      );
      yield toDatapointColumns(some);
    }
  }
  const open: OpenParts = [];
  for (let hour = 0; hour < hours; hour += 1) addTouched(open, 2 * hour * 60 * minuteMs, 1);
  assert.ok(open.length <= 2 * 16_384, `${open.length} parts`);
  assert.equal(
    joinParts([open]).reduce((sum, { removed }) => sum + removed, 0),
    hours,
  );
  const overlay = createOverlay([aCorrection({ to: hours * 60 * minuteMs, value: 7 })]);
  await overlay.search(walk);
  assert.ok(overlay.parts().length <= 16_384, `${overlay.parts().length} parts`);
  assert.equal(removedIn(overlay), hours / 2);
});
