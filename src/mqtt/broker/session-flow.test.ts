import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IConnectPacket, ISubscription, Packet } from 'mqtt-packet';
import {
  connectPeer,
  connectWith,
  type MemoryPeer,
  openPeer,
  settled,
} from '../../../test/mqtt/memory-peer.ts';
import { quickSessions, testBroker } from '../../../test/mqtt/test-broker.ts';
import type { Message, Qos } from '../../domain/messaging/message.ts';

const aMessage = (topic: string, options: Partial<Message> = {}): Message => ({
  topic,
  payload: Buffer.from('x'),
  qos: 1,
  retain: false,
  ...options,
});

const durable: Partial<IConnectPacket> = { clean: false, clientId: 'keeper' };

async function subscribe(
  peer: MemoryPeer,
  ...subscriptions: (Partial<ISubscription> & { readonly topic: string })[]
): Promise<Packet[]> {
  const list = subscriptions.map((one) => ({ qos: 2 as Qos, ...one }));
  peer.send({ cmd: 'subscribe', messageId: 9, subscriptions: list });
  return peer.take();
}

const topicsOf = (packets: readonly Packet[]): string[] =>
  packets.flatMap((packet) => (packet.cmd === 'publish' ? [packet.topic] : []));

test('a kept session gets what it missed, and again what it did not settle', async () => {
  const { broker } = await testBroker();
  const first = await connectPeer(broker, durable);
  await subscribe(first, { topic: '#' });
  broker.deliver([aMessage('a'), aMessage('b', { qos: 2 }), aMessage('c', { qos: 0 })]);
  // What goes out with QoS 2 is on disk first: messages of QoS 0 may come before it.
  const [a, , b] = await first.take();
  assert.ok(a?.cmd === 'publish' && b?.cmd === 'publish');
  first.send({ cmd: 'pubrec', messageId: b.messageId ?? 0 });
  await first.take();
  first.drop();
  broker.deliver([aMessage('d'), aMessage('e', { qos: 0 })]);
  const second = openPeer(broker);
  second.send(connectWith(durable));
  const [connack, ...others] = await second.take();
  assert.equal(connack?.cmd === 'connack' && connack.sessionPresent, true);
  assert.deepEqual(
    others.map((packet) =>
      packet.cmd === 'publish' ? [packet.topic, packet.dup, packet.messageId] : packet.cmd,
    ),
    [['a', true, a.messageId], 'pubrel', ['d', false, 3]],
  );
});

test('a kept session survives the process, with subscriptions, queue and QoS 2 ids', async () => {
  const sessions = await quickSessions();
  const before = await testBroker(sessions);
  const first = await connectPeer(before.broker, durable);
  await subscribe(first, { topic: 'a/+' });
  first.send({
    cmd: 'publish',
    topic: 'a/q',
    payload: 'q',
    qos: 2,
    messageId: 5,
    retain: true,
    dup: false,
  });
  const sent = await first.take();
  const own = sent.find(({ cmd }) => cmd === 'publish');
  first.send({ cmd: 'pubrec', messageId: own?.messageId ?? 0 });
  first.send({ cmd: 'pubcomp', messageId: own?.messageId ?? 0 });
  first.drop();
  before.broker.deliver([aMessage('a/1'), aMessage('b/1')]);
  await before.broker.close();
  const after = await testBroker(sessions);
  after.broker.deliver([aMessage('a/2')]);
  assert.equal(after.broker.metrics().retained, 1);
  const second = openPeer(after.broker);
  second.send(connectWith(durable));
  second.send({
    cmd: 'publish',
    topic: 'a/q',
    payload: 'q',
    qos: 2,
    messageId: 5,
    retain: false,
    dup: true,
  });
  const packets = await second.take();
  assert.deepEqual(topicsOf(packets), ['a/1', 'a/2']);
  assert.ok(packets.some(({ cmd }) => cmd === 'pubrec'));
});

