import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BlockHead, ChunkHead } from './chunk.ts';
import { createChunkLookup } from './chunk-lookup.ts';
import { toColumns } from './columns.ts';

const timestamp = 1_000;

/** A series of chunks with these times, two to a block, and what was read of it. */
function aSeries(...chunks: (readonly number[])[]) {
  const opened: number[] = [];
  const decoded: number[] = [];
  const timesIn = ({ chunk, index }: BlockHead) =>
    (chunks[chunk] ?? []).slice(index * 2, index * 2 + 2);
  const ends = (times: readonly number[]) => ({
    minTime: times[0] ?? 0,
    maxTime: times.at(-1) ?? 0,
    count: times.length,
  });
  const lookup = createChunkLookup(
    {
      chunksFrom: (from) =>
        chunks
          .map((times, id): ChunkHead => ({ id, ...ends(times) }))
          .filter(({ maxTime }) => maxTime >= from),
      blocksOf(chunk) {
        opened.push(chunk.id);
        const times = chunks[chunk.id] ?? [];
        return Array.from({ length: Math.ceil(times.length / 2) }, (_, index): BlockHead => {
          const block = ends(times.slice(index * 2, index * 2 + 2));
          return {
            chunk: chunk.id,
            index,
            block: { ...block, bytes: Buffer.from('') },
          };
        });
      },
      columnsOf(head) {
        decoded.push(head.chunk);
        return toColumns(
          timesIn(head).map((timestamp) => ({
            value: head.chunk,
            timestamp,
            receivedAt: timestamp,
          })),
        );
      },
    },
    3,
  );
  return { lookup, opened, decoded };
}

test('where one timestamp fills many chunks, only the last of them are searched', () => {
  const { lookup, opened, decoded } = aSeries(...Array.from({ length: 10 }, () => [timestamp]));
  assert.deepEqual([...lookup.valuesAt(timestamp)], ['7', '8', '9']);
  assert.deepEqual(opened, [7, 8, 9]);
  assert.deepEqual(decoded, [7, 8, 9]);
});

test('in a gap between chunks no chunk is opened, in one between blocks none decoded', () => {
  const { lookup, opened, decoded } = aSeries([10, 20], [50, 60, 80, 90], [100]);
  for (const inGap of [30, 35, 49, 95]) assert.deepEqual([...lookup.valuesAt(inGap)], []);
  assert.deepEqual([opened, decoded], [[], []]);
  assert.deepEqual([...lookup.valuesAt(70)], []);
  assert.deepEqual([opened, decoded], [[1], []]);
});

test('values are found wherever their chunk begins and ends, in any order', () => {
  const all = [[10, 20], [20, 30, 30, 40], [40], [40, 60]];
  for (let first = 5; first <= 65; first += 5) {
    for (let second = 5; second <= 65; second += 5) {
      const { lookup } = aSeries(...all);
      for (const time of [first, second]) {
        const expected = all.flatMap((times, chunk) => (times.includes(time) ? [`${chunk}`] : []));
        assert.deepEqual([...lookup.valuesAt(time)], expected, `${time} after ${first}`);
        const { after, before } = lookup.gap() ?? { after: 0, before: 0 };
        const inGap = all.flat().filter((stored) => stored > after && stored < before);
        assert.deepEqual(inGap, [], `${time} after ${first}: ${after} to ${before}`);
        assert.equal(before > time, expected.length === 0);
      }
    }
  }
});
