import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceId, noon, sensorId } from '../../../../test/contract/storage/builders.ts';
import { type ColumnBatch, toColumnBatch } from '../../../domain/datapoints/column-batch.ts';
import { silentReporter } from '../../../domain/reporter.ts';
import { silentLog } from '../../../lib/log.ts';
import { createDamagedRows } from '../../faults.ts';
import { type DatapointLimits, datapointLimits } from './datapoint-limits.ts';
import { createMemtable, type Memtable } from './memtable.ts';
import { appendRows } from './memtable-columns.ts';
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

const memtableOf = (limits: DatapointLimits): Memtable =>
  createMemtable(limits, {
    find: () => undefined,
    damaged: createDamagedRows({ log: silentLog, reporter: silentReporter }),
  });

function add(memtable: Memtable, series: Series, batch: ColumnBatch, row: number): void {
  appendRows(series.memtableEntry.columns, batch, 0, batch.count);
  memtable.keep(series, batch, row, batch.count);
}

const many = (count: number): ColumnBatch =>
  toColumnBatch(Array.from({ length: count }, (_, value) => ({ value, receivedAt: noon })));
/** More than one step takes, so that some of it stays behind in each. */
const tooMany = Math.ceil((3 * datapointLimits.flushBytesPerStep) / 32);

test('a failed step lets no log row go that an older sensor still needs', () => {
  const memtable = memtableOf(datapointLimits);
  const [older, longer] = [seriesOf(1), seriesOf(2)];
  add(memtable, older, many(1), 5);
  add(memtable, longer, many(tooMany), 100);
  const picked = memtable.freezeDue();
  assert.deepEqual(picked, [longer]);
  assert.equal(memtable.doneThrough(), 4);
  memtable.restore(picked);
  assert.equal(longer.memtableEntry.count, tooMany);
  assert.deepEqual(memtable.freezeDue(), [longer]);
  assert.equal(memtable.doneThrough(), 4);
});

test('a rest makes all due until something arrives, unless it is little for each sensor', () => {
  const memtable = memtableOf({
    ...datapointLimits,
    memtableEntryBytes: 0,
    restBytesMin: 8 * 32,
    restEntryBytesMin: 4 * 32,
  });
  const [first, second, third] = [seriesOf(1), seriesOf(2), seriesOf(3)];
  add(memtable, first, many(7), 1);
  memtable.rest();
  assert.equal(memtable.isDue(), false);
  add(memtable, second, many(1), 2);
  memtable.rest();
  assert.equal(memtable.isDue(), true);
  add(memtable, third, many(1), 3);
  assert.equal(memtable.isDue(), false);
  memtable.rest();
  assert.equal(memtable.isDue(), false, 'nine for three sensors');
  add(memtable, third, many(3), 4);
  memtable.rest();
  assert.deepEqual(memtable.freezeDue(), [first, second, third]);
  assert.equal(memtable.isDue(), false);
  assert.equal(memtable.doneThrough(), 4);
});

test('what is due is urgent once half of the room is taken, or much is of one sensor', () => {
  const limits = { ...datapointLimits, memtableEntryBytes: 0, memtableEntryBytesMax: 10 * 32 };
  const [first, second] = [seriesOf(1), seriesOf(2)];
  const crowded = memtableOf(limits);
  add(crowded, first, many(39), 1);
  assert.deepEqual([crowded.isDue(), crowded.isUrgent()], [true, false]);
  add(crowded, first, many(1), 2);
  assert.equal(crowded.isUrgent(), true);
  for (const half of [{ memtableBytesMax: 60 * 32 }, { logBytesMax: 60 * 32 }]) {
    const memtable = memtableOf({ ...limits, ...half });
    add(memtable, second, many(30), 1);
    assert.deepEqual([memtable.isDue(), memtable.isUrgent()], [true, false]);
    add(memtable, seriesOf(3), many(1), 2);
    assert.equal(memtable.isUrgent(), true);
    memtable.drop(second);
  }
});
