import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { generate } from 'mqtt-packet';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';

/** In which what was sent is read. */
const readMs = 3_000;

const publish = (topic: string, payload: string): Buffer =>
  generate(
    { cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false },
    { protocolVersion: 5 },
  );

/** The service was never busy for so long without a look at its sockets. */
async function assertNeverHeld(neighbourhood: Neighbourhood): Promise<void> {
  const token = await neighbourhood.tokenOf('admin');
  const { text } = await neighbourhood.call({ path: '//metrics', token });
  const held = Number(/kipimo_event_loop_held_seconds\{percentile="100"\} (\S+)/.exec(text)?.[1]);
  assert.ok(held < Math.min(1, servedMsMax / 4_000), `the event loop was held for ${held} s`);
}

test('thousands of subscribers of a stranger’s flood keep nobody waiting', async () => {
  await using neighbourhood = await startNeighbourhood();
  const device = { id: 'flood', sensors: [{ id: 's' }] };
  const made = await neighbourhood.call({ method: 'POST', path: '/devices', json: device });
  assert.equal(made.status, 204);
  const crowd: RawClient[] = [];
  // Each of them has to be looked at for the terms of a delivery.
  const topics = ['#', '+/#', 'devices/#', 'devices/+/#', 'devices/flood/#', 'devices/flood/+'];
  const subscriptions = topics.map((topic) => ({ topic, qos: 0 as const }));
  // Its guests may have half of all connections: these come first.
  const publishers: RawClient[] = [];
  await manyTimes(10, async (index) => {
    const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `flood-${index}` });
    if (client !== undefined) publishers.push(client);
  });
  assert.equal(publishers.length, 10);
  await neighbourhood.attack(async () => {
    await manyTimes(4_500, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `crowd-${index}` });
      client?.stopParsing();
      await client?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      if (client !== undefined) crowd.push(client);
    });
    // All in one piece, which is read at once.
    const packets = Array.from({ length: 2_000 }, () => publish('devices/flood/x', 'y'));
    for (const publisher of publishers) await publisher.send(Buffer.concat(packets));
    await setTimeout(readMs);
  });
  assert.ok(
    [...publishers, ...crowd].every(({ isClosed }) => !isClosed),
    'the flood was ended: it is no attack',
  );
  await assertNeverHeld(neighbourhood);
  for (const client of [...publishers, ...crowd]) client.drop();
});

test('thousands of wills at once, for hundreds of subscribers, keep nobody waiting', async (t) => {
  await using neighbourhood = await startNeighbourhood();
  const device = { id: 'flood', sensors: [{ id: 's' }] };
  const made = await neighbourhood.call({ method: 'POST', path: '/devices', json: device });
  assert.equal(made.status, 204);
  const addressOf = (at: number): string => `127.0.${1 + ((at >> 6) & 3)}.${1 + (at & 63)}`;
  const [readers, leavers]: [RawClient[], RawClient[]] = [[], []];
  const waits = await neighbourhood.attack(async () => {
    await manyTimes(300, async (at) => {
      const options = { clientId: `reader-${at}` };
      const client = await connectRaw(neighbourhood.mqttUrl, options, addressOf(at));
      const subscriptions = [{ topic: 'devices/flood/#', qos: 1 as const }];
      await client?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      client?.stopParsing();
      if (client !== undefined) readers.push(client);
    });
    await manyTimes(3_000, async (at) => {
      const payload = Buffer.alloc(8_000, 'x');
      const will = { topic: `devices/flood/w${at}`, payload, qos: 1 as const, retain: true };
      const options = { clientId: `leaver-${at}`, clean: true, properties: {}, will };
      const client = await connectRaw(neighbourhood.mqttUrl, options, addressOf(at));
      client?.stopParsing();
      if (client !== undefined) leavers.push(client);
    });
    for (const client of leavers) client.drop();
    await setTimeout(readMs);
  });
  t.diagnostic(`longest waits in ms: ${JSON.stringify(waits)}; ${leavers.length} wills`);
  assert.ok(readers.length > 200 && leavers.length > 2_000, 'few were let in: it is no attack');
  for (const client of readers) client.drop();
});

test('floods of tiny packets over many connections keep nobody waiting', async () => {
  await using neighbourhood = await startNeighbourhood();
  const nonsense = Buffer.concat(Array.from({ length: 8_000 }, () => publish('a', '')));
  const pings = Buffer.concat(Array.from({ length: 30_000 }, () => Buffer.from([0xc0, 0])));
  await neighbourhood.attack(async () => {
    const crowd: RawClient[] = [];
    await manyTimes(600, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `tiny-${index}` });
      client?.stopParsing();
      if (client !== undefined) crowd.push(client);
    });
    // All at once, and nobody leaves before it is read.
    for (let round = 0; round < 2; round += 1) {
      await Promise.all(crowd.map((client) => client.send(nonsense, pings)));
    }
    await setTimeout(readMs);
    assert.ok(
      crowd.every(({ isClosed }) => !isClosed),
      'the flood was ended: it is no attack',
    );
    for (const client of crowd) client.drop();
  });
  await assertNeverHeld(neighbourhood);
});
