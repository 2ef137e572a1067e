import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IPublishPacket, Packet } from 'mqtt-packet';
import {
  connectPeer,
  connectWith,
  type MemoryPeer,
  openPeer,
  settled,
  settledUntil,
} from '../../../test/mqtt/memory-peer.ts';
import { forgetfulStore } from '../../../test/mqtt/open-broker.ts';
import { testBroker } from '../../../test/mqtt/test-broker.ts';
import type { SessionChange } from '../../domain/messaging/session-store.ts';
import { acceptedByService, type PublishOutcome, unavailableOutcome } from '../broker.ts';

const publish = (topic: string, options: Partial<IPublishPacket> = {}): IPublishPacket => ({
  cmd: 'publish',
  topic,
  payload: 'x',
  qos: 0,
  retain: false,
  dup: false,
  ...options,
});

const brief = (packets: readonly Packet[]): string[] =>
  packets.map((packet) => {
    if (packet.cmd === 'publish') return `publish ${packet.topic} ${packet.payload}`;
    const { reasonCode } = packet as { readonly reasonCode?: number };
    return [packet.cmd, packet.messageId, reasonCode].filter((part) => part).join(' ');
  });

async function subscribe(peer: MemoryPeer, topic: string, qos: 0 | 1 | 2 = 2): Promise<void> {
  peer.send({ cmd: 'subscribe', messageId: 9, subscriptions: [{ topic, qos }] });
  await peer.take();
}

test('publishes are answered in the order of arrival, however long the hooks takes', async () => {
  const { broker, hooks } = await testBroker();
  const first = Promise.withResolvers<{ kind: 'accepted'; isPassedOn: boolean }>();
  hooks.answerPublish = (topic) =>
    topic === 'slow' ? first.promise : { kind: 'accepted', isPassedOn: true };
  const reader = await connectPeer(broker, { clientId: 'reader' });
  await subscribe(reader, '#');
  const peer = await connectPeer(broker);
  peer.send(
    publish('slow', { qos: 1, messageId: 1 }),
    publish('fast', { qos: 1, messageId: 2 }),
    publish('faster', { qos: 2, messageId: 3 }),
  );
  assert.deepEqual(brief(await peer.take()), []);
  first.resolve({ kind: 'accepted', isPassedOn: true });
  assert.deepEqual(brief(await peer.take()), ['puback 1', 'puback 2', 'pubrec 3']);
  assert.deepEqual(brief(await reader.take()), [
    'publish slow x',
    'publish fast x',
    'publish faster x',
  ]);
});

test('a publish that cannot be stored is not acknowledged, and ends the connection', async () => {
  for (const protocolVersion of [4, 5] as const) {
    const { broker, hooks } = await testBroker();
    hooks.answerPublish = () => unavailableOutcome;
    const peer = await connectPeer(broker, { protocolVersion });
    peer.send(publish('t', { qos: 1, messageId: 1 }));
    const answers = brief(await peer.take());
    assert.deepEqual(answers, protocolVersion === 5 ? ['disconnect 137'] : []);
    assert.ok(peer.isClosed);
  }
});

test('only MQTT 5 learns why a publish was refused, and nobody receives it', async () => {
  const codes = { not_authorized: 0x87, payload_invalid: 0x99, topic_invalid: 0x90 };
  for (const [name, code] of Object.entries(codes)) {
    const { broker, hooks } = await testBroker();
    hooks.answerPublish = () => ({ kind: 'refused', reason: name as keyof typeof codes });
    const reader = await connectPeer(broker, { clientId: 'reader' });
    await subscribe(reader, '#');
    const old = await connectPeer(broker, { clientId: 'old' });
    const fresh = await connectPeer(broker, { clientId: 'fresh', protocolVersion: 5 });
    for (const peer of [old, fresh]) {
      peer.send(publish('t', { qos: 1, messageId: 1 }), publish('t', { qos: 2, messageId: 2 }));
    }
    assert.deepEqual(brief(await old.take()), ['puback 1', 'pubrec 2']);
    assert.deepEqual(brief(await fresh.take()), [`puback 1 ${code}`, `pubrec 2 ${code}`]);
    assert.deepEqual(await reader.take(), []);
  }
});

