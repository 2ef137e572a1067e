import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import { deviceId, noon, sensorId } from '../../contract/builders.ts';
import { datapointLimits } from './datapoint-limits.ts';
import { createMemtable } from './memtable.ts';
import { emptyMemtableEntry, type Series } from './series.ts';

const seriesOf = (number: number): Series => ({
  number,
  deviceId: deviceId(`d${number}`),
  sensorId: sensorId('s'),
  flushed: 0,
  frozen: undefined,
  memtableEntry: emptyMemtableEntry(),
  staged: [],
  last: undefined,
  newestTimestamp: Number.NEGATIVE_INFINITY,
  sequenceNumbers: undefined,
  sorted: undefined,
  isForgotten: false,
});

const many = (count: number): readonly Datapoint[] =>
  Array.from({ length: count }, (_, value) => ({ value, receivedAt: noon }));

test('a failed step lets no log row go that an older sensor still needs', () => {
  const memtable = createMemtable(datapointLimits);
  const [older, longer] = [seriesOf(1), seriesOf(2)];
  memtable.add(older, many(1), 5);
  // More than one step takes, so that some of it stays behind in each.
  memtable.add(longer, many(3 * datapointLimits.flushWeightPerStep), 100);
  const picked = memtable.freezeDue();
  assert.deepEqual(picked, [longer]);
  assert.equal(memtable.doneThrough(), 4);
  memtable.restore(picked);
  assert.equal(longer.memtableEntry.datapoints.length, 3 * datapointLimits.flushWeightPerStep);
  assert.deepEqual(memtable.freezeDue(), [longer]);
  assert.equal(memtable.doneThrough(), 4);
});

test('a rest makes all due until something arrives, unless it is little for each sensor', () => {
  const memtable = createMemtable({ ...datapointLimits, restWeightMin: 8, restEntryWeightMin: 4 });
  const [first, second, third] = [seriesOf(1), seriesOf(2), seriesOf(3)];
  memtable.add(first, many(7), 1);
  memtable.rest();
  assert.equal(memtable.isDue(), false);
  memtable.add(second, many(1), 2);
  memtable.rest();
  assert.equal(memtable.isDue(), true);
  memtable.add(third, many(1), 3);
  assert.equal(memtable.isDue(), false);
  memtable.rest();
  assert.equal(memtable.isDue(), false, 'nine for three sensors');
  memtable.add(third, many(3), 4);
  memtable.rest();
  assert.deepEqual(memtable.freezeDue(), [first, second, third]);
  assert.equal(memtable.isDue(), false);
  assert.equal(memtable.doneThrough(), 4);
});
