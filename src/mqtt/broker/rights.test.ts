import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Packet } from 'mqtt-packet';
import { connectPeer, type MemoryPeer, settled } from '../../../test/mqtt/memory-peer.ts';
import { testBroker } from '../../../test/mqtt/test-broker.ts';
import type { Message } from '../../domain/messaging/message.ts';

const aMessage = (topic: string, options: Partial<Message> = {}): Message => ({
  topic,
  payload: Buffer.from('x'),
  qos: 1,
  retain: false,
  ...options,
});

const topicsOf = (packets: readonly Packet[]): string[] =>
  packets.flatMap((packet) => (packet.cmd === 'publish' ? [packet.topic] : []));

async function subscribe(peer: MemoryPeer, topic: string): Promise<Packet[]> {
  peer.send({ cmd: 'subscribe', messageId: 9, subscriptions: [{ topic, qos: 1 }] });
  return peer.take();
}

const isOpen = (_identity: string, topic: string): boolean => !topic.startsWith('private');

test('a wildcard brings nothing its subscriber may not receive, live or retained', async () => {
  const { broker, hooks } = await testBroker();
  hooks.mayReceive = isOpen;
  await broker.retain(aMessage('private/r', { retain: true }));
  await broker.retain(aMessage('public/r', { retain: true }));
  const peer = await connectPeer(broker);
  for (const filter of ['#', '+/r', 'private/#', '$share/g/#']) {
    assert.ok(!topicsOf(await subscribe(peer, filter)).includes('private/r'), filter);
  }
  broker.deliver([aMessage('private/x'), aMessage('public/x'), aMessage('private/y', { qos: 0 })]);
  assert.ok((await peer.take()).length > 0);
  broker.deliver([aMessage('private/x')]);
  assert.deepEqual(await peer.take(), []);
  assert.ok(broker.metrics().dropped.not_allowed > 0);
});

test('a right that ends or begins counts from the next message on', async () => {
  const { broker, hooks } = await testBroker();
  const peer = await connectPeer(broker);
  await subscribe(peer, '#');
  for (const isAllowed of [true, false, true]) {
    hooks.mayReceive = () => isAllowed;
    broker.deliver([aMessage('t')]);
    assert.deepEqual(topicsOf(await peer.take()), isAllowed ? ['t'] : []);
  }
});

test('what was queued while the right was there is not delivered once it is gone', async () => {
  const { broker, hooks } = await testBroker();
  const options = { clean: false, clientId: 'keeper' };
  const peer = await connectPeer(broker, options);
  await subscribe(peer, '#');
  peer.drop();
  broker.deliver([aMessage('private/x'), aMessage('public/x')]);
  assert.equal(broker.metrics().queuedMessages, 2);
  hooks.mayReceive = isOpen;
  const again = await connectPeer(broker, options);
  assert.deepEqual(topicsOf(await again.take()), []);
  assert.equal(broker.metrics().dropped.not_allowed, 1);
  assert.equal(broker.metrics().queuedMessages, 1);
});

test('nothing is queued for an absent client that it could not receive', async () => {
  const { broker, hooks } = await testBroker();
  hooks.mayReceive = isOpen;
  const peer = await connectPeer(broker, { clean: false });
  await subscribe(peer, '#');
  peer.drop();
  broker.deliver([aMessage('private/x')]);
  assert.equal(broker.metrics().queuedMessages, 0);
});

test('while a right is looked up, later messages wait behind the first, in order', async () => {
  const { broker, hooks } = await testBroker();
  const answers: ((isAllowed: boolean) => void)[] = [];
  hooks.mayReceive = (_identity, topic) =>
    topic.startsWith('asked') ? new Promise((resolve) => answers.push(resolve)) : true;
  const peer = await connectPeer(broker);
  await subscribe(peer, '#');
  broker.deliver(['asked/1', 'known/1', 'asked/2', 'known/2'].map((topic) => aMessage(topic)));
  assert.deepEqual(topicsOf(await peer.take()), []);
  answers[0]?.(true);
  await settled();
  assert.equal(answers.length, 2);
  answers[1]?.(false);
  assert.deepEqual(topicsOf(await peer.take()), ['asked/1', 'known/1', 'known/2']);
});

