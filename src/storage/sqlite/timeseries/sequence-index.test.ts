import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBatchBuilder } from '../../../domain/datapoints/column-batch.ts';
import type { JsonValue } from '../../../lib/json.ts';
import { appendRows, noRows } from './memtable-columns.ts';
import { SequenceIndex } from './sequence-index.ts';

const timestamp = fc.oneof(
  fc.nat({ max: 5 }),
  fc.integer({ min: 0, max: 2_000 }).map((n) => n * 60_000),
  fc.constantFrom(-0, -62_167_219_200_000, 0.5),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.nat({ max: 3 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom<JsonValue>(-0, 0, '0', null, true, 'é', '', [1], 5e-324),
  fc.string({ maxLength: 4 }),
);
const datapoint = fc.tuple(fc.option(timestamp, { nil: undefined, freq: 8 }), value);

const keyOf = (at: number, one: JsonValue): string => `${at + 0} ${JSON.stringify(one)}`;

test('an index finds what a map of timestamps and values finds', () => {
  const looksFor = fc.array(fc.tuple(timestamp, value), { maxLength: 20 });
  fc.assert(
    fc.property(
      fc.array(datapoint, { maxLength: 300 }),
      looksFor,
      fc.nat({ max: 100 }),
      (all, others, base) => {
        const builder = createBatchBuilder(all.length);
        for (const [at, one] of all) builder.put(one, at, 7);
        const batch = builder.finish();
        const columns = noRows();
        appendRows(columns, batch, 0, batch.count);
        const index = new SequenceIndex(base, 0, (count) => ({ columns, row: count - base }));
        const expected = new Map<string, number>();
        all.forEach(([at, one], row) => {
          index.add(base + row);
          if (at === undefined || expected.has(keyOf(at, one))) return;
          expected.set(keyOf(at, one), base + row);
        });
        const asked = all.flatMap(([at, one]) => (at === undefined ? [] : [[at, one] as const]));
        for (const [at, one] of [...asked, ...others]) {
          const found = index.find(at, typeof one === 'number' ? one : JSON.stringify(one));
          assert.equal(found, expected.get(keyOf(at, one)));
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('many values of one timestamp are found in a few looks each', () => {
  const count = 100_000;
  const builder = createBatchBuilder(count);
  for (let n = 0; n < count; n += 1) builder.put(n, 1, 7);
  const batch = builder.finish();
  const columns = noRows();
  appendRows(columns, batch, 0, count);
  let looks = 0;
  const index = new SequenceIndex(0, count, (row) => {
    looks += 1;
    return { columns, row };
  });
  for (let n = 0; n < count; n += 1) index.add(n);
  looks = 0;
  for (let n = 0; n < count; n += 1) assert.equal(index.find(1, n), n);
  assert.ok(looks < count * 8, `${looks} looks for ${count}`);
});

test('datapoints in order of time are found in one table, however many there are', () => {
  const count = 100_000;
  const builder = createBatchBuilder(count);
  for (let n = 0; n < count; n += 1) builder.put(n, n, 7);
  const columns = noRows();
  appendRows(columns, builder.finish(), 0, count);
  let looks = 0;
  const index = new SequenceIndex(0, 0, (row) => {
    looks += 1;
    return { columns, row };
  });
  // Adding one reads that one: no table is copied, so a thousand sensors may grow in one batch.
  for (let n = 0; n < count; n += 1) index.add(n);
  assert.equal(looks, count);
  looks = 0;
  for (let n = 0; n < count; n += 1) assert.equal(index.find(n, n), n);
  assert.ok(looks < count * 2, `${looks} looks for ${count}`);
});

test('datapoints are found among many without a timestamp', () => {
  const count = 200_000;
  const builder = createBatchBuilder(count);
  for (let n = 0; n < count; n += 1) builder.put(n, n % 50_000 === 0 ? n : undefined, 7);
  const columns = noRows();
  appendRows(columns, builder.finish(), 0, count);
  const index = new SequenceIndex(0, 0, (row) => ({ columns, row }));
  for (let n = 0; n < count; n += 1) index.add(n);
  for (let n = 0; n < count; n += 50_000) assert.equal(index.find(n, n), n);
  assert.equal(index.find(50_000, 1), undefined);
});
