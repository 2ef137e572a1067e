import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toColumnBatch, toDatapoints } from '../../../domain/datapoints/column-batch.ts';
import { decodeHot, toHotRows } from './hot-rows.ts';

const datapoint = fc.record(
  {
    value: fc.oneof(fc.integer(), fc.string()),
    timestamp: fc.integer({ min: -8.64e15, max: 8.64e15 }),
    receivedAt: fc.integer({ min: 0, max: 8.64e15 }),
  },
  { requiredKeys: ['value', 'receivedAt'] },
);

test('what one commit brings of a sensor is as few rows as their limit allows, in order', () => {
  const batches = fc.array(fc.array(datapoint, { minLength: 1, maxLength: 9 }));
  fc.assert(
    fc.property(batches, fc.integer({ min: 1, max: 8 }), fc.nat(), (given, max, ordinal) => {
      const key = { bucket: 3, series: 7 };
      const rows = [...toHotRows(key, ordinal, given.map(toColumnBatch), max)];
      const all = given.flat();
      assert.deepEqual(
        rows.flatMap(({ points }) => toDatapoints(decodeHot(points))),
        toDatapoints(toColumnBatch(all)),
      );
      assert.equal(rows.length, Math.ceil(all.length / max));
      let at = 0;
      for (const row of rows) {
        const times = all
          .slice(at, at + row.count)
          .map(({ timestamp, receivedAt }) => timestamp ?? receivedAt);
        assert.deepEqual([row.bucket, row.series, row.ordinal], [3, 7, ordinal + at]);
        assert.deepEqual([row.minTime, row.maxTime], [Math.min(...times), Math.max(...times)]);
        at += row.count;
      }
      assert.equal(at, all.length);
    }),
  );
});