test('a QoS 2 value stored while the broker closes reaches kept sessions', async () => {
  const sessions = await quickSessions();
  const before = await testBroker(sessions);
  const reader = await connectPeer(before.broker, durable);
  await subscribe(reader, { topic: 't' });
  const stored = Promise.withResolvers<void>();
  let isHeard = true;
  before.hooks.answerPublish = async () => {
    await stored.promise;
    // As the service does: values come in when they are stored, until the broker has closed.
    if (isHeard) before.broker.deliver([aMessage('t', { qos: 2 })]);
    return { kind: 'accepted', isPassedOn: false };
  };
  const value = { topic: 't', payload: 'x', qos: 2, retain: false } as const;
  const sent = { ...value, cmd: 'publish', messageId: 5 } as const;
  const publisher = { clean: false, clientId: 'publisher' };
  const first = await connectPeer(before.broker, publisher);
  first.send({ ...sent, dup: false });
  await first.take();
  const closed = before.broker.close().then(() => {
    isHeard = false;
  });
  await settled();
  stored.resolve();
  await closed;
  await settled();
  const after = await testBroker(sessions);
  after.hooks.answerPublish = () => {
    after.broker.deliver([aMessage('t', { qos: 2 })]);
    return { kind: 'accepted', isPassedOn: false };
  };
  const second = openPeer(after.broker);
  second.send(connectWith(publisher), { ...sent, dup: true });
  assert.deepEqual(
    (await second.take()).map(({ cmd }) => cmd),
    ['connack', 'pubrec'],
  );
  const again = openPeer(after.broker);
  again.send(connectWith(durable));
  assert.deepEqual(topicsOf(await again.take()), ['t']);
});

test('a clean start and an expiry that has passed leave nothing behind', async () => {
  const { broker, pass } = await testBroker();
  const kept = await connectPeer(broker, {
    ...durable,
    protocolVersion: 5,
    properties: { sessionExpiryInterval: 50 },
  });
  await subscribe(kept, { topic: 'a' });
  kept.drop();
  assert.equal(broker.metrics().sessions, 1);
  pass(49_000);
  assert.equal(broker.metrics().sessions, 1);
  pass(2_000);
  assert.equal(broker.metrics().sessions, 0);
  const again = await connectPeer(broker, durable);
  await subscribe(again, { topic: 'a' });
  again.drop();
  const clean = await connectPeer(broker, { ...durable, clean: true });
  broker.deliver([aMessage('a')]);
  assert.deepEqual(await clean.take(), []);
  clean.drop();
  const { sessions, subscriptions, queuedMessages, queuedBytes } = broker.metrics();
  assert.deepEqual([sessions, subscriptions, queuedMessages, queuedBytes], [0, 0, 0, 0]);
});

test('a session is over at the second, for its client and for messages', async () => {
  const { broker, clock } = await testBroker();
  const options = { ...durable, protocolVersion: 5 as const };
  const properties = { sessionExpiryInterval: 5 };
  const first = await connectPeer(broker, { ...options, properties });
  await subscribe(first, { topic: '#' }, { topic: '$share/g/#' });
  first.drop();
  clock.advance(4_999);
  broker.deliver([aMessage('early')]);
  assert.equal(broker.metrics().queuedMessages, 2);
  clock.advance(1);
  // No sweep has run since.
  broker.deliver([aMessage('late')]);
  assert.equal(broker.metrics().queuedMessages, 2);
  const second = openPeer(broker, 5);
  second.send(connectWith({ ...options, properties }));
  const [connack, ...others] = await second.take();
  assert.equal(connack?.cmd === 'connack' && connack.sessionPresent, false);
  assert.deepEqual(others, []);
});

