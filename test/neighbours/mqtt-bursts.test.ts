import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { generate } from 'mqtt-packet';
import { startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';
import { residentMebibytes } from './unread.ts';

const connections = 300;
const publishes = 250;
/** In which what was sent is read. */
const readMs = 30_000;
/** What the process may keep of a burst. */
const grownMiBMax = 150;

const burst = (from: number): Buffer =>
  Buffer.concat(
    Array.from({ length: publishes }, (_, index) =>
      generate(
        {
          ...{ cmd: 'publish', topic: 'devices/burst/sensors/s/value', payload: `${from + index}` },
          ...{ qos: 2, dup: false, retain: false, messageId: index + 1 },
        },
        { protocolVersion: 5 },
      ),
    ),
  );

test('a burst of QoS 2 over many connections keeps nobody waiting, nor memory', async () => {
  await using neighbourhood = await startNeighbourhood();
  const rss = () => residentMebibytes(neighbourhood.process.pid);
  const device = { id: 'burst', sensors: [{ id: 's' }] };
  const made = await neighbourhood.call({ method: 'POST', path: '/devices', json: device });
  assert.equal(made.status, 204);
  const crowd: RawClient[] = [];
  await manyTimes(connections, async (index) => {
    const client = await connectRaw(neighbourhood.mqttUrl, { clientId: `burst-${index}` });
    if (client !== undefined) crowd.push(client);
  });
  assert.equal(crowd.length, connections);
  const before = rss();
  let peak = before;
  const answers = (): number =>
    crowd.flatMap(({ packets }) => packets).filter(({ cmd }) => cmd === 'pubrec').length;
  await neighbourhood.attack(async () => {
    await Promise.all(crowd.map((client, index) => client.send(burst(index * publishes))));
    for (let left = readMs; left > 0 && answers() < connections * publishes; left -= 1_000) {
      await setTimeout(1_000);
      peak = Math.max(peak, rss());
    }
  });
  assert.equal(answers(), connections * publishes, 'some were not answered');
  for (const client of crowd) client.drop();
  // Memory goes back to the system bit by bit, once nothing is under way any more.
  let after = rss();
  for (let left = readMs; left > 0 && after > before + grownMiBMax; left -= 500) {
    await setTimeout(500);
    after = rss();
  }
  const told = `${Math.round(before)} MiB, at most ${Math.round(peak)}, then ${Math.round(after)}`;
  assert.ok(after <= before + grownMiBMax, told);
  const { text } = await neighbourhood.call({
    path: '//metrics',
    token: await neighbourhood.tokenOf('admin'),
  });
  const used = /^kipimo_budget_used\{budget="mqtt_publish_bytes".*$/m.exec(text)?.[0];
  assert.match(used ?? '', / 0$/, used);
});
