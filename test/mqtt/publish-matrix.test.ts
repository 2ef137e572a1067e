import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { rightsOn } from '../v2/rights-oracle.ts';
import { type Moment, mayGet, type Receiver } from './leak-oracle.ts';
import { createLeakWorld, type LeakWorld, topicOf, versions } from './leak-world.ts';
import { type Client, connect, ended } from './mqtt-clients.ts';

const asMade: Moment = { name: 'as it was made', hidden: [], shown: [], revoked: [] };
const kinds = ['value', 'values', 'actuator', 'free'] as const;
const notAuthorized = 0x87;

let world: LeakWorld;

before(async () => {
  world = await createLeakWorld();
});

after(() => world[Symbol.asyncDispose]());

const payloads = {
  value: (mark: string) => JSON.stringify({ value: mark }),
  values: (mark: string) => JSON.stringify([{ value: mark }]),
  actuator: (mark: string) => JSON.stringify(mark),
  free: (mark: string) => mark,
  gateway: (mark: string) => mark,
};

interface Attempt {
  readonly name: string;
  readonly topic: string;
  readonly payload: string;
  readonly mark: string;
  readonly isAllowed: boolean;
}

/** Everything this client may try, and whether it may [contract 4, 8]. */
function attemptsOf(sender: Receiver, label: string): readonly Attempt[] {
  return world.places.flatMap((place) =>
    (place.isGateway === true ? (['gateway'] as const) : kinds).map((kind) => {
      const mark = `${label}-${place.id}-${kind}`;
      const isAllowed =
        kind === 'free' || kind === 'gateway'
          ? mayGet(sender, kind, place, asMade)
          : rightsOn(sender, place, kind === 'actuator' ? 'granted' : 'open').includes(
              'devices-data:create',
            );
      const topic = topicOf(kind, place);
      return {
        name: `${sender.name} on ${topic}`,
        topic,
        payload: payloads[kind](mark),
        mark,
        isAllowed,
      };
    }),
  );
}

async function codeOf(client: Client, topic: string, payload: string, qos: 1 | 2): Promise<number> {
  return client.publish(topic, payload, { qos }).then(
    () => 0,
    (error: { code?: number }) => error.code ?? -1,
  );
}

/** What came out at a witness who sees everything, by mark. */
async function watchAll(): Promise<Client> {
  const witness = await connect(world.rights.service, { as: 'admin' });
  await witness.subscribe(['devices/#', 'gateways/#'], 2);
  return witness;
}

const sentinelTopic = 'devices/guest-public/free/end';

async function untilEnd(witness: Client, count: number): Promise<void> {
  await witness.publish(sentinelTopic, `end ${count}`, { qos: 1 });
  while (!witness.texts.includes(`${sentinelTopic} end ${count}`)) {
    await witness.got(witness.texts.length + 1);
  }
}

/** The marks that came out, without what brings them. */
function marksOf(witness: Client, label: string): readonly string[] {
  const found = witness.texts.flatMap(
    (text) => text.match(new RegExp(`${label}[\\w-]*`, 'g')) ?? [],
  );
  return [...new Set(found)].toSorted();
}

for (const version of versions) {
  test(`version ${version}: a publish is taken from those who may, and no one else`, async () => {
    await using witness = await watchAll();
    for (const [index, sender] of world.receivers.entries()) {
      const label = `p${version}x${index}x`;
      const attempts = attemptsOf(sender, label);
      await using client = await world.connect(sender, version);
      for (const [turn, { name, topic, payload, isAllowed }] of attempts.entries()) {
        const code = await codeOf(client, topic, payload, turn % 2 === 0 ? 1 : 2);
        // Before version 5 nobody is told; the refused and the taken look the same.
        const expected = isAllowed || version === 4 ? 0 : notAuthorized;
        assert.equal(code, expected, name);
      }
      await untilEnd(witness, index);
      const expected = attempts.filter(({ isAllowed }) => isAllowed).map(({ mark }) => mark);
      assert.deepEqual(marksOf(witness, label), expected.toSorted(), sender.name);
    }
  });
}

test('a last will is taken from those who may, and no one else', async () => {
  await using witness = await watchAll();
  for (const [index, sender] of world.receivers.entries()) {
    const label = `w${index}x`;
    const attempts = attemptsOf(sender, label);
    for (const { topic, payload } of attempts) {
      const client = await world.connect(sender, 5, {
        will: { topic, payload: Buffer.from(payload), qos: 1, retain: true },
      });
      client.mqtt.stream.destroy();
      await ended(client);
    }
    const expected = attempts.filter(({ isAllowed }) => isAllowed).map(({ mark }) => mark);
    while (marksOf(witness, label).length < expected.length) {
      await witness.got(witness.texts.length + 1);
    }
    await untilEnd(witness, index);
    assert.deepEqual(marksOf(witness, label), expected.toSorted(), sender.name);
  }
});

test('what the service tells of itself is for admins, and nobody publishes it', async () => {
  for (const sender of world.receivers) {
    for (const version of versions) {
      await using client = await world.connect(sender, version);
      for (const filter of ['$SYS/#', '$SYS/metrics/+', '$share/g/$SYS/#']) {
        const granted = await client.subscribe(filter).then(
          (grants) => grants[0]?.qos,
          (error: { packet?: { granted: number[] } }) => error.packet?.granted[0],
        );
        const refused = version === 5 ? notAuthorized : 0x80;
        assert.equal(granted, sender.isAdmin === true ? 1 : refused, `${sender.name} ${filter}`);
      }
      const code = await codeOf(client, '$SYS/metrics/x', '1', 1);
      assert.equal(code, version === 5 ? notAuthorized : 0, sender.name);
    }
  }
});
