import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';

/** A server that takes connections and never answers; it counts those open at a time. */
async function aSilentServer(context: TestContext) {
  let open = 0;
  let most = 0;
  const server = createServer((socket) => {
    open += 1;
    most = Math.max(most, open);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open -= 1;
    });
    // What comes is read, so that its end is seen.
    socket.resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => server.close());
  const address = server.address();
  assert.ok(address !== null && typeof address === 'object');
  return { url: `http://127.0.0.1:${address.port}/`, most: () => most };
}

/** Files so many messages of a stranger to their own webhook. */
async function flood(world: Neighbourhood, username: string, webhook: string, count: number) {
  const token = await world.tokenOf(username);
  const send = (method: string, path: string, json: unknown) =>
    world.call({ method, path, token, json });
  assert.equal((await send('PUT', '/users/me', { webhook: [webhook] })).status, 204);
  for (let filed = 0; filed < count; filed += 100) {
    const socials = Array.from({ length: Math.min(100, count - filed) }, (_, index) =>
      send('POST', '/socials', { username, channel: 'webhook', message: `${index}` }),
    );
    for (const { status, text } of await Promise.all(socials)) assert.equal(status, 200, text);
  }
}

test('webhooks to a server that never answers hold back nobody else', async (context) => {
  const silent = await aSilentServer(context);
  await using world = await startNeighbourhood();
  await world.attack(() => flood(world, 'eve', silent.url, 1_200));
  await world.restart('SIGKILL');
});

test('nor do nine accounts whose webhooks lead to the same dead server', async (context) => {
  const silent = await aSilentServer(context);
  await using world = await startNeighbourhood();
  await world.attack(async () => {
    for (let index = 1; index <= 9; index += 1) {
      await flood(world, `eve-${index}`, silent.url, 40);
    }
  });
  // The next ones are open before this side has seen the last ones end: twice the places at most.
  assert.ok(silent.most() >= 16 && silent.most() <= 32, `${silent.most()} connections at a time`);
});
