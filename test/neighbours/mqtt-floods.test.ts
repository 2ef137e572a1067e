import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate } from 'mqtt-packet';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';

const publish = (topic: string, payload: string): Buffer =>
  generate({ cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false });

/** The service was never busy for so long without a look at its sockets. */
async function assertNeverHeld(neighbourhood: Neighbourhood): Promise<void> {
  const token = await neighbourhood.tokenOf('admin');
  const { text } = await neighbourhood.call({ path: '//metrics', token });
  const held = Number(/kipimo_event_loop_held_seconds\{quantile="1"\} (\S+)/.exec(text)?.[1]);
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
  await neighbourhood.attack(async () => {
    await manyTimes(4_500, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `crowd-${index}` });
      client?.stopParsing();
      await client?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      if (client !== undefined) crowd.push(client);
    });
    // All in one piece, which is read at once.
    const packets = Array.from({ length: 2_000 }, () => publish('devices/flood/x', 'y'));
    await manyTimes(10, async (index) => {
      const publisher = await connectRaw(neighbourhood.mqttUrl, { clientId: `flood-${index}` });
      await publisher?.send(Buffer.concat(packets));
      if (publisher !== undefined) crowd.push(publisher);
    });
  });
  await assertNeverHeld(neighbourhood);
  for (const client of crowd) client.drop();
});

test('floods of tiny packets over many connections keep nobody waiting', async () => {
  await using neighbourhood = await startNeighbourhood();
  const nonsense = Buffer.concat(Array.from({ length: 8_000 }, () => publish('a', '')));
  const pings = Buffer.concat(Array.from({ length: 30_000 }, () => Buffer.from([0xc0, 0])));
  await neighbourhood.attack(() =>
    manyTimes(
      600,
      async (index) => {
        const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `tiny-${index}` });
        client?.stopParsing();
        for (let round = 0; round < 2; round += 1) await client?.send(nonsense, pings);
        client?.drop();
      },
      600,
    ),
  );
  await assertNeverHeld(neighbourhood);
});
