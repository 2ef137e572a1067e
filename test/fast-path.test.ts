import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { limits } from '../src/domain/limits.ts';
import { compareWays } from './fuzz/fast-path-differential.ts';
import { closed } from './raw-connections.ts';
import { type Service, startService } from './service.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? 20_261_122);
const patienceMs = 60_000;
const timeouts = {
  ...{ handshakeMs: patienceMs, headersMs: patienceMs, requestMs: patienceMs },
  ...{ keepAliveMs: patienceMs, unreadMs: patienceMs, drainMs: patienceMs },
};

test('the fast path answers, stores and ends connections as the Fastify path does', async () => {
  assert.deepEqual(await compareWays({ seed, connections: 200 }), [], `seed ${seed}`);
});

/** A client on one connection of its own, which reads unless it is told not to. */
async function dial(service: Service, { reads = true } = {}) {
  const { hostname: host, port } = new URL(service.url);
  const socket = connect({ host, port: Number(port), noDelay: true });
  socket.on('error', () => undefined);
  let heard = '';
  let told: (() => void) | undefined;
  if (reads) {
    socket.setEncoding('latin1').on('data', (text: string) => {
      heard += text;
      told?.();
    });
  }
  await new Promise((resolve) => socket.once('connect', resolve));
  return {
    socket,
    heard: () => heard,
    /** Sends it, and waits for the next answer. */
    async ask(text: string): Promise<string> {
      const from = heard.length;
      socket.write(text);
      while (!/\r\n\r\n/.test(heard.slice(from))) {
        await new Promise<void>((resolve) => {
          told = resolve;
        });
      }
      return heard.slice(from);
    },
  };
}

