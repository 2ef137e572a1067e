// In a process of its own: it measures the heap.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { IPublishPacket } from 'mqtt-packet';
import {
  connectPeer,
  connectWith,
  type MemoryPeer,
  openPeer,
  settled,
} from '../../../test/mqtt/memory-peer.ts';
import { testBroker } from '../../../test/mqtt/test-broker.ts';

const publish = (topic: string, options: Partial<IPublishPacket> = {}): IPublishPacket => ({
  ...{ cmd: 'publish', topic, payload: 'x', qos: 0, retain: false, dup: false },
  ...options,
});

test('topics that are too long are not kept for their aliases', async () => {
  const { broker } = await testBroker();
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const heapBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heapBytes();
  const peers = [];
  for (let at = 0; at < 40; at += 1) {
    const peer = await connectPeer(broker, { clientId: `c${at}`, protocolVersion: 5 });
    peers.push(peer);
    for (let topicAlias = 1; topicAlias <= 10; topicAlias += 1) {
      const options = { qos: 1, messageId: topicAlias, properties: { topicAlias } } as const;
      peer.send(publish(`${at}/${topicAlias}/`.padEnd(65_000, 'x'), options));
      await peer.take();
    }
  }
  const grownBytes = heapBytes() - before;
  assert.ok(grownBytes < 10 * 1_048_576, `${grownBytes} bytes are kept`);
  const [peer] = peers;
  peer?.send(publish('', { qos: 1, messageId: 11, properties: { topicAlias: 1 } }));
  const [answer] = (await peer?.take()) ?? [];
  assert.deepEqual(
    [answer?.cmd, answer && 'reasonCode' in answer && answer.reasonCode],
    ['puback', 0x90],
  );
});

test('a CONNECT counts for its address until its client is let in', async () => {
  const { broker, hooks, budgets } = await testBroker(undefined, { partial_bytes: 4 * 1_048_576 });
  const bytes = budgets.of('partial_bytes');
  const checked = Promise.withResolvers<undefined>();
  hooks.answerConnect = () => checked.promise;
  const long = { username: 'mallory', password: Buffer.alloc(60_000, 'x') };
  const crowd: MemoryPeer[] = [];
  for (let at = 0; at < 40; at += 1) {
    const peer = openPeer(broker, 5);
    peer.send(connectWith({ ...long, clientId: `m${at}`, protocolVersion: 5 }));
    crowd.push(peer);
    // One that waits for its slice could not be told why it is refused.
    await settled();
  }
  assert.ok(bytes.used > 500_000, `${bytes.used} bytes`);
  assert.ok(bytes.used <= bytes.rule.perAddress, `${bytes.used} bytes`);
  const refused = crowd.filter(({ isClosed }) => isClosed);
  assert.ok(refused.length > 10);
  const [told] = (await refused[0]?.take()) ?? [];
  assert.ok(told?.cmd === 'connack' && told.reasonCode === 0x9f);
  assert.match(told.properties?.reasonString ?? '', /bytes of logins wait/);
  const ann = openPeer(broker);
  ann.send(connectWith({ username: 'ann', password: Buffer.from('p') }));
  checked.resolve(undefined);
  const [answer] = await ann.take();
  assert.ok(answer?.cmd === 'connack' && answer.returnCode === 0);
  assert.equal(bytes.used, 0);
});

test('ids of QoS 2 that are not released count with their session', async () => {
  const { broker, budgets } = await testBroker(undefined, { mqtt_session_bytes: 200 * 1_024 });
  const bytes = budgets.of('mqtt_session_bytes');
  const login = { username: 'mallory', password: Buffer.from('p') };
  const peer = await connectPeer(broker, { ...login, clean: false });
  const empty = bytes.used;
  const send = async (from: number, to: number): Promise<void> => {
    for (let id = from; id <= to; id += 1) peer.send(publish('t', { qos: 2, messageId: id }));
    const count = to - from + 1;
    assert.equal((await peer.takeAll(count)).length, count);
  };
  await send(1, 10);
  assert.equal(bytes.used - empty, 640);
  peer.send({ cmd: 'pubrel', messageId: 1 });
  await peer.take();
  assert.equal(bytes.used - empty, 576);
  // Beyond the quota the oldest is forgotten.
  await send(11, 2_000);
  assert.ok(bytes.used > 90_000 && bytes.used <= bytes.rule.perAccount, `${bytes.used} bytes`);
  peer.drop();
  const next = await connectPeer(broker, { ...login, clean: true });
  next.drop();
  await settled();
  assert.equal(bytes.used, 0);
});

test('an id is not forgotten for itself, however little room its payer has', async () => {
  const { broker, hooks } = await testBroker(undefined, { mqtt_session_bytes: 200 * 1_024 });
  let stored = 0;
  hooks.answerPublish = async () => {
    stored += 1;
    return { kind: 'accepted', isPassedOn: false };
  };
  const login = { username: 'ann', password: Buffer.from('p') };
  const ann = await connectPeer(broker, { ...login, clientId: 'a', clean: false });
  const other = await connectPeer(broker, { ...login, clientId: 'b' });
  for (let at = 1; at <= 400; at += 1) {
    other.send({ cmd: 'subscribe', messageId: at, subscriptions: [{ topic: `x/${at}`, qos: 0 }] });
  }
  for (let messageId = 1; messageId <= 40; messageId += 1) {
    other.send(publish('t', { qos: 2, messageId }));
  }
  await other.take();
  stored = 0;
  ann.send(publish('t', { qos: 2, messageId: 7 }));
  await ann.take();
  ann.send(publish('t', { qos: 2, messageId: 7, dup: true }));
  await ann.take();
  assert.equal(stored, 1);
});
