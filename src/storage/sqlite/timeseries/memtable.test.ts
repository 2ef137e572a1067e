import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceId, noon, sensorId } from '../../../../test/contract/storage/builders.ts';
import { type ColumnBatch, toColumnBatch } from '../../../domain/datapoints/column-batch.ts';
import { datapointLimits } from './datapoint-limits.ts';
import { createMemtable, type Memtable } from './memtable.ts';
import { emptyMemtableEntry } from './memtable-columns.ts';
import type { Series } from './series.ts';

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

/** A memtable with a packed datapoint of each of so many series, in rows 11, 12, … */
function packedMemtable(count: number, options: { readonly isRemoved: (n: number) => boolean }) {
  const limits = { ...datapointLimits, memtableEntryBytes: 0, memtableBytesMax: 0 };
  const made: number[] = [];
  let isBroken = false;
  const memtable: Memtable = createMemtable(limits, (number) => {
    if (isBroken) throw new Error('the disk fails');
    if (options.isRemoved(number)) return undefined;
    made.push(number);
    return take(number);
  });
  function take(number: number): Series {
    const series = seriesOf(number);
    memtable.unpack(series);
    return series;
  }
  for (let number = 1; number <= count; number += 1) {
    assert.ok(memtable.pack({ series: number, sequenceNumber: 0, batch: many(1) }, 10 + number));
  }
  return { memtable, made, take, fail: (now: boolean) => (isBroken = now) };
}

test('what is packed keeps its log rows, and its place when it is asked for', () => {
  const { memtable, made, take } = packedMemtable(3, { isRemoved: () => false });
  assert.deepEqual([memtable.bytes, memtable.doneThrough()], [96, 10]);
  const [third, first] = [take(3), take(1)];
  assert.deepEqual([third.memtableEntry.firstRow, first.memtableEntry.firstRow], [13, 11]);
  assert.equal(take(1).memtableEntry.count, 0, 'it is packed no more');
  assert.deepEqual([memtable.bytes, memtable.doneThrough()], [96, 10]);
  assert.deepEqual(
    memtable.freezeDue().map(({ number }) => number),
    [1, 2, 3],
  );
  assert.deepEqual(made, [2]);
  assert.equal(memtable.doneThrough(), 13);
});

test('of removed series so many are passed over in each step, and all in the end', () => {
  const { memtable, made } = packedMemtable(150, { isRemoved: (number) => number <= 140 });
  assert.deepEqual(memtable.freezeDue(), []);
  assert.deepEqual([memtable.isDue(), memtable.doneThrough()], [true, 74]);
  assert.deepEqual(memtable.freezeDue(), []);
  assert.equal(memtable.freezeDue().length, 10);
  assert.deepEqual([made.length, memtable.isDue(), memtable.bytes], [10, false, 320]);
});

test('a series that cannot be brought to memory stays packed, and frozen ones are told', () => {
  const { memtable, take, fail } = packedMemtable(3, { isRemoved: () => false });
  const first = take(1);
  fail(true);
  assert.deepEqual(memtable.freezeDue(), [first]);
  assert.throws(() => memtable.freezeDue(), /the disk fails/);
  assert.deepEqual([memtable.bytes, memtable.doneThrough()], [96, 11]);
  fail(false);
  assert.equal(memtable.freezeDue().length, 2);
});

test('without memory to freeze a series, those before it are told and nothing is lost', () => {
  const memtable = createMemtable({ ...datapointLimits, memtableBytesMax: 0 });
  const [first, second] = [seriesOf(1), seriesOf(2)];
  memtable.add(first, many(3), 5);
  memtable.add(second, many(4), 6);
  const { columns } = second.memtableEntry;
  Object.defineProperty(columns, 'texts', {
    configurable: true,
    get() {
      throw new RangeError('Array buffer allocation failed');
    },
  });
  assert.deepEqual(memtable.freezeDue(), [first]);
  assert.throws(() => memtable.freezeDue(), RangeError);
  assert.equal(memtable.doneThrough(), 5);
  memtable.restore([first]);
  assert.equal(memtable.doneThrough(), 4);
  Object.defineProperty(columns, 'texts', { value: undefined, writable: true });
  assert.deepEqual(memtable.freezeDue(), [first, second]);
  assert.deepEqual(
    [...memtable.weights()],
    [
      [1, 3],
      [2, 4],
    ],
  );
});
