import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate } from 'mqtt-packet';
import { startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';

const publish = (topic: string, payload: string): Buffer =>
  generate({ cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false });

test('a thousand subscribers of a stranger’s flood keep nobody waiting', async () => {
  await using neighbourhood = await startNeighbourhood();
  const device = { id: 'flood', sensors: [{ id: 's' }] };
  const made = await neighbourhood.call({ method: 'POST', path: '/devices', json: device });
  assert.equal(made.status, 204);
  const crowd: RawClient[] = [];
  await neighbourhood.attack(async () => {
    await manyTimes(800, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `crowd-${index}` });
      client?.stopParsing();
      await client?.send({
        ...{ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 0 }] },
      });
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
  for (const client of crowd) client.drop();
});

test('floods of tiny packets over many connections keep nobody waiting', async () => {
  await using neighbourhood = await startNeighbourhood();
  const nonsense = Buffer.concat(Array.from({ length: 8_000 }, () => publish('a', '')));
  const pings = Buffer.concat(Array.from({ length: 30_000 }, () => Buffer.from([0xc0, 0])));
  await neighbourhood.attack(() =>
    manyTimes(
      200,
      async (index) => {
        const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `tiny-${index}` });
        client?.stopParsing();
        for (let round = 0; round < 3; round += 1) await client?.send(nonsense, pings);
        client?.drop();
      },
      200,
    ),
  );
});
