import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  type ColumnBatch,
  toColumnBatch,
  toDatapoints,
} from '../../../domain/datapoints/column-batch.ts';
import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import {
  appendRows,
  dropTail,
  joinRows,
  type MemtableColumns,
  noRows,
  rowsWithin,
  splitRows,
  timeAt,
  viewRows,
} from './memtable-columns.ts';

const value = fc.oneof(
  { weight: 4, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  fc.string(),
);
const kind = (isTimed: fc.Arbitrary<boolean>): fc.Arbitrary<Datapoint> =>
  fc
    .tuple(value, isTimed, fc.nat(), fc.nat())
    .map(([one, keeps, timestamp, receivedAt]) =>
      keeps ? { value: one, timestamp, receivedAt } : { value: one, receivedAt },
    );
const datapoints = fc.oneof(
  fc.array(kind(fc.boolean()), { maxLength: 40 }),
  fc.array(kind(fc.constant(true)), { maxLength: 40 }),
  fc.array(kind(fc.constant(false)), { maxLength: 40 }),
);
const step = fc.oneof(
  datapoints.map((added) => ({ added })),
  fc.nat({ max: 60 }).map((left) => ({ left })),
  fc.nat({ max: 60 }).map((head) => ({ head })),
  fc.nat({ max: 60 }).map((seam) => ({ seam })),
);

const shown = (batch: ColumnBatch): string => JSON.stringify(toDatapoints(batch));
const all = (columns: MemtableColumns): string => shown(viewRows(columns, 0, columns.count));

test('columns that grow, are cut and are joined hold what a list would', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let columns = noRows();
      let list: Datapoint[] = [];
      /** What was handed out, which nothing may change, and what it held. */
      const handedOut: { readonly view: ColumnBatch; readonly was: string }[] = [];
      for (const one of steps) {
        if ('added' in one) {
          appendRows(columns, toColumnBatch(one.added), 0, one.added.length);
          list.push(...one.added);
        } else if ('left' in one) {
          const left = Math.min(one.left, list.length);
          handedOut.length = 0;
          dropTail(columns, left);
          list = list.slice(0, left);
        } else if ('head' in one) {
          const [head, rest] = splitRows(columns, Math.min(one.head, list.length));
          assert.equal(all(head), JSON.stringify(list.slice(0, head.count)));
          handedOut.push({ view: viewRows(head, 0, head.count), was: all(head) });
          columns = rest;
          list = list.slice(head.count);
        } else {
          const [head, rest] = splitRows(columns, Math.min(one.seam, list.length));
          appendRows(rest, toColumnBatch(list), 0, list.length);
          list = [...list, ...list];
          columns = joinRows(head, rest);
        }
        assert.equal(all(columns), JSON.stringify(list));
        for (const [row, { timestamp, receivedAt }] of list.entries()) {
          assert.equal(timeAt(columns, row), timestamp ?? receivedAt);
        }
        const half = viewRows(columns, list.length >> 1, list.length);
        assert.equal(shown(half), JSON.stringify(list.slice(list.length >> 1)));
        handedOut.push({ view: half, was: shown(half) });
        for (const { view, was } of handedOut) assert.equal(shown(view), was);
      }
    }),
  );
});

test('a step takes at least one datapoint, and no more than its bytes', () => {
  const columns = noRows();
  appendRows(columns, toColumnBatch([{ value: 'x'.repeat(500), receivedAt: 0 }]), 0, 1);
  const numbers = Array.from({ length: 9 }, (_, n) => ({ value: n, receivedAt: 0 }));
  appendRows(columns, toColumnBatch(numbers), 0, 9);
  assert.equal(rowsWithin(columns, 10, 100), 1);
  assert.equal(rowsWithin(columns, 10, 32 + 40 + 2 * 502 + 2 * 32), 3);
  assert.equal(rowsWithin(columns, 4, 1_000_000), 4);
});
