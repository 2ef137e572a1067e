import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { generate } from 'mqtt-packet';
import { watchHealth } from './health.ts';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';

const sessions = 160;
const filtersPerSession = 100;
/** Below a device: as many levels as a topic may have. */
const levels = 14;
const place = 'devices/eve-deep';
const deepTopic = `${place}/${'a/'.repeat(levels - 1)}`;

/** One of the 16,384 filters that include the deep topics, by which levels are a +. */
function filterOf(at: number): string {
  const parts = Array.from({ length: levels }, (_, level) => ((at >> level) & 1 ? '+' : 'a'));
  return `${place}/${parts.reverse().join('/')}`;
}

const publish = (topic: string): Buffer =>
  generate(
    { cmd: 'publish', topic, payload: 'x', qos: 0, dup: false, retain: false },
    { protocolVersion: 5 },
  );

/** An account's device, its key, and sessions whose filters all include one topic. */
async function furnish(town: Neighbourhood): Promise<readonly RawClient[]> {
  const token = await town.tokenOf('eve');
  const made = await town.call({
    ...{ method: 'POST', path: '/devices', token },
    json: { id: 'eve-deep' },
  });
  assert.equal(made.status, 204);
  const { json } = await town.call({
    ...{ method: 'POST', path: '/auth/keys', token },
    json: { name: 'k' },
  });
  const login = { username: 'eve', password: Buffer.from((json as { key: string }).key) };
  const clients: RawClient[] = [];
  await manyTimes(sessions, async (at) => {
    const client = await connectRaw(town.mqttUrl, { clientId: `deep-${at}`, ...login });
    assert.ok(client !== undefined, 'a session was refused: it is no attack');
    const subscriptions = Array.from({ length: filtersPerSession }, (_, index) => ({
      ...{ topic: filterOf(at * filtersPerSession + index), qos: 0 as const },
    }));
    await client.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    const answer = await client.next('suback');
    assert.ok(answer?.cmd === 'suback' && answer.granted.every((code) => code === 0));
    client.stopParsing();
    clients.push(client);
  });
  return clients;
}

async function flood(town: Neighbourhood, topics: readonly string[]): Promise<void> {
  const clients = await furnish(town);
  const [publisher] = clients;
  await town.attack(async () => {
    const health = watchHealth(town.url);
    await publisher?.send(...topics.map(publish));
    await setTimeout(4_000);
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
  assert.ok(publisher?.isClosed === false, 'the flood was ended: it is no attack');
  for (const client of clients) client.drop();
}

test('a topic that 16,000 filters of one account include keeps nobody waiting', async () => {
  await using town = await startNeighbourhood();
  await flood(town, Array(5).fill(`${deepTopic}a`));
});

test('nor do 200 topics in one breath, each of which is looked for at as many places', async () => {
  await using town = await startNeighbourhood();
  await flood(
    town,
    Array.from({ length: 200 }, (_, at) => `${deepTopic}t${at}`),
  );
});
