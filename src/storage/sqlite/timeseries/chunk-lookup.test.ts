import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChunkHead } from '../../chunks/chunk-head.ts';
import { toColumns } from '../../chunks/columns.ts';
import { createChunkLookup } from './chunk-lookup.ts';

const timestamp = 1_000;

test('where one timestamp fills many chunks, only the last of them are searched', () => {
  const heads = Array.from({ length: 10 }, (_, id): ChunkHead => {
    return { id, minTime: timestamp, maxTime: timestamp, count: 1 };
  });
  const decoded: number[] = [];
  const lookup = createChunkLookup(
    () => heads,
    ({ id }) => {
      decoded.push(id);
      return toColumns([{ value: id, timestamp, receivedAt: timestamp }]);
    },
    3,
  );
  assert.deepEqual([...lookup.valuesAt(timestamp)], ['7', '8', '9']);
  assert.deepEqual(decoded, [7, 8, 9]);
});