test('while a right cannot be looked up nothing is shown, and QoS 1 waits', async () => {
  const { broker, hooks } = await testBroker();
  const peer = await connectPeer(broker);
  await subscribe(peer, '#');
  await subscribe(peer, '$share/group/shared');
  let asked = 0;
  hooks.mayReceive = () => {
    asked += 1;
    return Promise.reject(new Error('the store is down'));
  };
  broker.deliver([aMessage('first'), aMessage('none', { qos: 0 }), aMessage('shared')]);
  assert.deepEqual(await peer.take(), []);
  const before = asked;
  const giveUpAt = performance.now() + 10_000;
  while (asked === before && performance.now() < giveUpAt) await wait(10);
  hooks.mayReceive = () => true;
  const got: string[] = [];
  while (got.length < 3 && performance.now() < giveUpAt) {
    await wait(10);
    got.push(...topicsOf(await peer.take()));
  }
  assert.deepEqual(got, ['first', 'shared', 'shared']);
});

test('a filter the hooks refuses is told so, in the words of each version', async () => {
  for (const [protocolVersion, code] of [
    [4, 0x80],
    [5, 0x87],
  ] as const) {
    const { broker, hooks } = await testBroker();
    hooks.maySubscribe = (filter) => !filter.startsWith('$SYS');
    const peer = await connectPeer(broker, { protocolVersion });
    const [answer] = await subscribe(peer, '$SYS/#');
    assert.deepEqual(answer?.cmd === 'suback' && answer.granted, [code]);
    broker.deliver([aMessage('$SYS/load')]);
    assert.deepEqual(await peer.take(), []);
  }
});

test('whoever is gone is disconnected, and forgotten with its sessions on demand', async () => {
  const { broker, hooks, pass } = await testBroker();
  const login = { username: 'ann', password: Buffer.from('p') };
  const first = await connectPeer(broker, { ...login, protocolVersion: 5 });
  const stays = await connectPeer(broker, { clientId: 'other' });
  hooks.isGone = (identity) => identity === 'ann';
  pass(1_000);
  const [goodbye] = await first.take();
  assert.equal(goodbye?.cmd === 'disconnect' && goodbye.reasonCode, 0x87);
  assert.equal(stays.isClosed, false);
  hooks.isGone = () => false;
  await connectPeer(broker, { ...login, clean: false });
  assert.equal(broker.metrics().sessions, 2);
  await broker.endSessions((identity) => identity === 'ann');
  assert.deepEqual([broker.metrics().sessions, broker.metrics().connections], [1, 1]);
});

test('a session that ends while a right is looked up keeps nobody waiting', async () => {
  const { broker, hooks } = await testBroker();
  const asked = Promise.withResolvers<boolean>();
  hooks.mayReceive = (identity) => (identity === 'ann' ? asked.promise : true);
  const login = { username: 'ann', password: Buffer.from('p'), clientId: 'keeper' };
  await subscribe(await connectPeer(broker, { ...login, clean: false }), '#');
  const publisher = await connectPeer(broker, { clientId: 'publisher' });
  const publish = (messageId: number): void =>
    publisher.send({
      ...{ cmd: 'publish', topic: 't', payload: 'x', qos: 1, retain: false, dup: false },
      messageId,
    });
  publish(1);
  publish(2);
  await connectPeer(broker, { ...login, clean: true });
  asked.resolve(true);
  publish(3);
  const answers = (await publisher.take()).map(({ cmd, messageId }) => `${cmd} ${messageId}`);
  assert.deepEqual(answers, ['puback 1', 'puback 2', 'puback 3']);
});

test('a SUBACK is not larger than its client takes, whatever it would say', async () => {
  const { broker, hooks } = await testBroker();
  hooks.maySubscribe = () => false;
  const properties = { maximumPacketSize: 512 };
  const peer = await connectPeer(broker, { protocolVersion: 5, properties });
  const subscriptions = Array.from(
    { length: 450 },
    (_, at) => ({ topic: `a${at}`, qos: 0 }) as const,
  );
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions });
  const [suback] = await peer.take();
  assert.ok(suback?.cmd === 'suback' && suback.granted.length === 450);
  assert.ok((suback.length ?? 0) + 3 <= 512, `${suback.length} bytes`);
});
