import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toColumnBatch, toDatapoints } from '../../domain/datapoints/column-batch.ts';
import { type Datapoint, orderTime } from '../../domain/datapoints/datapoint.ts';
import { sortByTime } from './columns.ts';

const datapoint: fc.Arbitrary<Datapoint> = fc
  .record({
    value: fc.oneof(fc.nat(), fc.constantFrom('wet', null, 'x'.repeat(90))),
    time: fc.nat({ max: 12 }),
    isTimed: fc.boolean(),
  })
  .map(({ value, time, isTimed }) =>
    isTimed ? { value, timestamp: time, receivedAt: time + 3 } : { value, receivedAt: time },
  );
test('sorting keeps the order of arrival at the same time', () => {
  fc.assert(
    fc.property(fc.array(datapoint, { maxLength: 40 }), (datapoints) => {
      assert.deepEqual(
        toDatapoints(sortByTime(toColumnBatch(datapoints))),
        datapoints.toSorted((a, b) => orderTime(a) - orderTime(b)),
      );
    }),
  );
});