test('a publish without room is refused with MQTT 5, and not acknowledged before', async () => {
  for (const qos of [0, 1, 2] as const) {
    const { broker, hooks } = await testBroker();
    hooks.answerPublish = () => ({ kind: 'refused', reason: 'quota' });
    const fresh = await connectPeer(broker, { clientId: 'fresh', protocolVersion: 5 });
    fresh.send(publish('t', { qos, messageId: 1 }));
    const word = qos === 1 ? 'puback' : 'pubrec';
    assert.deepEqual(brief(await fresh.take()), qos === 0 ? [] : [`${word} 1 151`]);
    assert.equal(fresh.isClosed, false);
    const old = await connectPeer(broker, { clientId: 'old', clean: false });
    old.send(publish('t', { qos, messageId: 1 }));
    assert.deepEqual([brief(await old.take()), old.isClosed], [[], qos > 0]);
    hooks.answerPublish = () => ({ kind: 'accepted', isPassedOn: true });
    const reader = await connectPeer(broker, { clientId: 'reader' });
    await subscribe(reader, 't');
    const again = await connectPeer(broker, { clientId: 'old', clean: false });
    again.send(publish('t', { qos, messageId: 1, dup: qos > 0 }));
    await again.take();
    assert.equal((await reader.take()).length, 1);
  }
});

test('the receive maximum that is announced is kept to, exactly', async () => {
  const { broker } = await testBroker();
  const flood = (count: number) =>
    Array.from({ length: count }, (_, index) => publish('t', { qos: 2, messageId: index + 1 }));
  const peer = openPeer(broker, 5);
  peer.send(connectWith({ protocolVersion: 5 }));
  const [connack] = await peer.take();
  const most = connack?.cmd === 'connack' ? (connack.properties?.receiveMaximum ?? 0) : 0;
  assert.equal(most, 1_024);
  peer.send(...flood(most));
  // A repetition takes no more quota, and a release gives quota back.
  peer.send(publish('t', { qos: 2, messageId: 1, dup: true }));
  assert.equal((await peer.takeAll(most + 1)).length, most + 1);
  peer.send({ cmd: 'pubrel', messageId: 1 });
  peer.send(publish('t', { qos: 2, messageId: 2_000 }));
  assert.deepEqual(brief(await peer.take()), ['pubcomp 1', 'pubrec 2000']);
  peer.send(publish('t', { qos: 2, messageId: 2_001 }));
  assert.deepEqual(brief(await peer.take()), ['disconnect 147']);
  assert.ok(peer.isClosed);
});

test('what is under way is the room of whoever publishes it', async () => {
  const { broker, hooks, budgets } = await testBroker(undefined, {
    mqtt_publish_bytes: 1_048_576,
  });
  const bytes = budgets.of('mqtt_publish_bytes');
  const waiting: (() => void)[] = [];
  hooks.answerPublish = () =>
    new Promise((resolve) => waiting.push(() => resolve({ kind: 'accepted', isPassedOn: false })));
  const as = (username: string) => ({ username, password: Buffer.from('p'), clientId: username });
  const mallory = await connectPeer(broker, { ...as('mallory'), protocolVersion: 5 });
  const payload = Buffer.alloc(200_000);
  for (const messageId of [1, 2, 3]) mallory.send(publish('t', { qos: 1, messageId, payload }));
  assert.ok(bytes.used > 150_000 && bytes.used <= bytes.rule.perAccount);
  const ann = await connectPeer(broker, { ...as('ann'), protocolVersion: 5 });
  ann.send(publish('t', { qos: 1, messageId: 1, payload }));
  for (const resolve of waiting) resolve();
  assert.deepEqual(brief(await ann.take()), ['puback 1']);
  const answers = brief(await mallory.take());
  assert.deepEqual([answers[0], answers.at(-1)], ['puback 1', 'puback 3 151']);
  assert.equal(bytes.used, 0);
});

test('properties of what is under way are the room of whoever publishes it', async () => {
  const { broker, hooks, budgets } = await testBroker(undefined, { mqtt_publish_bytes: 800_000 });
  const bytes = budgets.of('mqtt_publish_bytes');
  const waiting: (() => void)[] = [];
  hooks.answerPublish = () =>
    new Promise((resolve) => waiting.push(() => resolve({ kind: 'accepted', isPassedOn: false })));
  const mallory = await connectPeer(broker, {
    ...{ username: 'mallory', password: Buffer.from('p'), clientId: 'm', protocolVersion: 5 },
  });
  const userProperties = { k: Array.from({ length: 5 }, () => 'x'.repeat(40_000)) };
  for (const messageId of [1, 2, 3]) {
    mallory.send(publish('t', { qos: 1, messageId, properties: { userProperties } }));
  }
  await settled();
  assert.ok(bytes.used > 150_000 && bytes.used <= bytes.rule.perAccount, `${bytes.used}`);
  for (const resolve of waiting) resolve();
  assert.equal(brief(await mallory.take()).at(-1), 'puback 3 151');
  assert.equal(bytes.used, 0);
});

