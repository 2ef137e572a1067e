// In a process of its own: it changes the clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Transport } from '../broker.ts';
import { createFlusher, PacketWriter } from './packet-writer.ts';

test('answers to many clients leave in slices of the event loop, in their order', async (t) => {
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  const flusher = createFlusher();
  const sent: string[] = [];
  const writers = Array.from({ length: 40 }, () => {
    const write = (bytes: Uint8Array): void => {
      now += 1;
      sent.push(Buffer.from(bytes).toString());
    };
    return new PacketWriter({ write, bufferedBytes: 0 } as unknown as Transport, flusher);
  });
  for (const [at, writer] of writers.entries()) writer.write(Buffer.from(`${at}`));
  await turn();
  assert.ok(sent.length < 6, `${sent.length} in one turn`);
  // What is added to a writer that waits leaves with the rest.
  writers[39]?.write(Buffer.from('!'));
  writers[0]?.write(Buffer.from('again'));
  for (let turns = 0; turns < 40; turns += 1) await turn();
  const expected = writers.map((_, at) => (at === 39 ? '39!' : `${at}`));
  assert.deepEqual(sent, [...expected, 'again']);
});

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
