import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { IConnectPacket, IPublishPacket } from 'mqtt-packet';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { connectRaw, manyTimes, type RawClient } from './raw-mqtt.ts';

const strangers = ['mallory', 'trudy', 'eve'];
const sessionsOfEach = 4_000;
const rounds = 30;
const messagesPerRound = 25;

/** A device of the user's own, and how its clients log in. */
async function furnish(town: Neighbourhood, username: string): Promise<Partial<IConnectPacket>> {
  const token = await town.tokenOf(username);
  const post = (path: string, json: unknown) => town.call({ method: 'POST', path, token, json });
  const made = await post('/devices', { id: `of-${username}`, sensors: [{ id: 's' }] });
  assert.equal(made.status, 204, made.text);
  const { json } = await post('/auth/keys', { name: 'k' });
  return { username, password: Buffer.from((json as { key: string }).key) };
}

const publish = (topic: string, messageId: number): IPublishPacket => ({
  ...{ cmd: 'publish', topic, messageId, payload: Buffer.from('1') },
  ...{ qos: 1, dup: false, retain: false },
});

/** Sessions that are left behind, and a client that publishes to all of them. */
async function leaveSessions(town: Neighbourhood, username: string): Promise<RawClient> {
  const login = await furnish(town, username);
  const subscriptions = [{ topic: `devices/of-${username}/#`, qos: 1 as const }];
  await manyTimes(
    sessionsOfEach,
    async (at) => {
      const client = await connectRaw(town.mqttUrl, { clientId: `kept-${at}`, ...login });
      await client?.send({ cmd: 'subscribe', messageId: 1, subscriptions });
      assert.ok((await client?.next('suback')) !== undefined, 'it is no attack');
      client?.drop();
    },
    40,
  );
  const publisher = await connectRaw(town.mqttUrl, { clientId: 'flood', ...login });
  assert.ok(publisher !== undefined);
  publisher.stopParsing();
  return publisher;
}

async function flood(publisher: RawClient, username: string): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const ids = Array.from({ length: messagesPerRound }, (_, at) => 1 + at);
    const first = round * messagesPerRound;
    await publisher.send(...ids.map((id) => publish(`devices/of-${username}/x`, first + id)));
    await setTimeout(100);
  }
}

test('publishes for thousands of kept sessions hold up no acknowledgement of others', async () => {
  await using town = await startNeighbourhood();
  const client = await connectRaw(town.mqttUrl, {
    ...{ clientId: 'carol', ...(await furnish(town, 'carol')) },
  });
  assert.ok(client !== undefined);
  const publishers: RawClient[] = [];
  for (const username of strangers) publishers.push(await leaveSessions(town, username));
  const waitedMs: number[] = [];
  await town.attack(async () => {
    let isOver = false;
    const floods = publishers.map((publisher, at) => flood(publisher, strangers[at] ?? ''));
    const flooding = Promise.all(floods).finally(() => {
      isOver = true;
    });
    for (let id = 1; !isOver || id < 5; id += 1) {
      const startedAt = performance.now();
      await client.send(publish('devices/of-carol/sensors/s/value', id));
      const answer = await client.next('puback');
      assert.ok(answer?.cmd === 'puback' && (answer.reasonCode ?? 0) < 0x80);
      waitedMs.push(Math.round(performance.now() - startedAt));
    }
    await flooding;
  });
  const longestMs = Math.max(...waitedMs);
  assert.ok(longestMs <= servedMsMax, `her publish was acknowledged after ${longestMs} ms`);
  for (const one of [client, ...publishers]) one.drop();
});
