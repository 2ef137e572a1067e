import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';

let service: Service;

before(async () => {
  // One address may hold 256 KiB, one account 256 KiB, all guests 512 KiB.
  service = await startService({
    environment: {
      KIPIMO_BUDGETS: 'partial_bytes=1048576',
      KIPIMO_TRUSTED_PROXIES: '127.0.0.1',
    },
  });
  const json = { id: 'D', sensors: [{ id: 'T' }], visibility: 'public' };
  await service.call({ method: 'POST', path: '/devices', json });
});

after(() => service[Symbol.asyncDispose]());

const path = '/api/v2/devices/D/sensors/T/values';

/** A push that stops in its body; resolves with what is answered, or with what `held` says. */
async function half(bytes: number, headers = '', announced = 8_000_000, at = path) {
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  socket.write(
    `POST ${at} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${headers}` +
      `Content-Length: ${announced}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.write(Buffer.alloc(bytes, ' '), resolve));
  return { socket, answer: () => answer };
}

const ended = (socket: Socket) =>
  new Promise<void>((resolve) => {
    if (socket.readableEnded || socket.closed) resolve();
    else socket.once('end', resolve).once('close', () => resolve());
  });

const from = (address: string): string => `X-Forwarded-For: ${address}\r\n`;

async function usedBytes(): Promise<number> {
  const { text } = await service.as('admin')({ path: '//metrics' });
  return Number(
    /budget_used\{budget="partial_bytes",unit="bytes",by="all"\} (\d+)/.exec(text)?.[1] ??
      Number.NaN,
  );
}

test('unfinished bodies of one address have an end; others are not refused for them', async () => {
  const held = [await half(200_000, from('198.51.100.1'))];
  const refused = await half(200_000, from('198.51.100.1'));
  await ended(refused.socket);
  assert.match(refused.answer(), /^HTTP\/1\.1 429 /);
  assert.match(refused.answer(), /\r\nretry-after: \d+\r\n/i);
  assert.match(refused.answer(), /partial_bytes/);
  const other = await half(100_000, from('198.51.100.2'), 100_000);
  // Spaces alone are no value: it was read to its end.
  await new Promise((resolve) => other.socket.once('data', resolve));
  assert.match(other.answer(), /^HTTP\/1\.1 4(00|13) /);
  // Whoever names an account has the room of the account.
  const token = await service.tokenOf('ann');
  const ann = await half(
    100_000,
    `${from('198.51.100.1')}Authorization: Bearer ${token}\r\n`,
    100_000,
  );
  await new Promise((resolve) => ann.socket.once('data', resolve));
  assert.match(ann.answer(), /^HTTP\/1\.1 4(00|13) /);
  // Small ones cost nothing, wherever they come from.
  const small = await service.call({
    method: 'POST',
    path: '/devices/D/sensors/T/value',
    json: { value: 'x'.repeat(3_000) },
    headers: { 'x-forwarded-for': '198.51.100.1' },
  });
  assert.equal(small.status, 204);
  for (const { socket } of [...held, other, ann, refused]) socket.destroy();
});

test('what was held is free again when the answer is sent or the sender is gone', async () => {
  for (let round = 0; round < 6; round += 1) {
    const { socket, answer } = await half(200_000, from('198.51.100.3'));
    while ((await usedBytes()) < 200_000);
    socket.destroy();
    while ((await usedBytes()) > 0);
    assert.equal(answer(), '');
  }
  const value = Array.from({ length: 40 }, () => 'x'.repeat(5_000));
  for (let round = 0; round < 6; round += 1) {
    const reply = await service.call({
      method: 'POST',
      path: '/devices/D/sensors/T/values',
      json: value.map((text) => ({ value: text })),
      headers: { 'x-forwarded-for': '198.51.100.3' },
    });
    assert.equal(reply.status, 204);
  }
  while ((await usedBytes()) > 0);
});

test('bulk requests under way count as well, and give back what they took', async () => {
  const bulk = '/api/v2/sensors_data';
  const held = await half(200_000, from('198.51.100.4'), 8_000_000, bulk);
  while ((await usedBytes()) < 200_000) await new Promise((resolve) => setImmediate(resolve));
  const refused = await half(200_000, from('198.51.100.4'), 8_000_000, bulk);
  while (!refused.answer().includes('partial_bytes')) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.match(refused.answer(), /HTTP\/1\.1 429 /);
  refused.socket.destroy();
  held.socket.destroy();
  while ((await usedBytes()) > 0) await new Promise((resolve) => setImmediate(resolve));
});
