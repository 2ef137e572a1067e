import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import { toColumnBatch, toDatapoints } from '../datapoints/column-batch.ts';
import type { StoredPush } from '../datapoints/feed.ts';
import { parseDeviceId, parseSensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { longBatchOf, longOrder, rowsByTime } from './push-evaluations.ts';
import { inOrderOfTime } from './rule-evaluation.ts';

/** What a generator answers, and how often it paused. */
function finished<Answer>(steps: Generator<void, Answer>): readonly [Answer, number] {
  for (let pauses = 0; ; pauses += 1) {
    const step = steps.next();
    if (step.done === true) return [step.value, pauses];
  }
}

test('times are put in order as toSorted does, equal ones as they stand', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 100 }), (list) => {
      const [rows] = finished(rowsByTime(Float64Array.from(list)));
      const places = [...list.keys()];
      const expected = places.toSorted((a, b) => (list[a] ?? 0) - (list[b] ?? 0));
      assert.deepEqual(rows === undefined ? places : [...rows], expected);
    }),
  );
});

test('of a long push in any order, others have their turn and rules see the same', async () => {
  const count = limits.datapointsPerTurn + 5;
  const batch = toColumnBatch(
    Array.from({ length: count }, (_, at) => ({
      ...{ value: at % 7 === 0 ? 'text' : at, receivedAt: 5_000 },
      ...(at % 5 > 0 && { timestamp: (at * 7_919) % 10_007 }),
    })),
  );
  assert.ok(finished(rowsByTime(batch.times))[1] >= 10);
  const push: StoredPush = {
    ...{ deviceId: parseDeviceId('d'), sensorId: parseSensorId('s') },
    batch,
    get datapoints(): never {
      throw new Error('all of them are made at once');
    },
  };
  const long = longBatchOf(push) ?? assert.fail('it is a short one');
  const order = await longOrder(long, createFairSlices({ turnMs: 1 }).paceOf('ann'));
  const seen = Array.from({ length: order.count }, (_, place) => order.at(place));
  assert.deepEqual(seen, inOrderOfTime(toDatapoints(batch)));
});
