import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BulkRow, BulkStep } from '../domain/datapoints/bulk-step.ts';
import { limits } from '../domain/limits.ts';
import { v2Spelling } from '../wire/spelling.ts';
import { createLineSplitter } from './body-elements.ts';
import { createBulkElementReader, feedBulk } from './bulk-feed.ts';

/** Feeds these pieces of lines at a pace whose slices are over at once; counts the slices. */
async function feed(pieces: readonly (string | Uint8Array)[]) {
  const count = { rests: 0, arrivals: 0 };
  const steps: BulkStep[] = [];
  const read = createBulkElementReader(v2Spelling);
  await feedBulk({
    pieces: (async function* () {
      for (const piece of pieces) yield Buffer.from(piece);
    })(),
    splitter: createLineSplitter(limits.bulkLineBytesMax),
    read,
    handOver: async (step) => void steps.push(step),
    work: {
      arrive() {
        count.arrivals += 1;
        return undefined;
      },
      pace: {
        isOver: () => true,
        async rest() {
          count.rests += 1;
        },
        begin: () => undefined,
      },
    },
  });
  return { ...count, lines: steps.flatMap(({ others }) => others) };
}

test('the lines of one piece take turns, whatever they hold', async () => {
  const { rests, lines } = await feed(['x\n'.repeat(3_200)]);
  assert.equal(lines.length, 3_200);
  assert.ok(rests >= 100, `${rests} turns`);
});

test('each piece waits for its turn', async () => {
  const { arrivals } = await feed(['x\n', 'x\nx', '\n']);
  assert.equal(arrivals, 3);
});

test('the refusal of a line has no stack trace, which would cost more than all else', async () => {
  const { lines } = await feed(['x\n{"device_id": 7}\n{}\n']);
  for (const line of lines) {
    assert.ok('refusal' in line, 'a broken line was taken');
    assert.doesNotMatch(line.refusal.stack ?? '', /\n\s+at /);
  }
  assert.match(new Error('another one').stack ?? '', /\n\s+at /);
});

test('a byte order mark before a body is no part of its first line, however cut', async () => {
  const mark = Buffer.from('\u{feff}');
  const cuts = [
    [mark],
    [mark.subarray(0, 1), mark.subarray(1)],
    [mark.subarray(0, 2), mark.subarray(2)],
  ];
  for (const pieces of cuts) {
    const { lines } = await feed([...pieces, '{}\n', '{}\n']);
    assert.deepEqual(lines.map(refusalOf), [refusalOf(lines[1]), refusalOf(lines[1])]);
  }
  const { lines } = await feed([mark.subarray(0, 2)]);
  assert.match(refusalOf(lines[0]) ?? '', /not valid UTF-8/);
});

const refusalOf = (line: BulkRow | undefined): string | undefined =>
  line !== undefined && 'refusal' in line ? line.refusal.message : undefined;
