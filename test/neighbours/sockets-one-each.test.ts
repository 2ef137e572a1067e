import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { halves } from '../raw-connections.ts';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';
import { openNewPusher } from './new-pusher.ts';

const strangers = 1_100;
const attackMs = 8_000;
const connectMs = 2;

const addressOf = (at: number): string => `127.0.${1 + (at >> 8)}.${at & 255}`;

/** Says so much from each of 1,100 addresses, then nothing; comes again when it is sent away. */
async function besiege(port: number, said: (at: number) => Uint8Array, ms: number): Promise<void> {
  const sockets = new Map<number, Socket>();
  let isOver = false;
  const open = (at: number): void => {
    if (isOver) return;
    const socket = connect({ host: '127.0.0.1', port, localAddress: addressOf(at) });
    sockets.set(at, socket);
    socket.on('error', () => undefined);
    socket.once('connect', () => socket.write(said(at)));
    socket.resume();
    socket.once('close', () => setTimeout(open, 500, at).unref());
  };
  for (let at = 0; at < strangers; at += 1) {
    open(at);
    if (at % 10 === 0) await sleep(connectMs);
  }
  await sleep(ms);
  isOver = true;
  for (const socket of sockets.values()) socket.destroy();
}

const connectOf = (at: number): Buffer => {
  const id = `silent-${at}`;
  const body = Buffer.concat([
    Buffer.from('\x00\x04MQTT\x04\x02\x00\x00\x00', 'latin1'),
    Buffer.from([id.length]),
    Buffer.from(id),
  ]);
  return Buffer.concat([Buffer.from([0x10, body.length]), body]);
};

const sayings: Readonly<Record<string, (at: number) => Uint8Array>> = {
  'a CONNECT': connectOf,
  'half a head': () => halves['half a head'] ?? Buffer.alloc(0),
  nothing: () => Buffer.alloc(0),
  'half an upgrade': () => halves['half an upgrade'] ?? Buffer.alloc(0),
};

for (const [what, said] of Object.entries(sayings)) {
  test(`1,100 addresses that say ${what} once each shut nobody out`, async (t) => {
    await using neighbourhood = await startNeighbourhood({
      environment: { KIPIMO_BUDGETS: 'connections=2000' },
    });
    const { url } = neighbourhood;
    const push = await openNewPusher(neighbourhood);
    let longest = 0;
    const waits = await neighbourhood.attack(async () => {
      let isOver = false;
      const attacking = besiege(Number(new URL(url).port), said, attackMs).finally(() => {
        isOver = true;
      });
      while (!isOver) {
        longest = Math.max(longest, await push());
        await sleep(10);
      }
      await attacking;
    });
    t.diagnostic(`longest waits in ms: ${JSON.stringify({ ...waits, newPush: longest })}`);
    assert.ok(longest <= servedMsMax, `a push on a new connection took ${longest} ms`);
  });
}
