import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { halves } from '../raw-connections.ts';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { openNewPusher } from './new-pusher.ts';
import { manyTimes } from './raw-mqtt.ts';

const drippers = 1_000;
const attackMs = 6_000;
/** Of it all guests together have 3 MiB: some 250 heads that are not whole. */
const budgetBytes = 8 * 1_048_576;
const guestsBytes = 3 * 1_048_576;

const addressOf = (at: number): string => `127.0.${6 + (at >> 8)}.${at & 255}`;

/** Half a head, of which a byte more follows each second: of a request, an upgrade, CONNECT. */
const slowSenders = ({ url, mqttUrl }: Neighbourhood): readonly (readonly [string, Buffer])[] => [
  [url, Buffer.from(`GET /api/v2/devices HTTP/1.1\r\nHost: x\r\nX-Slow: ${'a'.repeat(300)}`)],
  [url, Buffer.from(`POST /api/v2/devices/${'a'.repeat(300)}`)],
  [url, Buffer.concat([halves['half an upgrade'] ?? Buffer.of(), Buffer.from('X-Slow: ')])],
  [mqttUrl, Buffer.from([0x10, 0x7f, 0, 4, 0x4d, 0x51])],
  [url, Buffer.from([0x10, 0x7f, 0, 4, 0x4d, 0x51])],
];

async function drip(at: number, town: Neighbourhood): Promise<Socket> {
  const senders = slowSenders(town);
  const [url, bytes] = senders[at % senders.length] ?? [town.url, Buffer.of()];
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), localAddress: addressOf(at), noDelay: true });
  socket.on('error', () => undefined).resume();
  await new Promise<void>((resolve) => {
    socket.once('connect', () => resolve());
    socket.once('close', () => resolve());
  });
  socket.write(bytes);
  const dripping = setInterval(() => socket.write('T'), 1_000);
  socket.once('close', () => clearInterval(dripping));
  return socket;
}

/** A head in four pieces, on a connection of its own; answers how long it took. */
async function pushSlowly({ url }: Neighbourhood): Promise<number> {
  const startedAt = performance.now();
  const { hostname: host, port } = new URL(url);
  const socket = connect({ host, port: Number(port), noDelay: true });
  const answered = new Promise<string>((resolve, reject) => {
    socket.on('data', (bytes: Buffer) => resolve(bytes.toString('latin1')));
    for (const event of ['error', 'close']) socket.once(event, () => reject(new Error(event)));
  });
  const head = ['GET /api/v2/devi', 'ces HTTP/1.1\r', '\nHost: x\r\n', '\r\n'];
  for (const piece of head) await new Promise((resolve) => socket.write(piece, resolve));
  assert.match(await answered, /^HTTP\/1\.1 200 /);
  socket.destroy();
  return performance.now() - startedAt;
}

async function usedBytes(town: Neighbourhood): Promise<number> {
  const { text } = await town.call({ path: '//metrics', token: await town.tokenOf('admin') });
  const used = /budget_used\{budget="request_bytes",unit="bytes",by="guests"\} (\d+)/.exec(text);
  return Number(used?.[1] ?? Number.NaN);
}

test('1,000 addresses that drip heads keep nobody else waiting', async () => {
  await using town = await startNeighbourhood({
    environment: { KIPIMO_BUDGETS: `request_bytes=${budgetBytes}` },
  });
  const push = await openNewPusher(town);
  const sockets: Socket[] = [];
  let longest = 0;
  await town.attack(async () => {
    let isOver = false;
    const attacking = manyTimes(drippers, async (at) => {
      sockets.push(await drip(at, town));
    })
      .then(() => sleep(attackMs))
      .finally(() => {
        isOver = true;
      });
    while (!isOver) {
      longest = Math.max(longest, await push(), await pushSlowly(town));
      await sleep(10);
    }
    await attacking;
  });
  const used = await usedBytes(town);
  const left = sockets.filter(({ closed }) => !closed).length;
  for (const socket of sockets) socket.destroy();
  assert.ok(used <= guestsBytes, `${used} bytes of heads are held`);
  assert.ok(left > 0 && left <= drippers / 3, `${left} of 1,000 are held that drip`);
  assert.ok(longest <= servedMsMax, `a push on a new connection took ${longest} ms`);
});
