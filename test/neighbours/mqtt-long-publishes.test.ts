import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generate } from 'mqtt-packet';
import { passwordOf } from '../service.ts';
import { type Neighbourhood, servedMsMax, startNeighbourhood } from './neighbours.ts';
import { openNewPusher } from './new-pusher.ts';
import { connectRaw, type RawClient } from './raw-mqtt.ts';

const attackMs = 8_000;
const arrayBytes = 8 * 1_048_576 - 1_000;
const [publishersEach, comers] = [2, 20];

/** As many datapoints as a packet takes, whose digits take longest to read. */
function longArray(): string {
  const element = '{"value":12345678901234567890}';
  return `[${`${element},`.repeat(Math.floor(arrayBytes / (element.length + 1)) - 1)}${element}]`;
}

/** The account with a device; undefined: guests. Answers its clients, and what they publish. */
async function openStranger(town: Neighbourhood, username: string | undefined, array: string) {
  const token = username === undefined ? undefined : await town.tokenOf(username);
  const id = `of-${username ?? 'guests'}`;
  const made = await town.call({
    ...{ method: 'POST', path: '/devices', json: { id, sensors: [{ id: 's' }] } },
    ...(token !== undefined && { token }),
  });
  assert.equal(made.status, 204, made.text);
  const login = username && { username, password: Buffer.from(passwordOf(username)) };
  const open = async (clientId: string): Promise<RawClient> => {
    const client = await connectRaw(town.mqttUrl, { ...login, clientId: `${id}-${clientId}` });
    assert.ok(client, `${id} was not let in`);
    return client;
  };
  for (const word of ['value', 'values'] as const) {
    const subscriber = await open(word);
    const subscriptions = [{ topic: `devices/${id}/sensors/+/${word}`, qos: 0 as const }];
    await subscriber.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    await subscriber.next('suback');
    subscriber.stopParsing();
  }
  const topic = `devices/${id}/sensors/s/values`;
  const packet = generate(
    {
      ...{ cmd: 'publish', topic, payload: array, messageId: 1 },
      ...{ qos: 1, dup: false, retain: false },
    },
    { protocolVersion: 5 },
  );
  const publishers: RawClient[] = [];
  for (let at = 0; at < publishersEach; at += 1) publishers.push(await open(`publisher-${at}`));
  return { publishers, packet };
}

test('long arrays that many publish, with subscribers, keep nobody else waiting', async () => {
  await using town = await startNeighbourhood();
  const push = await openNewPusher(town);
  const array = longArray();
  const strangers: Awaited<ReturnType<typeof openStranger>>[] = [];
  for (const username of [undefined, 'eve', 'mallory', 'trudy']) {
    strangers.push(await openStranger(town, username, array));
  }
  const { hostname: host, port } = new URL(town.url);
  let [longest, answered] = [0, 0];
  await town.attack(async () => {
    const until = performance.now() + attackMs;
    const isOver = () => performance.now() > until;
    const publish = async (client: RawClient, packet: Buffer): Promise<void> => {
      while (!isOver()) {
        await client.send(packet);
        if ((await client.next('puback')) === undefined) return;
        answered += 1;
      }
    };
    // Each turn of the event loop lets one of those who wait in.
    const comeAndGo = async (): Promise<void> => {
      while (!isOver()) {
        const socket = connect({ host, port: Number(port) });
        socket.on('error', () => undefined);
        await sleep(20);
        socket.destroy();
      }
    };
    const pushAll = async (): Promise<void> => {
      while (!isOver()) longest = Math.max(longest, await push());
    };
    await Promise.all([
      ...strangers.flatMap(({ publishers, packet }) =>
        publishers.map((client) => publish(client, packet)),
      ),
      ...Array.from({ length: comers }, comeAndGo),
      pushAll(),
    ]);
  });
  assert.ok(answered >= strangers.length, `${answered} arrays were answered`);
  assert.ok(longest < servedMsMax, `a push on a new connection took ${Math.round(longest)} ms`);
  for (const { publishers } of strangers) for (const client of publishers) client.drop();
});