test('a client id ends the older connection of its own identity, not that of others', async () => {
  const { broker, hooks } = await testBroker();
  const password = Buffer.from('p');
  const first = await connectPeer(broker, { protocolVersion: 5, username: 'ann', password });
  const other = await connectPeer(broker, { protocolVersion: 5, username: 'bob', password });
  assert.equal(first.isClosed, false);
  const second = await connectPeer(broker, { protocolVersion: 5, username: 'ann', password });
  const [goodbye] = await first.take();
  assert.equal(goodbye?.cmd === 'disconnect' && goodbye.reasonCode, 0x8e);
  assert.deepEqual(
    [first, other, second].map(({ isClosed }) => isClosed),
    [true, false, false],
  );
  assert.deepEqual(hooks.seen.at(-1), 'ann connected');
  assert.equal(hooks.seen.filter((what) => what === 'ann disconnected').length, 1);
});

test('a will is published when the connection breaks, and not after a goodbye', async () => {
  for (const isPolite of [false, true]) {
    const { broker } = await testBroker();
    const reader = await connectPeer(broker, { clientId: 'reader' });
    await subscribe(reader, { topic: '#' });
    const will = { topic: 'w', payload: Buffer.from('gone'), qos: 1 as Qos, retain: true };
    const peer = await connectPeer(broker, { will });
    if (isPolite) peer.send({ cmd: 'disconnect' });
    peer.drop();
    assert.deepEqual(topicsOf(await reader.take()), isPolite ? [] : ['w']);
    assert.equal(broker.metrics().retained, isPolite ? 0 : 1);
  }
});

test('a delayed will waits for its delay, and for nothing if the client comes back', async () => {
  const { broker, pass } = await testBroker();
  const reader = await connectPeer(broker, { clientId: 'reader' });
  await subscribe(reader, { topic: '#' });
  const options: Partial<IConnectPacket> = {
    ...durable,
    protocolVersion: 5,
    properties: { sessionExpiryInterval: 600 },
    will: {
      topic: 'w',
      payload: Buffer.from(''),
      qos: 0,
      retain: false,
      properties: { willDelayInterval: 20 },
    },
  };
  (await connectPeer(broker, options)).drop();
  pass(10_000);
  const second = await connectPeer(broker, options);
  pass(15_000);
  assert.deepEqual(topicsOf(await reader.take()), []);
  second.drop();
  pass(19_000);
  assert.deepEqual(topicsOf(await reader.take()), []);
  pass(1_500);
  assert.deepEqual(topicsOf(await reader.take()), ['w']);
});

test('a will that its client may not publish any more is not published', async () => {
  const { broker, hooks } = await testBroker();
  const reader = await connectPeer(broker, { clientId: 'reader' });
  await subscribe(reader, { topic: '#' });
  const will = { topic: 'w', payload: Buffer.from(''), qos: 0 as Qos, retain: false };
  const peer = await connectPeer(broker, { will });
  hooks.answerPublish = () => ({ kind: 'refused', reason: 'not_authorized' });
  peer.drop();
  assert.deepEqual(topicsOf(await reader.take()), []);
});

test('a will that the service cannot take now is published when it can', async () => {
  const { broker, hooks, pass } = await testBroker();
  const reader = await connectPeer(broker, { clientId: 'reader' });
  await subscribe(reader, { topic: '#' });
  const will = { topic: 'w', payload: Buffer.from(''), qos: 0 as Qos, retain: false };
  const peer = await connectPeer(broker, { will });
  const { answerPublish } = hooks;
  hooks.answerPublish = () => ({ kind: 'unavailable' });
  peer.drop();
  assert.deepEqual(topicsOf(await reader.take()), []);
  pass(1_500);
  assert.deepEqual(topicsOf(await reader.take()), []);
  hooks.answerPublish = answerPublish;
  pass(1_500);
  assert.deepEqual(topicsOf(await reader.take()), ['w']);
  pass(1_500);
  assert.deepEqual(topicsOf(await reader.take()), []);
});

