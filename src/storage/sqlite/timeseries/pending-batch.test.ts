import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceId, noon, sensorId } from '../../../../test/contract/storage/builders.ts';
import { push, sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import { runAtOnce } from '../../chunks/engine-work.ts';
import type { ChunkReader } from './chunk-reader.ts';
import { emptyMemtableEntry } from './memtable-columns.ts';
import { createPendingBatch, type Staging } from './pending-batch.ts';
import { nextSequenceNumber, type Series, type SeriesTable } from './series.ts';

const long: readonly Datapoint[] = Array.from({ length: 10_000 }, (_, value) => ({
  value,
  timestamp: noon + value,
  receivedAt: noon,
}));

const aSeries = (number: number): Series => ({
  number,
  deviceId: deviceId('d1'),
  sensorId: sensorId(`s${number}`),
  flushed: 1,
  frozen: undefined,
  memtableEntry: emptyMemtableEntry(),
  lastAt: undefined,
  last: undefined,
  newestTimestamp: noon + long.length,
  sequenceNumbers: undefined,
  gap: undefined,
  sorted: undefined,
  isForgotten: false,
});

test('many pushes that are not long are staged with other work in between', () => {
  const all = Array.from({ length: 10 }, (_, n) => ({ ...aSeries(n), newestTimestamp: 0 }));
  const table = {
    resolve: ({ sensorId: of }: { sensorId: string }) =>
      all.find(({ sensorId: one }) => one === of),
  } as unknown as SeriesTable;
  const chunks = {
    inSnapshot: <Result>(work: () => Result): Result => work(),
  } as unknown as ChunkReader;
  const pending = createPendingBatch(table, chunks, () => false);
  const staging: Staging = { pushes: [], received: undefined };
  const some = long.slice(0, 1_000);
  const batch = all.map(({ number }) => push(some, sensor('d1', `s${number}`)));
  assert.equal([...pending(batch, staging)].length, 3, 'other work ran in between');
  assert.equal(staging.pushes.length, 10);
});

test('what a series has in memory is listed in steps for a push that goes back in time', () => {
  const series = { ...aSeries(1), newestTimestamp: 0 };
  const table = { resolve: () => series } as unknown as SeriesTable;
  const chunks = {
    inSnapshot: <Result>(work: () => Result): Result => work(),
    createLookup: () => ({ valuesAt: () => new Set<string>(), gap: () => undefined }),
  } as unknown as ChunkReader;
  const pending = createPendingBatch(table, chunks, () => false);
  const steps = (given: readonly Datapoint[]) => {
    const staging: Staging = { pushes: [], received: undefined };
    const count = [...pending([push(given, sensor())], staging)].length;
    return [count, staging.pushes[0]?.push.batch.count ?? 0];
  };
  assert.deepEqual(steps(long), [4, 10_000]);
  const late = { value: -1, timestamp: noon + 5, receivedAt: noon };
  assert.deepEqual(steps([late]), [4, 1], 'listed in one piece');
  assert.deepEqual(steps([late, ...long.slice(3, 5)]), [0, 0]);
});

for (const how of ['atOnce', 'inSteps'] as const) {
  test(`a disk that fails half-way leaves nothing staged, ${how}`, () => {
    const series = aSeries(1);
    let lookUps = 0;
    const chunks = {
      inSnapshot: <Result>(work: () => Result): Result => work(),
      createLookup() {
        lookUps += 1;
        if (lookUps === 2) throw new Error('disk I/O error');
        return { valuesAt: () => new Set<string>(), gap: () => undefined };
      },
    } as unknown as ChunkReader;
    const table = { resolve: () => series } as unknown as SeriesTable;
    const pending = createPendingBatch(table, chunks, () => false);
    const stage = (staging: Staging) => {
      const work = pending([push(long, sensor())], staging);
      return how === 'atOnce' ? runAtOnce(work) : [...work];
    };
    const nothing = (): Staging => ({ pushes: [], received: undefined });
    assert.throws(() => stage(nothing()), /disk I\/O error/);
    assert.equal(nextSequenceNumber(series), 1);
    const staging = nothing();
    stage(staging);
    const [staged] = staging.pushes;
    assert.deepEqual([staged?.push.batch.count, staged?.push.sequenceNumber], [10_000, 1]);
  });
}
