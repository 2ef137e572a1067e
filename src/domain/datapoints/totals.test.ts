import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceId, sensorId } from '../../../test/contract/storage/builders.ts';
import { openTally, type Tally } from './aggregation.ts';
import { readTotals } from './bucket-page.ts';
import type { Source } from './sensor-selection.ts';

const hour = 3_600_000;
const plan = {
  aggregates: ['sum'],
  bucketOf: (time: number) => ({ start: time - (time % hour), end: time - (time % hour) + hour }),
} as const;

const sourceOf = (id: string): Source => ({
  ref: { deviceId: deviceId('d'), sensorId: sensorId(id) },
  sensor: { id: sensorId(id) },
});

function tallyAt(at: number, sum: number): Tally {
  const tally = openTally({ start: at * hour, end: (at + 1) * hour });
  return { ...tally, count: 1, numbers: 1, sum };
}

test('many totals are put in order in turns, and a page of them is answered', async () => {
  let rests = 0;
  const pace = {
    isOver: () => true,
    async rest() {
      rests += 1;
    },
    begin: () => undefined,
  };
  const count = 6_400;
  const held: number[] = [];
  const { buckets, total } = await readTotals({
    sources: [sourceOf('a'), sourceOf('b')],
    async *read() {
      // Backwards: their order is that of time all the same.
      const tallies = Array.from({ length: count }, (_, at) => tallyAt(count - 1 - at, 2));
      yield { made: tallies, skipped: 1 };
    },
    ...{ plan, pace, page: { order: 'desc', skip: 1, limit: 2 }, hold: (n) => held.push(n) },
  });
  assert.equal(total, count);
  assert.deepEqual(buckets, [
    { start: (count - 2) * hour, values: [4] },
    { start: (count - 3) * hour, values: [4] },
  ]);
  assert.ok(rests >= count / 64, `${rests} turns`);
  assert.ok(Math.max(...held) >= count * 200, `${Math.max(...held)} bytes were told`);
});
