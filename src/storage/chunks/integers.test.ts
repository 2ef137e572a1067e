import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createSink, createSource, integerMax, putBytes, writtenBytes } from './bytes.ts';
import { putIntegers, takeIntegers } from './integers.ts';

/** Often those at the ends: their differences, and the changes of these, are the largest. */
const integer = fc.oneof(
  fc.constantFrom(integerMax, -integerMax, integerMax - 1, Math.floor(integerMax / 3), 0, 1, -1),
  fc.integer({ min: -integerMax, max: integerMax }),
  fc.integer({ min: -1_000, max: 1_000 }),
);

const column = (length: number) =>
  fc
    .array(integer, { minLength: length, maxLength: length })
    .map((some) => Float64Array.from(some));

const columns = fc
  .integer({ min: 1, max: 40 })
  .chain((length) => fc.tuple(column(length), fc.option(column(length), { nil: undefined })));

test('integers up to the largest come back, however far apart, with a column beside or not', () => {
  fc.assert(
    fc.property(columns, ([integers, beside]) => {
      const sink = createSink(64);
      putIntegers(sink, integers, beside);
      // Packed bits are read four bytes at a time.
      putBytes(sink, Buffer.alloc(4));
      const source = createSource(writtenBytes(sink));
      assert.deepEqual([...takeIntegers(source, integers.length, beside)], [...integers]);
    }),
    { numRuns: 2_000 },
  );
});
