import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { IPublishPacket } from 'mqtt-packet';
import { startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';

const guests = 200;
const attackMs = 6_000;

const addressOf = (at: number): string => `127.0.${1 + ((at >> 6) & 3)}.${1 + (at & 63)}`;

/** A publish of some bytes whose user properties take thirty thousand. */
const publish = (topic: string, payload: string): IPublishPacket => ({
  ...{ cmd: 'publish', topic, payload, qos: 0, dup: false, retain: false },
  properties: { userProperties: { k: 'x'.repeat(30_000) } },
});

// A value is handed on when it is stored, anything else at once: each on its own way.
for (const [what, topic, payload] of [
  ['values', 'devices/flood/sensors/s/value', '1'],
  [
    'arrays of values',
    'devices/flood/sensors/s/values',
    `[${'{"value":1},'.repeat(50)}{"value":2}]`,
  ],
  ['messages', 'devices/flood/x', 'y'],
] as const) {
  test(`long properties of ${what} for hundreds of subscribers delay nobody`, async (t) => {
    await using neighbourhood = await startNeighbourhood();
    const device = { id: 'flood', sensors: [{ id: 's' }] };
    const made = await neighbourhood.call({ method: 'POST', path: '/devices', json: device });
    assert.equal(made.status, 204);
    const [readers, writers]: [RawClient[], RawClient[]] = [[], []];
    await manyTimes(guests, async (at) => {
      const reader = await connectRaw(
        ...[neighbourhood.mqttUrl, { clientId: `reader-${at}` }, addressOf(at)],
      );
      const subscriptions = [{ topic: 'devices/flood/#', qos: 0 as const }];
      await reader?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      reader?.stopParsing();
      if (reader !== undefined) readers.push(reader);
      const writer = await connectRaw(
        ...[neighbourhood.mqttUrl, { clientId: `writer-${at}` }, addressOf(at)],
      );
      writer?.stopParsing();
      if (writer !== undefined) writers.push(writer);
    });
    const waits = await neighbourhood.attack(async () => {
      const end = performance.now() + attackMs;
      await Promise.all(
        writers.map(async (writer) => {
          while (performance.now() < end && !writer.isClosed) {
            await writer.send(publish(topic, payload));
            await setTimeout(20);
          }
        }),
      );
    });
    const bytes = readers.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    t.diagnostic(`longest waits in ms: ${JSON.stringify(waits)}; ${bytes} bytes were handed on`);
    assert.ok(readers.length > 150 && writers.length > 150, 'few were let in: it is no attack');
    for (const client of [...readers, ...writers]) client.drop();
  });
}
