import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import Fastify from 'fastify';
import { createBudgets } from '../domain/budgets/budgets.ts';
import type { FairSlices } from '../lib/scheduling/fair-slices.ts';
import { createAnswerBudget } from './answer-budget.ts';
import { createClients } from './clients.ts';

test('a read that waited for the answer before it begins in a slice', async (context) => {
  const waiting: (() => void)[] = [];
  const turns: Pick<FairSlices, 'enter'> = {
    enter: () => new Promise((resolve) => void waiting.push(resolve)),
  };
  const fastify = Fastify();
  createAnswerBudget(fastify, {
    budget: createBudgets().of('answer_bytes'),
    clients: createClients(() => false),
    // Only `enter` is asked for.
    turns: turns as FairSlices,
    unreadMs: 10_000,
  });
  let begun = 0;
  fastify.get('/', async () => {
    begun += 1;
    return 'read';
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const { port } = fastify.server.address() as AddressInfo;
  const socket = connect({ port, host: '127.0.0.1' });
  context.after(() => {
    socket.destroy();
    return fastify.close();
  });
  let text = '';
  socket.on('data', (bytes) => {
    text += bytes;
  });
  const count = 10;
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(count));
  for (let answered = 1; answered < count; answered += 1) {
    while (waiting.length === 0 && begun < count) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.equal(begun, answered, 'reads began without a slice');
    waiting.shift()?.();
  }
  while (text.split('HTTP/1.1 200').length <= count) await once(socket, 'data');
});
