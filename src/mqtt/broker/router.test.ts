import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPeer, type MemoryPeer } from '../../../test/mqtt/memory-peer.ts';
import { type TestBroker, testBroker } from '../../../test/mqtt/test-broker.ts';
import { payerOfAccount } from '../../domain/budgets/budget.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import { mqttLimits } from '../limits.ts';
import { createCounters } from './counters.ts';
import { createRouter } from './router.ts';
import { Session } from './session.ts';
import { createSubscriptionTree } from './subscription-tree.ts';

const aMessage = (payload: string, qos: 0 | 1 = 1) => ({
  ...{ topic: 't', payload: Buffer.from(payload), qos, retain: false },
});

async function subscriber(
  { broker }: TestBroker,
  username: string,
  clientId: string,
): Promise<MemoryPeer> {
  const password = Buffer.from('p');
  const peer = await connectPeer(broker, { username, password, clientId });
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] });
  await peer.take();
  return peer;
}

async function payloadsOf(peer: MemoryPeer): Promise<string[]> {
  const packets = await peer.take();
  return packets.flatMap((packet) => (packet.cmd === 'publish' ? [String(packet.payload)] : []));
}

test('however many sessions one account has, others get their messages first', async () => {
  const setup = await testBroker();
  const crowd = await Promise.all(
    Array.from({ length: 200 }, (_, at) => subscriber(setup, 'mallory', `m${at}`)),
  );
  const ann = await subscriber(setup, 'ann', 'a');
  const reachedAtOnce: string[] = [];
  setup.hooks.mayReceive = (identity) => {
    reachedAtOnce.push(identity);
    return true;
  };
  setup.broker.deliver([aMessage('1'), aMessage('2', 0), aMessage('3')]);
  // Deliveries counted here happened before any other work had a slice.
  assert.equal(reachedAtOnce.filter((identity) => identity === 'ann').length, 3);
  assert.ok(reachedAtOnce.length <= 3 * mqttLimits.deliveriesAtOnceMax);
  assert.ok(reachedAtOnce.length < crowd.length, `${reachedAtOnce.length} deliveries at once`);
  assert.deepEqual(await payloadsOf(ann), ['1', '2', '3']);
  for (const peer of crowd) assert.deepEqual(await payloadsOf(peer), ['1', '2', '3']);
  setup.broker.deliver([aMessage('4')]);
  assert.deepEqual(await payloadsOf(crowd.at(-1) ?? ann), ['4']);
});

test('deliveries that wait for one account have an end, and are counted beyond it', async () => {
  const setup = await testBroker();
  const crowd = await Promise.all(
    Array.from({ length: 100 }, (_, at) => subscriber(setup, 'mallory', `m${at}`)),
  );
  const ann = await subscriber(setup, 'ann', 'a');
  const most = Math.ceil(mqttLimits.deliveriesWaitingPerPayerMax / 100) + 20;
  setup.broker.deliver(Array.from({ length: most }, () => aMessage('x', 0)));
  assert.ok(setup.broker.metrics().dropped.queue_full > 0);
  assert.equal((await payloadsOf(ann)).length, most);
  const isSent = () =>
    setup.broker.metrics().messagesSent > mqttLimits.deliveriesWaitingPerPayerMax;
  for (let turn = 0; turn < 1_000 && !isSent(); turn += 1) await payloadsOf(crowd.at(-1) ?? ann);
  assert.ok(isSent());
});

test('the longer a message is, the fewer get it at once, of however many payers', async () => {
  const setup = await testBroker();
  const crowd = await Promise.all(
    Array.from({ length: 60 }, (_, at) => subscriber(setup, `m${at}`, 'm')),
  );
  let reachedAtOnce = 0;
  setup.hooks.mayReceive = () => {
    reachedAtOnce += 1;
    return true;
  };
  const long = 'x'.repeat(100_000);
  setup.broker.deliver([aMessage(long, 0)]);
  // A mebibyte, whatever the limit says.
  assert.ok(reachedAtOnce > 1 && reachedAtOnce <= 11, `${reachedAtOnce} got it at once`);
  setup.broker.deliver([aMessage('y', 0)]);
  for (const peer of crowd) assert.deepEqual(await payloadsOf(peer), [long, 'y']);
});

test('long messages that wait for one account have an end in bytes', async () => {
  const setup = await testBroker();
  const crowd = await Promise.all(
    Array.from({ length: 20 }, (_, at) => subscriber(setup, 'mallory', `m${at}`)),
  );
  const long = 'x'.repeat(200_000);
  const most = Math.ceil(mqttLimits.deliveriesWaitingBytesPerPayerMax / long.length);
  setup.broker.deliver(Array.from({ length: most + 10 }, () => aMessage(long, 0)));
  const dropped = setup.broker.metrics().dropped.queue_full;
  assert.ok(dropped >= 9 * crowd.length, `${dropped} were dropped`);
  for (const peer of crowd) peer.drop();
});

test('of many groups whose members may not have a message only a few are asked at once', () => {
  const tree = createSubscriptionTree();
  for (let at = 0; at < 200; at += 1) {
    const session = new Session({
      ...{ key: sessionKey('m', `${at}`), identity: 'm', clientId: `${at}` },
      ...{ expirySeconds: 3_600, payer: payerOfAccount('m') },
    });
    for (let group = 0; group < 100; group += 1) {
      tree.add(session, {
        ...{ filter: `$share/g${group}/#`, qos: 1, identifier: 0, retainHandling: 0 },
        ...{ noLocal: false, retainAsPublished: false },
      });
    }
  }
  let asked = 0;
  const tryAdmit = (): 'no' => {
    asked += 1;
    return 'no';
  };
  const router = createRouter({
    ...{
      tree,
      journal: { hold() {}, hasRoomFor: () => true, synced: () => undefined },
      counters: createCounters(),
      clock: { now: () => 0 },
    },
    shares: { spend() {} },
    outbound: { tryAdmit, admits: async () => false, offer() {} },
  });
  router.route(aMessage('1'));
  const { deliveriesAtOnceMax, groupMembersAskedMax } = mqttLimits;
  assert.ok(asked > 0 && asked <= deliveriesAtOnceMax * groupMembersAskedMax, `${asked}`);
});
