import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readZip } from '../../test/zip-reader.ts';
import { type ZipEntry, zipped } from './zip.ts';

async function* inPieces(pieces: readonly string[]): AsyncGenerator<string> {
  yield* pieces;
}

async function* entriesOf(
  files: readonly (readonly [name: string, pieces: readonly string[]])[],
): AsyncGenerator<ZipEntry> {
  for (const [name, pieces] of files) yield { name, chunks: inPieces(pieces) };
}

async function bytesOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const chunk of chunks) pieces.push(chunk);
  return Buffer.concat(pieces);
}

test('every file comes out of the archive as it went in', async () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 200 });
  const name = text.filter((one) => !/[/\\]/.test(one));
  const files = fc.uniqueArray(fc.tuple(name, fc.array(text)), { selector: ([one]) => one });
  await fc.assert(
    fc.asyncProperty(files, async (given) => {
      const read = readZip(await bytesOf(zipped(entriesOf(given))));
      assert.deepEqual(
        [...read],
        given.map(([name, pieces]) => [name, pieces.join('')]),
      );
    }),
    { numRuns: 50 },
  );
});

test('no name leads out of the folder that an archive is unpacked into', async () => {
  const names = ['../../../evil', '..\\evil', '/evil'];
  const read = readZip(await bytesOf(zipped(entriesOf(names.map((name) => [name, []])))));
  assert.deepEqual([...read.keys()], ['.._.._.._evil', '.._evil', '_evil']);
});

test('megabytes pass through in pieces', async () => {
  const pieces = Array.from({ length: 400 }, (_, n) => `${n},`.repeat(2_000));
  const files = [
    ['a.csv', pieces],
    ['b.csv', ['end']],
  ] as const;
  const read = readZip(await bytesOf(zipped(entriesOf(files))));
  assert.equal(read.get('a.csv'), pieces.join(''));
  assert.equal(read.get('b.csv'), 'end');
});

test('a source that fails ends the archive with its reason', async () => {
  async function* failing(): AsyncGenerator<string> {
    yield 'good';
    throw new Error('the disk is gone');
  }
  async function* entries(): AsyncGenerator<ZipEntry> {
    yield { name: 'a.csv', chunks: failing() };
  }
  await assert.rejects(bytesOf(zipped(entries())), /the disk is gone/);
});

test('who leaves in the middle ends the sources too', async () => {
  let isEnded = false;
  async function* endless(): AsyncGenerator<string> {
    try {
      for (let n = 0; ; n += 1) yield String(n).repeat(10_000);
    } finally {
      isEnded = true;
    }
  }
  async function* entries(): AsyncGenerator<ZipEntry> {
    yield { name: 'a.csv', chunks: endless() };
  }
  let taken = 0;
  for await (const piece of zipped(entries())) {
    taken += piece.length;
    if (taken > 10_000) break;
  }
  assert.ok(isEnded);
});
