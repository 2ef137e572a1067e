import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceId, noon, sensorId } from '../../../../test/contract/storage/builders.ts';
import { type ColumnBatch, toColumnBatch } from '../../../domain/datapoints/column-batch.ts';
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
  lastAt: undefined,
  last: undefined,
  newestTimestamp: Number.NEGATIVE_INFINITY,
  sequenceNumbers: undefined,
  gap: undefined,
  sorted: undefined,
  isForgotten: false,
});

const many = (count: number): ColumnBatch =>
  toColumnBatch(Array.from({ length: count }, (_, value) => ({ value, receivedAt: noon })));
/** More than one step takes, so that some of it stays behind in each. */
const tooMany = Math.ceil((3 * datapointLimits.flushBytesPerStep) / 32);

test('a failed step lets no log row go that an older sensor still needs', () => {
  const memtable = createMemtable(datapointLimits);
  const [older, longer] = [seriesOf(1), seriesOf(2)];
  memtable.add(older, many(1), 5);
  memtable.add(longer, many(tooMany), 100);
  const picked = memtable.freezeDue();
  assert.deepEqual(picked, [longer]);
  assert.equal(memtable.doneThrough(), 4);
  memtable.restore(picked);
  assert.equal(longer.memtableEntry.count, tooMany);
  assert.deepEqual(memtable.freezeDue(), [longer]);
  assert.equal(memtable.doneThrough(), 4);
});

test('a rest makes all due until something arrives, unless it is little for each sensor', () => {
  const memtable = createMemtable({
    ...datapointLimits,
    memtableEntryBytes: 0,
    restBytesMin: 8 * 32,
    restEntryBytesMin: 4 * 32,
  });
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

test('what is due is urgent once half of the room is taken, or much is of one sensor', () => {
  const limits = { ...datapointLimits, memtableEntryBytes: 0, memtableEntryBytesMax: 10 * 32 };
  const [first, second] = [seriesOf(1), seriesOf(2)];
  const crowded = createMemtable(limits);
  crowded.add(first, many(39), 1);
  assert.deepEqual([crowded.isDue(), crowded.isUrgent()], [true, false]);
  crowded.add(first, many(1), 2);
  assert.equal(crowded.isUrgent(), true);
  for (const half of [{ memtableBytesMax: 60 * 32 }, { logBytesMax: 60 * 32 }]) {
    const memtable = createMemtable({ ...limits, ...half });
    memtable.add(second, many(30), 1);
    assert.deepEqual([memtable.isDue(), memtable.isUrgent()], [true, false]);
    memtable.add(seriesOf(3), many(1), 2);
    assert.equal(memtable.isUrgent(), true);
    memtable.drop(second);
  }
});
