import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';
import { connectPacket, connectRaw, manyTimes, openRaw, type RawClient } from './raw-mqtt.ts';

/** As deep and as long as a filter may be. */
const longFilter = (name: string): string =>
  `${name}${Array.from({ length: 17 }, (_, level) => `/${name}${level}`)
    .join('')
    .padEnd(900, 'y')}`;

test('kept sessions with long filters do not use up the memory', async () => {
  await using neighbourhood = await startNeighbourhood();
  let refused = 0;
  await neighbourhood.attack(() =>
    manyTimes(2_200, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `long-${index}` });
      if (client === undefined) refused += 1;
      const topics = Array.from({ length: 100 }, (_, at) => longFilter(`${index}-${at}-`));
      const subscriptions = topics.map((topic) => ({ topic, qos: 1 as const }));
      await client?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      const answer = await client?.next('suback');
      if (answer?.cmd === 'suback')
        refused += answer.granted.filter((code) => code === 0x97).length;
      client?.drop();
    }),
  );
  assert.ok(refused > 2_000, `${refused} were refused`);
  await neighbourhood.restart();
});

test('one filter 60 000 times in each packet makes no backlogs', async () => {
  await using neighbourhood = await startNeighbourhood();
  const filter = Buffer.from([0, 1, 0x23, 0]);
  const body = Buffer.concat([Buffer.from([0, 7, 0]), ...Array(60_000).fill(filter)]);
  const length = [(body.length & 0x7f) | 0x80, ((body.length >> 7) & 0x7f) | 0x80];
  const packet = Buffer.concat([Buffer.from([0x82, ...length, body.length >> 14]), body]);
  const device = { id: 'attic', sensors: [{ id: 's' }] };
  const made = await neighbourhood.call({ method: 'POST', path: '/devices', json: device });
  assert.equal(made.status, 204, made.text);
  const hoarder = await connectRaw(neighbourhood.mqttUrl, { clientId: 'hoarder' });
  for (let index = 0; index < 200; index += 1) {
    await hoarder?.send({
      ...{ cmd: 'publish', topic: `devices/attic/${index}`, payload: 'x'.repeat(100) },
      ...{ qos: 1, messageId: 1 + index, dup: false, retain: true },
    });
    await hoarder?.next('puback');
  }
  hoarder?.drop();
  const startedAt = performance.now();
  await neighbourhood.attack(() =>
    manyTimes(20, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `many-${index}` });
      client?.stopParsing();
      for (let round = 1; round <= 5; round += 1) {
        await client?.send(packet);
        while ((client?.bytesRead ?? 0) < round * 60_000) await setTimeout(5);
      }
      client?.drop();
    }),
  );
  // 6,000,000 filters in all; the retained messages are sent once for each packet.
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < 5 * servedMsMax, `the packets were handled in ${tookMs} ms`);
});

test('wills that wait and packets that never end do not use up the memory', async () => {
  await using neighbourhood = await startNeighbourhood();
  const held: RawClient[] = [];
  const unfinished = Buffer.alloc(7 * 1_048_576);
  unfinished.set([0x30, 0x80, 0x80, 0x80, 0x04, 0, 8]);
  unfinished.write('d/values', 7);
  let refused = 0;
  await neighbourhood.attack(async () => {
    await manyTimes(300, async (index) => {
      const will = {
        ...{ topic: `devices/d/${index}`, payload: Buffer.alloc(65_000), qos: 1 as const },
        ...{ retain: false, properties: { willDelayInterval: 86_400 } },
      };
      const userProperties = { filler: Array(3).fill('x'.repeat(60_000)) };
      const properties = { ...will.properties, userProperties };
      const client = await openRaw(neighbourhood.mqttUrl);
      await client.send(connectPacket({ clientId: `w${index}`, will: { ...will, properties } }));
      const answer = await client.next('connack');
      if (answer?.cmd === 'connack' && answer.reasonCode === 0x97) refused += 1;
      client.drop();
    });
    await manyTimes(16, async (index) => {
      const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `p${index}` });
      await client?.send(unfinished);
      if (client !== undefined) held.push(client);
    });
  });
  assert.ok(refused > 200, `${refused} wills were refused`);
  const closed = held.filter(({ isClosed }) => isClosed).length;
  assert.ok(closed >= 6, `${closed} of ${held.length} unfinished packets were refused`);
  for (const client of held) client.drop();
});