test('small publishes without room are left in the socket until others are answered', async () => {
  const { broker, hooks, budgets } = await testBroker(undefined, {
    mqtt_publish_bytes: 262_144,
  });
  const bytes = budgets.of('mqtt_publish_bytes');
  const waiting: (() => void)[] = [];
  hooks.answerPublish = () =>
    new Promise((resolve) => waiting.push(() => resolve({ kind: 'accepted', isPassedOn: true })));
  const mallory = await connectPeer(broker, { username: 'm', password: Buffer.from('p') });
  for (let messageId = 1; messageId <= 200; messageId += 1) {
    mallory.send(publish('t', { qos: 2, messageId }));
  }
  await settled();
  assert.ok(mallory.isPaused);
  // Each counts for 4 KiB, and one that is in memory already needs no budget.
  const most = bytes.rule.perAccount / 4_096 + 1;
  assert.ok(waiting.length > 4 && waiting.length <= most, `${waiting.length} of ${most}`);
  // Others have a quota of their own, and four of each connection need none.
  const ann = await connectPeer(broker, { username: 'ann', password: Buffer.from('p') });
  ann.send(publish('t', { qos: 1, messageId: 1 }));
  await settled();
  waiting.at(-1)?.();
  assert.deepEqual(brief(await ann.take()), ['puback 1']);
  const answered: string[] = [];
  while (answered.length < 200) {
    for (const resolve of waiting.splice(0)) resolve();
    answered.push(...brief(await mallory.take()));
  }
  assert.deepEqual([answered.at(0), answered.at(-1)], ['pubrec 1', 'pubrec 200']);
  assert.deepEqual([mallory.isPaused, mallory.isClosed, bytes.used], [false, false, 0]);
});

test('a QoS 2 message sent twice under one id arrives once, until the id is released', async () => {
  const { broker } = await testBroker();
  const reader = await connectPeer(broker, { clientId: 'reader' });
  await subscribe(reader, 't', 0);
  const peer = await connectPeer(broker);
  peer.send(
    publish('t', { qos: 2, messageId: 7 }),
    publish('t', { qos: 2, messageId: 7, dup: true }),
  );
  assert.deepEqual(brief(await peer.take()), ['pubrec 7', 'pubrec 7']);
  peer.send({ cmd: 'pubrel', messageId: 7 }, publish('t', { qos: 2, messageId: 7 }));
  assert.deepEqual(brief(await peer.take()), ['pubcomp 7', 'pubrec 7']);
  assert.equal((await reader.take()).length, 2);
});

test('a peer that publishes faster than it is answered is not read from until it is', async () => {
  const { broker, hooks } = await testBroker();
  const waiting: (() => void)[] = [];
  hooks.answerPublish = () =>
    new Promise((resolve) => waiting.push(() => resolve({ kind: 'accepted', isPassedOn: false })));
  const peer = await connectPeer(broker);
  const flood = Array.from({ length: 3_000 }, (_, index) =>
    publish('t', { qos: 1, messageId: index + 1 }),
  );
  peer.send(...flood);
  await settledUntil(() => peer.isPaused, flood.length);
  assert.ok(peer.isPaused);
  assert.ok(waiting.length <= 1_024);
  let answered = 0;
  while (answered < 3_000) {
    for (const answer of waiting.splice(0)) answer();
    const packets = await peer.take();
    assert.ok(packets.length > 0);
    answered += packets.length;
  }
  assert.equal(peer.isPaused, false);
});

test('a topic that is too long or too deep is refused and not stored', async () => {
  const { broker, hooks } = await testBroker();
  hooks.answerPublish = () => assert.fail('the hooks was asked');
  const peer = await connectPeer(broker, { protocolVersion: 5 });
  const deep = Array.from({ length: 17 }, () => 'a').join('/');
  peer.send(
    publish('a'.repeat(1_025), { qos: 1, messageId: 1 }),
    publish(deep, { qos: 1, messageId: 2 }),
  );
  assert.deepEqual(brief(await peer.take()), ['puback 1 144', 'puback 2 144']);
});

test('a topic alias stands for the topic it came with, on this connection only', async () => {
  const { broker } = await testBroker();
  const reader = await connectPeer(broker, { clientId: 'reader' });
  await subscribe(reader, '#', 0);
  const peer = await connectPeer(broker, { protocolVersion: 5 });
  peer.send(publish('a/b', { properties: { topicAlias: 3 } }));
  peer.send(publish('', { properties: { topicAlias: 3 }, payload: 'y' }));
  assert.deepEqual(brief(await reader.take()), ['publish a/b x', 'publish a/b y']);
  const other = await connectPeer(broker, { clientId: 'other', protocolVersion: 5 });
  other.send(publish('', { properties: { topicAlias: 3 } }));
  assert.deepEqual(brief(await other.take()), ['disconnect 130']);
});