test('retained messages come with a new subscription, as its retain handling asks', async () => {
  const { broker } = await testBroker();
  await broker.retain(aMessage('a/1', { retain: true }));
  await broker.retain(aMessage('a/2', { retain: true }));
  await broker.retain(aMessage('$s', { retain: true }));
  await broker.retain(aMessage('a/2', { retain: true, payload: Buffer.alloc(0) }));
  const peer = await connectPeer(broker, { protocolVersion: 5 });
  const answer = await subscribe(peer, { topic: '#' });
  const [, message] = answer;
  assert.deepEqual(topicsOf(answer), ['a/1']);
  assert.ok(message?.cmd === 'publish' && message.retain);
  assert.deepEqual(topicsOf(await subscribe(peer, { topic: '#', rh: 1 })), []);
  assert.deepEqual(topicsOf(await subscribe(peer, { topic: 'a/#', rh: 1 })), ['a/1']);
  assert.deepEqual(topicsOf(await subscribe(peer, { topic: '+/1', rh: 2 })), []);
  assert.deepEqual(topicsOf(await subscribe(peer, { topic: '#', rh: 0 })), ['a/1']);
  assert.deepEqual(topicsOf(await subscribe(peer, { topic: '$share/g/#' })), []);
});

test('no local, retain as published and overlapping filters are kept to', async () => {
  const { broker } = await testBroker();
  const peer = await connectPeer(broker, { protocolVersion: 5 });
  await subscribe(
    peer,
    { topic: 'own', nl: true },
    { topic: 'kept', rap: true },
    { topic: 'plain' },
  );
  for (const topic of ['own', 'kept', 'plain']) {
    peer.send({ cmd: 'publish', topic, payload: 'x', qos: 0, retain: true, dup: false });
  }
  const got = (await peer.take()).map(
    (packet) => packet.cmd === 'publish' && [packet.topic, packet.retain],
  );
  assert.deepEqual(got, [
    ['kept', true],
    ['plain', false],
  ]);
  const other = await connectPeer(broker, { clientId: 'other' });
  await subscribe(other, { topic: 'z/#', qos: 0 }, { topic: 'z/+', qos: 1 });
  broker.deliver([aMessage('z/1', { qos: 2 })]);
  const overlapping = await other.take();
  assert.deepEqual(topicsOf(overlapping), ['z/1']);
  assert.equal(overlapping[0]?.cmd === 'publish' && overlapping[0].qos, 1);
});

test('a group takes turns, and skips members who may not or are away', async () => {
  const { broker, hooks } = await testBroker();
  const names = ['ann', 'ann/bob', 'ann/eve'];
  const peers = await Promise.all(
    names.map((username) =>
      connectPeer(broker, {
        clientId: username,
        username,
        password: Buffer.from('p'),
        clean: false,
      }),
    ),
  );
  for (const peer of peers) await subscribe(peer, { topic: '$share/g/t/#' });
  hooks.mayReceive = (identity) => identity !== 'ann/eve';
  const count = async () => Promise.all(peers.map(async (peer) => (await peer.take()).length));
  broker.deliver(Array.from({ length: 12 }, () => aMessage('t/1')));
  const [ann = 0, bob = 0, eve] = await count();
  assert.deepEqual([ann + bob, eve, ann > 0, bob > 0], [12, 0, true, true]);
  peers[0]?.drop();
  broker.deliver(Array.from({ length: 4 }, () => aMessage('t/1')));
  assert.equal((await count())[1], 4);
});

test('a group is one of an account: strangers in it take nothing from it', async () => {
  const { broker } = await testBroker();
  const password = Buffer.from('p');
  const connectAs = (username: string) =>
    connectPeer(broker, { clientId: username, username, password, clean: false });
  const strangers = await Promise.all(['mallory', 'mallory/2', 'mallory/3'].map(connectAs));
  const worker = await connectAs('ann');
  for (const peer of [...strangers, worker]) {
    await subscribe(peer, { topic: '$share/workers/t/#' });
  }
  broker.deliver(Array.from({ length: 20 }, () => aMessage('t/1')));
  assert.equal((await worker.take()).length, 20);
});
