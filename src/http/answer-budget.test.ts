import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import Fastify from 'fastify';
import { guest } from '../domain/actor.ts';
import { createBudgets } from '../domain/budgets/budgets.ts';
import type { DomainError } from '../domain/errors.ts';
import { createAnswerBudget } from './answer-budget.ts';
import { createClients } from './authentication.ts';

/** A service with a budget of so many bytes of answers; `dial` opens a connection to it. */
async function startServer(context: TestContext, total: number) {
  const fastify = Fastify({ bodyLimit: 16_777_216 });
  const budget = createBudgets({ answer_bytes: total }).of('answer_bytes');
  const answers = createAnswerBudget(fastify, {
    ...{ budget, clients: createClients(() => false), unreadMs: 60_000 },
    authenticate: async () => guest,
  });
  const dialled: Socket[] = [];
  const dial = () => {
    const { port } = fastify.server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    dialled.push(socket);
    return socket;
  };
  context.after(() => {
    for (const socket of dialled) socket.destroy();
    return fastify.close();
  });
  return { fastify, budget, answers, dial };
}

test('answers that nobody reads take no more than their budget', async (context) => {
  const total = 4 * 1_048_576;
  const { fastify, budget, answers, dial } = await startServer(context, total);
  const statuses: number[] = [];
  fastify.get('/', (_request, reply) => {
    async function* chunks() {
      for (;;) yield 'x'.repeat(262_144);
    }
    return reply.send(answers.stream(reply.raw, chunks()));
  });
  fastify.setErrorHandler<DomainError>(({ code }, _request, reply) =>
    reply.code(code === 'rate_limited' ? 429 : 500).send(code),
  );
  fastify.addHook('onSend', async (_request, { statusCode }) => {
    statuses.push(statusCode);
  });
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  for (let asked = 1; asked <= 60; asked += 1) {
    dial().pause().write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    while (statuses.length < asked) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(statuses.includes(429), 'all of them have an answer that waits');
  assert.ok(
    statuses.every((status) => status === 200 || status === 429),
    statuses.join(),
  );
  assert.ok(budget.used > 0 && budget.used <= total, `${budget.used} bytes are held`);
});

test('a body in chunks of a byte ends its connection', async (context) => {
  const { fastify, dial } = await startServer(context, 4 * 1_048_576);
  fastify.post('/', async () => 'stored');
  await fastify.listen({ port: 0, host: '127.0.0.1' });
  const answerTo = async (chunk: string, count: number): Promise<string> => {
    const socket = dial();
    let heard = '';
    socket.on('data', (bytes) => {
      heard += bytes;
    });
    const head =
      'POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: text/plain\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n';
    const coded = `${chunk.length.toString(16)}\r\n${chunk}\r\n`;
    socket.write(`${head}${coded.repeat(count)}0\r\n\r\n`);
    await once(socket, 'close');
    return heard.slice(0, 12);
  };
  assert.equal(await answerTo('x', 1_000), 'HTTP/1.1 200');
  assert.equal(await answerTo('x', 1_300), '', 'it is read to its end');
  assert.equal(await answerTo('x'.repeat(8), 10_000), 'HTTP/1.1 200');
});