test('an MQTT 5 message takes its properties along, and what is left of its expiry', async () => {
  const { broker, clock } = await testBroker();
  const options = { protocolVersion: 5, clean: false, properties: { sessionExpiryInterval: 100 } };
  const reader = await connectPeer(broker, { ...options, protocolVersion: 5, clientId: 'reader' });
  reader.send({
    cmd: 'subscribe',
    messageId: 1,
    subscriptions: [{ topic: 't', qos: 1 }],
    properties: { subscriptionIdentifier: 5 },
  });
  await reader.take();
  reader.drop();
  const peer = await connectPeer(broker, { protocolVersion: 5 });
  const properties = {
    payloadFormatIndicator: true,
    contentType: 'text/plain',
    responseTopic: 'answers',
    correlationData: Buffer.from([1, 2]),
    userProperties: { unit: 'C' },
  };
  peer.send(
    publish('t', {
      qos: 1,
      messageId: 1,
      properties: { ...properties, messageExpiryInterval: 30 },
    }),
    publish('t', { qos: 1, messageId: 2, properties: { messageExpiryInterval: 5 } }),
  );
  await peer.take();
  clock.advance(10_000);
  const again = openPeer(broker, 5);
  again.send(connectWith({ clientId: 'reader', protocolVersion: 5, clean: false }));
  const [connack, message, ...others] = await again.take();
  assert.equal(connack?.cmd === 'connack' && connack.sessionPresent, true);
  assert.deepEqual(others, []);
  assert.ok(message?.cmd === 'publish');
  const { userProperties, ...plain } = message.properties ?? {};
  assert.deepEqual({ ...userProperties }, properties.userProperties);
  const { userProperties: _sent, ...rest } = properties;
  assert.deepEqual(plain, { ...rest, messageExpiryInterval: 20, subscriptionIdentifier: 5 });
  assert.equal(broker.metrics().dropped.expired, 1);
});

test('a publisher waits for its answers, however its publishes end', async () => {
  const { broker, hooks } = await testBroker();
  const first = Promise.withResolvers<{ kind: 'accepted'; isPassedOn: boolean }>();
  hooks.answerPublish = () => first.promise;
  const peer = await connectPeer(broker);
  peer.send(publish('t'));
  // A topic with too many levels, which is refused at once.
  const refused = publish('a/'.repeat(20));
  for (let count = 0; count < 1_100; count += 1) if (!peer.isPaused) peer.send(refused);
  assert.ok(peer.isPaused);
  first.resolve({ kind: 'accepted', isPassedOn: true });
  await peer.take();
  assert.deepEqual([peer.isPaused, peer.isClosed], [false, false]);
});

test('what is refused for room is not held while it waits for its answer', async () => {
  const { broker, hooks, budgets } = await testBroker(undefined, { mqtt_publish_bytes: 100_000 });
  const first = Promise.withResolvers<PublishOutcome>();
  hooks.answerPublish = (topic) => (topic === 'slow' ? first.promise : acceptedByService);
  const login = { username: 'ann', password: Buffer.from('p') };
  const peer = await connectPeer(broker, login);
  peer.send(publish('slow'), publish('t', { payload: 'x'.repeat(200_000) }));
  await settled();
  peer.send(publish('t', { payload: 'x'.repeat(20_000), qos: 1, messageId: 2 }));
  first.resolve(acceptedByService);
  assert.deepEqual(brief(await peer.take()), ['puback 2']);
  assert.equal(broker.metrics().dropped.refused, 1);
  assert.equal(budgets.of('mqtt_publish_bytes').used, 0);
});

test('ids that clients never release do not add up without end', async () => {
  const changes: SessionChange[] = [];
  const apply = async (some: readonly SessionChange[]): Promise<void> => {
    changes.push(...some);
  };
  const { broker } = await testBroker({ ...forgetfulStore, apply });
  for (let round = 0; round < 4; round += 1) {
    const peer = await connectPeer(broker, { clean: false });
    for (let count = 1; count <= 2_000; count += 1) {
      peer.send(publish('t', { qos: 2, messageId: 2_000 * round + count }));
      if (count % 500 === 0) await peer.take();
    }
    assert.equal(peer.isClosed, false);
    peer.drop();
  }
  const countOf = (kind: SessionChange['kind']) =>
    changes.filter((one) => one.kind === kind).length;
  assert.equal(countOf('received'), 8_000);
  assert.equal(countOf('completed'), 8_000 - 4_096);
});
