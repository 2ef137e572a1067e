import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IConnectPacket, Packet } from 'mqtt-packet';
import { connectPeer, type MemoryPeer, settled } from '../../../test/mqtt/memory-peer.ts';
import { quickSessions, type TestBroker, testBroker } from '../../../test/mqtt/test-broker.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';

const mebibyte = 1_048_576;

async function subscriber(
  { broker }: TestBroker,
  username: string,
  options: Partial<IConnectPacket> = {},
): Promise<MemoryPeer> {
  const peer = await connectPeer(broker, {
    ...{ username, password: Buffer.from('p'), clientId: 'c', clean: false },
    ...options,
  });
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] });
  await peer.take();
  return peer;
}

const aMessage = (bytes: number, topic = 't') => ({
  ...{ topic, payload: Buffer.alloc(bytes), qos: 1 as const, retain: false },
});

const payloadsOf = (packets: readonly Packet[]): number[] =>
  packets.flatMap((packet) => (packet.cmd === 'publish' ? [packet.payload.length] : []));

test('one message for many sessions left behind takes its room once', async () => {
  const setup = await testBroker();
  const bytes = setup.budgets.of('mqtt_queued_bytes');
  for (let count = 0; count < 1_100; count += 1) {
    (await subscriber(setup, 'mallory', { clientId: `m${count}` })).drop();
  }
  const ann = await subscriber(setup, 'ann');
  setup.broker.deliver([aMessage(250_000)]);
  // The first of them get it at once, the others in slices.
  while (setup.broker.metrics().queuedMessages < 1_101) await settled();
  assert.ok(bytes.used < mebibyte, `${bytes.used} bytes`);
  assert.deepEqual(payloadsOf(await ann.take()), [250_000]);
  ann.send({ cmd: 'puback', messageId: 1 });
  for (let count = 0; count < 1_100; count += 1) {
    const again = await connectPeer(setup.broker, {
      ...{ username: 'mallory', password: Buffer.from('p'), clientId: `m${count}`, clean: true },
    });
    again.drop();
  }
  assert.deepEqual([bytes.used, setup.broker.metrics().queuedBytes], [0, 0]);
});

test('queues left behind fill the share of whoever left them, not that of others', async () => {
  const setup = await testBroker(undefined, { mqtt_queued_bytes: 8 * mebibyte });
  const bytes = setup.budgets.of('mqtt_queued_bytes');
  (await subscriber(setup, 'mallory')).drop();
  const ann = await subscriber(setup, 'ann');
  const received: number[] = [];
  for (let count = 0; count < 40; count += 1) {
    setup.broker.deliver([aMessage(200_000)]);
    const packets = await ann.take();
    received.push(...payloadsOf(packets));
    for (const packet of packets) {
      if (packet.cmd === 'publish') ann.send({ cmd: 'puback', messageId: packet.messageId ?? 0 });
    }
  }
  assert.equal(received.length, 40);
  assert.ok(bytes.usedBy(payerOfAccount('mallory')) <= 0.75 * bytes.rule.perAccount);
  assert.equal(bytes.usedBy(payerOfAccount('ann')), 0);
  assert.ok(setup.broker.metrics().dropped.queue_full > 30);
});

test('sessions that are away leave room for the one that is there', async () => {
  const setup = await testBroker(undefined, { mqtt_queued_bytes: 8 * mebibyte });
  for (const clientId of ['a1', 'a2']) (await subscriber(setup, 'ann', { clientId })).drop();
  for (let count = 0; count < 40; count += 1) setup.broker.deliver([aMessage(200_000)]);
  const there = await subscriber(setup, 'ann');
  await there.take();
  setup.broker.deliver([aMessage(200_000)]);
  assert.deepEqual(payloadsOf(await there.take()), [200_000]);
});

test('a client that is there and waits for nothing is served when the total is full', async () => {
  const setup = await testBroker(undefined, { mqtt_queued_bytes: 8 * mebibyte });
  const bytes = setup.budgets.of('mqtt_queued_bytes');
  for (const name of ['ann', 'ben', 'carol', 'dora']) bytes.add(payerOfAccount(name), 2 * mebibyte);
  const guest = await connectPeer(setup.broker, { clientId: 'g' });
  guest.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] });
  await guest.take();
  setup.broker.deliver([aMessage(1_000), aMessage(2_000)]);
  const packets = await guest.take();
  assert.deepEqual(payloadsOf(packets), [1_000]);
  guest.send({ cmd: 'puback', messageId: 1 });
  setup.broker.deliver([aMessage(3_000)]);
  assert.deepEqual(payloadsOf(await guest.take()), [3_000]);
});

test('whoever waits longest bears a message, also after a restart', async () => {
  const sessions = await quickSessions();
  const before = await testBroker(sessions);
  for (const name of ['ann', 'ben']) (await subscriber(before, name)).drop();
  before.broker.deliver([aMessage(100_000)]);
  const used = before.budgets.of('mqtt_queued_bytes').used;
  await before.broker.close();
  const after = await testBroker(sessions);
  const bytes = after.budgets.of('mqtt_queued_bytes');
  assert.equal(bytes.used, used);
  const [ann, ben] = [payerOfAccount('ann'), payerOfAccount('ben')];
  // Nothing but its identity was known of each session.
  assert.deepEqual([bytes.usedBy(ann) > 100_000, bytes.usedBy(ben) < 1_000], [true, true]);
  const password = Buffer.from('p');
  const back = await connectPeer(after.broker, { username: 'ann', password, clientId: 'c' });
  back.drop();
  assert.deepEqual([bytes.usedBy(ann), bytes.usedBy(ben) > 100_000], [0, true]);
});