const post = (path: string, body: string, token = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n` +
  `${token === '' ? '' : `authorization: Bearer ${token}\r\n`}\r\n${body}`;

async function withDevice(given: Readonly<Record<string, string>> = {}, hasty = {}) {
  const environment = { KIPIMO_SHORT_WAY: 'on', ...given };
  const service = await startService({ environment, timeouts: { ...timeouts, ...hasty } });
  const json = { id: 'D', sensors: [{ id: 'S' }] };
  const made = await service.as('ama')({ method: 'POST', path: '/devices', json });
  assert.equal(made.status, 204, made.text);
  return service;
}

const path = '/api/v2/devices/D/sensors/S/value';
const push = post(path, '{"value":1}');
const read = 'GET /api/v2/devices/D HTTP/1.1\r\nhost: x\r\n\r\n';
// Node writes the date last, the fast path first.
const isShort = (answer: string): boolean => /^HTTP\/1\.1 \d{3} [^\r]*\r\nDate: /.test(answer);

test('pushes and reads of a device take the fast path, unless it is off', async () => {
  for (const [fastPath, expected] of [
    ['on', true],
    ['off', false],
  ] as const) {
    await using service = await withDevice({ KIPIMO_SHORT_WAY: fastPath });
    const client = await dial(service);
    const v1 = path.replace('v2/devices', 'v1/sensors').replace('sensors/S', 'measurements/S');
    const asked = [push, read, post(v1, '2'), push, read];
    for (const request of asked) {
      assert.equal(isShort(await client.ask(request)), expected, request);
    }
    const odd = await client.ask(read.replace('host', 'cookie: a=b\r\nhost'));
    assert.match(odd, /^HTTP\/1\.1 200 /);
    assert.equal(isShort(odd), false);
    assert.equal(isShort(await client.ask(push)), false, 'it went back to the fast path');
    client.socket.destroy();
    const metrics = await service.as('admin')({ path: '//metrics' });
    assert.match(
      metrics.text,
      /route="\/api\/v2\/devices\/:device_id\/sensors[^}]*status="204"} 3\n/,
    );
  }
});

test('a login that ends is refused at the next push on the same connection', async () => {
  await using service = await withDevice({ KIPIMO_PUBLIC_PUSH: 'granted' });
  const token = await service.tokenOf('ama');
  const client = await dial(service);
  const mine = post(path, '3', token);
  assert.match(await client.ask(mine), /^HTTP\/1\.1 204 /);
  const ended = await service.call({ method: 'DELETE', path: '/auth/token', token });
  assert.equal(ended.status, 204);
  const refused = await client.ask(mine);
  assert.match(refused, /^HTTP\/1\.1 401 /);
  assert.ok(isShort(refused));
  client.socket.destroy();
});

test('a push that says so is the last one on its connection, over either way', async () => {
  for (const fastPath of ['on', 'off']) {
    await using service = await withDevice({ KIPIMO_SHORT_WAY: fastPath });
    const client = await dial(service);
    const isClosed = closed(client.socket);
    const last = push.replace('host: x', 'host: x\r\nconnection: Close');
    assert.match(await client.ask(last + push), /^HTTP\/1\.1 204 /);
    await isClosed;
    assert.equal(client.heard().match(/HTTP\/1\.1 204/g)?.length, 1);
    assert.match(client.heard(), /connection: close/i);
  }
});

test('a push that the fast path refuses is told to the owner of the device', async () => {
  await using service = await withDevice();
  const client = await dial(service);
  const refused = await client.ask(post(path, '{"valu":1}', await service.tokenOf('ama')));
  assert.match(refused, /^HTTP\/1\.1 400 /);
  assert.ok(isShort(refused));
  client.socket.destroy();
  const { json } = await service.as('ama')({ path: '/devices/D/refusals' });
  assert.equal((json as readonly unknown[]).length, 1);
});

test('pushes in one breath are all answered, over either way', async () => {
  for (const fastPath of ['on', 'off']) {
    await using service = await withDevice({ KIPIMO_SHORT_WAY: fastPath });
    const greedy = await dial(service);
    const count = 5 * limits.pipelinedRequestsMax + 1;
    greedy.socket.write(push.repeat(count));
    while ((greedy.heard().match(/ 204 /g) ?? []).length < count) {
      await new Promise((resolve) => greedy.socket.once('data', resolve));
    }
    greedy.socket.destroy();
  }
});

test('who reads no answers to pushes is cut off', async ({ signal }) => {
  await using service = await withDevice({}, { unreadMs: 300 });
  const { socket } = await dial(service, { reads: false });
  const isOver = closed(socket);
  // A red test ends it, too.
  signal.addEventListener('abort', () => socket.destroy());
  await pushUntilClosed(socket);
  await isOver;
});

/**
 * More and more pushes, few enough in each breath, as long as they are taken. Most are of a sensor
 * that is not there: long answers, for which nothing is written to a disk, fill the buffers soon.
 */
async function pushUntilClosed(socket: Socket): Promise<void> {
  const refused = post(path.replace('/S/', `/${'n'.repeat(200)}/`), '1');
  let isWritten = true;
  while (!socket.destroyed) {
    if (isWritten) {
      isWritten = false;
      socket.write(push + refused.repeat(15), () => {
        isWritten = true;
      });
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('a body that does not come is refused in time, and an idle connection is closed', async () => {
  await using service = await withDevice({}, { headersMs: 100, requestMs: 200, keepAliveMs: 100 });
  const slow = await dial(service);
  slow.socket.write(push + push.slice(0, -4));
  await closed(slow.socket);
  assert.match(slow.heard(), /^HTTP\/1\.1 204 .*HTTP\/1\.1 408 Request Timeout/s);
  const idle = await dial(service);
  assert.match(await idle.ask(push), /^HTTP\/1\.1 204 /);
  await closed(idle.socket);
});

test('a push for which there is no room is refused behind the answers that are due', async () => {
  // The share of an address is 16 KiB, less than a push of 4 KiB with its connection.
  await using service = await withDevice({ KIPIMO_BUDGETS: 'request_bytes=131072' });
  const client = await dial(service);
  const isClosed = closed(client.socket);
  client.socket.write(push + post(path, 'x'.repeat(4_096)).slice(0, -4_000));
  await isClosed;
  assert.match(client.heard(), /^HTTP\/1\.1 204 .*HTTP\/1\.1 429 .*\r\nretry-after: 10\r\n/s);
});

test('the end of the service lets a push under way finish, and ends who is idle', async () => {
  const service = await withDevice();
  const idle = await dial(service);
  await idle.ask(push);
  const late = await dial(service);
  await late.ask(push);
  late.socket.write(push.slice(0, -4));
  // It has arrived before the service hears of its end: what comes later has been answered.
  await (await dial(service)).ask(push);
  const over = service[Symbol.asyncDispose]();
  await closed(idle.socket);
  assert.match(await late.ask(push.slice(-4)), /^HTTP\/1\.1 204 /);
  await closed(late.socket);
  await over;
});
