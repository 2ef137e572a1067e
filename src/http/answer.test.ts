import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import Fastify from 'fastify';
import { payerAt } from '../domain/budgets/budget.ts';
import { DomainError } from '../domain/errors.ts';
import { currentPayer, keepPayers } from '../lib/paid-work.ts';
import { type Answer, jsonType, send, written } from './answer.ts';
import type { AnswerBudget, Chunks } from './answer-budget.ts';
import { createCompressor } from './compression.ts';

keepPayers();

/** A budget of so many bytes for each answer. */
const roomFor = (bytesMax: number): AnswerBudget => ({
  askedBy: () => undefined,
  reserve: () => () => undefined,
  identify: async () => payerAt('127.0.0.1'),
  payerOf: () => payerAt('127.0.0.1'),
  hold(_answer, bytes) {
    if (bytes > bytesMax) throw new DomainError('rate_limited', 'no room');
  },
  stream(answer, chunks) {
    this.hold(answer, bytesMax + 1);
    return Readable.from(chunks);
  },
});

/** Chunks that record whether their reader let go of them. */
function chunksOf(count: number) {
  const state = { isOpen: false };
  async function* chunks(): AsyncGenerator<string> {
    state.isOpen = true;
    try {
      for (let at = 0; at < count; at += 1) yield 'x'.repeat(10_000);
    } finally {
      state.isOpen = false;
    }
  }
  return { state, chunks: chunks() };
}

const compressor = createCompressor(1);
const read = { ifNoneMatch: undefined, isHead: false, compressor };

for (const encoding of [undefined, 'gzip'] as const) {
  // Refused while its beginning is read, or when the rest of it is to be streamed.
  for (const bytesMax of [50_000, 10_000_000]) {
    test(`an answer refused at ${bytesMax} lets go of what it read: ${encoding}`, async () => {
      const { state, chunks } = chunksOf(100);
      const answer: Answer = written(jsonType, chunks);
      await using fastify = Fastify();
      const room = roomFor(bytesMax);
      fastify.get('/', (_request, reply) => {
        try {
          const sent = send(answer, undefined, reply, { room, read: { ...read, encoding } });
          if (typeof sent !== 'number') sent.whole.catch((error) => reply.send(error));
        } catch (error) {
          reply.send(error);
        }
      });
      const address = await fastify.listen({ host: '127.0.0.1', port: 0 });
      const { status } = await fetch(address);
      assert.equal(status, 500);
      assert.equal(state.isOpen, false);
      // The one place of the compressor is free again.
      const compressed = compressor.stream(Readable.from(['x']), 'gzip');
      assert.ok(compressed);
      await compressed.resume().toArray();
    });
  }
}

test('what is read while an answer is written is paid for by who asked', async () => {
  const payers = new Set<string | undefined>();
  async function* chunks(): AsyncGenerator<string> {
    for (let at = 0; at < 100; at += 1) {
      payers.add(currentPayer());
      yield 'x'.repeat(10_000);
    }
  }
  await using fastify = Fastify();
  fastify.get('/', (_request, reply) => {
    const room = {
      ...roomFor(10_000_000),
      stream: (_: unknown, all: Chunks) => Readable.from(all),
    };
    void send(written(jsonType, chunks()), undefined, reply, { room });
  });
  const address = await fastify.listen({ host: '127.0.0.1', port: 0 });
  assert.equal((await (await fetch(address)).text()).length, 1_000_000);
  assert.deepEqual(payers, new Set([payerAt('127.0.0.1')]));
});
