import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  singleBatch,
  sliceBatch,
  toColumnBatch,
  toDatapoints,
  weigh,
  weightOfBatch,
  withReceipts,
} from './column-batch.ts';

test('pushes of one millisecond have what is theirs, and moving one leaves the others', () => {
  const pushes = [
    singleBatch(1, 500, 1_000),
    singleBatch('two', undefined, 1_000),
    singleBatch(3, undefined, 1_001),
    singleBatch(4, 500, 1_000),
  ];
  const expected = [
    { value: 1, timestamp: 500, receivedAt: 1_000 },
    { value: 'two', receivedAt: 1_000 },
    { value: 3, receivedAt: 1_001 },
    { value: 4, timestamp: 500, receivedAt: 1_000 },
  ];
  assert.deepEqual(pushes.flatMap(toDatapoints), expected);
  const [, second] = pushes;
  const moved =
    second &&
    withReceipts(
      second,
      second.received.map((at) => at + 7),
    );
  assert.deepEqual(moved && toDatapoints(moved), [{ value: 'two', receivedAt: 1_007 }]);
  assert.deepEqual(pushes.flatMap(toDatapoints), expected);
});

test('a batch that was put together knows what its datapoints weigh', () => {
  const aValue = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.string({ maxLength: 100 }),
    fc.constant(null),
  );
  fc.assert(
    fc.property(fc.array(aValue), (values) => {
      const batch = toColumnBatch(values.map((value) => ({ value, receivedAt: 1 })));
      const { weight: _, ...unweighed } = batch;
      assert.equal(weightOfBatch(batch), weightOfBatch(unweighed));
      const half = sliceBatch(batch, 0, values.length >> 1);
      const alone = toDatapoints(half).reduce((sum, datapoint) => sum + weigh(datapoint), 0);
      assert.equal(weightOfBatch(half), alone);
    }),
  );
});
