import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { test } from 'node:test';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';
import { openNewPusher } from './new-pusher.ts';
import { manyTimes } from './raw-mqtt.ts';

const guests = 200;
const devices = 400;
const attackMs = 6_000;

/** Asks for all devices again and again, as from that address; how often it was answered. */
async function listOn(url: string, localAddress: string, until: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress });
  let lists = 0;
  while (performance.now() < until) {
    await new Promise<void>((resolve) => {
      const asked = request(new URL('/api/v2/devices?limit=1000', url), { agent });
      asked.on('error', () => resolve());
      asked.on('response', (answer) => {
        if (answer.statusCode === 200) lists += 1;
        answer.resume().on('close', resolve);
      });
      asked.end();
    });
  }
  agent.destroy();
  return lists;
}

test('200 guests who list all devices all the time keep nobody waiting', async (t) => {
  await using neighbourhood = await startNeighbourhood();
  await manyTimes(devices, async (at) => {
    const sensors = Array.from({ length: 8 }, (_, n) => ({ id: `s${n}`, name: 'x'.repeat(60) }));
    const json = { id: `listed-${at}`, sensors };
    const made = await neighbourhood.call({ method: 'POST', path: '/devices', json });
    assert.equal(made.status, 204, made.text);
  });
  const push = await openNewPusher(neighbourhood);
  let [newPush, lists] = [0, 0];
  const waits = await neighbourhood.attack(async () => {
    const until = performance.now() + attackMs;
    const listing = Promise.all(
      Array.from({ length: guests }, (_, at) =>
        listOn(neighbourhood.url, `127.0.${1 + (at >> 6)}.${1 + (at & 63)}`, until),
      ),
    );
    while (performance.now() < until) newPush = Math.max(newPush, await push());
    lists = (await listing).reduce((sum, count) => sum + count, 0);
  });
  t.diagnostic(`longest waits in ms: ${JSON.stringify({ ...waits, newPush })}; ${lists} lists`);
  assert.ok(lists >= guests / 4, `only ${lists} lists were answered: it is no attack`);
  assert.ok(newPush <= servedMsMax, `a push on a new connection took ${newPush} ms`);
});
