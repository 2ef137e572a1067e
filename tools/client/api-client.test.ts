import assert from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { createApiClient } from './api-client.ts';
import { clientLimits } from './client-limits.ts';

interface Scripted {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Hang up instead of answering. */
  readonly isBroken?: true;
}

/** A server that answers one scripted answer after the other, the last again and again. */
async function setUp(...answers: readonly Scripted[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    requests.push(request);
    if (answer === undefined || answer.isBroken === true) request.socket.destroy();
    else response.writeHead(answer.status, answer.headers ?? {}).end(answer.body ?? '');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const waits: number[] = [];
  const client = createApiClient({
    url: `http://127.0.0.1:${port}/`,
    wait: async (delayMs) => {
      waits.push(delayMs);
    },
    signal: new AbortController().signal,
    // In the middle of what chance makes of a pause.
    random: () => 0.5,
  });
  return {
    client,
    requests,
    waits,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const get = { method: 'GET', path: '/devices' } as const;

test('a busy service is asked again, when it says so or with growing pauses', async () => {
  await using busy = await setUp(
    { status: 503, headers: { 'retry-after': '7' } },
    { status: 429 },
    { status: 503, headers: { 'retry-after': '86400' } },
    { status: 200, body: '[]' },
  );
  assert.deepEqual((await busy.client.call(get)).json, []);
  assert.deepEqual(busy.waits, [7_000, 2 * clientLimits.firstPauseMs, clientLimits.pauseMs]);
});

test('a service that stays busy is given up after a bounded number of attempts', async () => {
  await using busy = await setUp({ status: 503, body: '{"description":"the disk is full"}' });
  await assert.rejects(busy.client.need(get, 200), /answered 503: the disk is full/);
  assert.equal(busy.requests.length, clientLimits.attemptsMax);
});

test('a service that goes away is waited for, if it was ever there', async () => {
  await using away = await setUp(
    { status: 200 },
    { status: 0, isBroken: true },
    { status: 0, isBroken: true },
    { status: 204 },
  );
  await away.client.need(get, 200);
  await away.client.need(get, 204);
  assert.equal(away.waits.length, 2);

  await using absent = await setUp({ status: 0, isBroken: true });
  await assert.rejects(absent.client.call(get), /no service answers/);
  assert.deepEqual(absent.waits, []);
});

test('an expired token is renewed once, and never sent where one logs in', async () => {
  await using service = await setUp({ status: 401 }, { status: 200 }, { status: 401 });
  const { client, requests } = service;
  client.authorize('old', async () => 'fresh');
  await client.need(get, 200);
  const sent = () => requests.map(({ headers }) => headers.authorization);
  assert.deepEqual(sent(), ['Bearer old', 'Bearer fresh']);
  await assert.rejects(client.need({ ...get, isAnonymous: true }, 200), /401/);
  assert.equal(sent()[2], undefined);
  await assert.rejects(client.need(get, 200), /401: .*token is not valid/);
  assert.equal(requests.length, 5);
});
