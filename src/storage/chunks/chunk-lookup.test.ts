import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlockHead } from './chunk-head.ts';
import { createChunkLookup } from './chunk-lookup.ts';
import { toColumns } from './columns.ts';

const timestamp = 1_000;

test('where one timestamp fills many chunks, only the last of them are searched', () => {
  const heads = Array.from({ length: 10 }, (_, chunk): BlockHead => {
    const times = { minTime: timestamp, maxTime: timestamp };
    return { chunk, index: 0, block: { ...times, count: 1, bytes: Buffer.from(''), version: 2 } };
  });
  const decoded: number[] = [];
  const lookup = createChunkLookup(
    () => heads,
    ({ chunk }) => {
      decoded.push(chunk);
      return toColumns([{ value: chunk, timestamp, receivedAt: timestamp }]);
    },
    3,
  );
  assert.deepEqual([...lookup.valuesAt(timestamp)], ['7', '8', '9']);
  assert.deepEqual(decoded, [7, 8, 9]);
});
