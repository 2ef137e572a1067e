import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';

const guests = 150;
const attackMs = 6_000;

const addressOf = (at: number): string => `127.0.${1 + ((at >> 6) & 3)}.${1 + (at & 63)}`;

test('settings with long properties by 150 guests for 150 subscribers delay nobody', async (t) => {
  await using neighbourhood = await startNeighbourhood();
  const device = { id: 'flood', actuators: [{ id: 'a' }] };
  const made = await neighbourhood.call({ method: 'POST', path: '/devices', json: device });
  assert.equal(made.status, 204);
  const [clients, readers]: [RawClient[], RawClient[]] = [[], []];
  await manyTimes(guests, async (at) => {
    const connect = (clientId: string) =>
      connectRaw(neighbourhood.mqttUrl, { clientId }, addressOf(at));
    const reader = await connect(`reader-${at}`);
    const subscriptions = [{ topic: 'devices/flood/#', qos: 0 as const }];
    await reader?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    const setter = await connect(`setter-${at}`);
    for (const client of [reader, setter]) client?.stopParsing();
    if (reader !== undefined) readers.push(reader);
    if (setter !== undefined) clients.push(setter);
  });
  let sent = 0;
  const waits = await neighbourhood.attack(async () => {
    const end = performance.now() + attackMs;
    await Promise.all(
      clients.map(async (client) => {
        for (; performance.now() < end && !client.isClosed; sent += 1) {
          await client.send({
            ...{ cmd: 'publish', topic: 'devices/flood/actuators/a/value', payload: `${sent}` },
            ...{ qos: 0, dup: false, retain: false },
            properties: { userProperties: { k: 'x'.repeat(30_000) } },
          });
          await setTimeout(20);
        }
      }),
    );
  });
  t.diagnostic(`longest waits in ms: ${JSON.stringify(waits)}; ${sent} settings were sent`);
  assert.ok(clients.length > 100, 'few were let in: it is no attack');
  for (const client of [...clients, ...readers]) client.drop();
});
