import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { test } from 'node:test';
import { createConnectionGuard } from './connection-guard.ts';
import { inNextTurn, noteArrival, yieldToEventLoop } from './event-loop.ts';
import { createFairSlices } from './scheduling/fair-slices.ts';

const slot = { leave: () => undefined, move: () => true, logIn: () => undefined, payer: '' };
const room = { enter: () => slot };

test('connections that wait are let in before long work goes on, many at a time', async () => {
  const guard = createConnectionGuard({ room, handshakes: room, onRefused: () => undefined });
  const comers = 60;
  let arrived = 0;
  const server = createServer(() => {
    arrived += 1;
  });
  guard.watch(server);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const pace = createFairSlices({ turnMs: 5 }).paceOf('long work');
  const sockets = Array.from({ length: comers }, () => connect(port, '127.0.0.1'));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  let slices = 0;
  for (; arrived < comers; slices += 1) {
    while (!pace.isOver());
    await pace.rest();
  }
  guard.destroyAll();
  server.close();
  assert.ok(slices < comers / 2, `${slices} slices went before ${comers} connections`);
});

test('who connects without end keeps long work waiting for some milliseconds only', async () => {
  let isOver = false;
  const flood = () => {
    noteArrival();
    if (!isOver) setImmediate(flood);
  };
  flood();
  let pieces = 0;
  const startedAt = performance.now();
  for (; pieces < 10; pieces += 1) await yieldToEventLoop();
  isOver = true;
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs > 10, `nobody was let in: ${tookMs} ms`);
});

test('pieces of work run in the order in which they came', async () => {
  const seen: number[] = [];
  for (const at of [1, 2, 3]) inNextTurn(() => seen.push(at));
  await yieldToEventLoop();
  assert.deepEqual(seen, [1, 2, 3]);
});
