import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';
import { openNewPusher } from './new-pusher.ts';

const attackMs = 8_000;
const keys = 60_000;
const type = 'application/json';
const [bodiesAtOnce, comers] = [8, 30];

test('bodies of 60,000 keys, which are refused, keep no new connection waiting', async () => {
  await using town = await startNeighbourhood();
  const push = await openNewPusher(town);
  const eve = await town.tokenOf('eve');
  const { hostname: host, port } = new URL(town.url);
  const meta: Record<string, number> = {};
  for (let at = 0; at < keys; at += 1) meta[`k${at}`] = 1;
  const body = JSON.stringify({ id: 'heavy', meta });
  let longest = 0;
  await town.attack(async () => {
    const until = performance.now() + attackMs;
    const isOver = () => performance.now() > until;
    const send = async () => {
      while (!isOver()) {
        const reply = await town.call({ method: 'POST', path: '/devices', token: eve, body, type });
        assert.equal(reply.status, 400, reply.text);
      }
    };
    // Each turn of the event loop lets one of those who wait in.
    const comeAndGo = async () => {
      while (!isOver()) {
        const socket = connect({ host, port: Number(port) });
        socket.on('error', () => undefined);
        await sleep(20);
        socket.destroy();
      }
    };
    const pushAll = async () => {
      while (!isOver()) longest = Math.max(longest, await push());
    };
    const workers = [
      ...Array.from({ length: bodiesAtOnce }, send),
      ...Array.from({ length: comers }, comeAndGo),
    ];
    await Promise.all([...workers, pushAll()]);
  });
  assert.ok(longest < servedMsMax, `a push on a new connection took ${Math.round(longest)} ms`);
});
