import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IConnectPacket, Packet } from 'mqtt-packet';
import { connectWith, type MemoryPeer, openPeer } from '../../../test/mqtt/memory-peer.ts';
import { openClient } from '../../../test/mqtt/open-broker.ts';
import { quickSessions, testBroker } from '../../../test/mqtt/test-broker.ts';
import { payerAt } from '../../domain/budgets/budget.ts';
import { identityOfGuest } from '../../domain/messaging/identity.ts';
import { type Message, sessionKey } from '../../domain/messaging/message.ts';
import { createOwnership } from './ownership.ts';

const home = '10.0.0.1';
const payer = payerAt(home);
const key = sessionKey('guest', 'sensor');
const aMessage = (topic: string): Message => ({
  ...{ topic, payload: Buffer.from('x'), qos: 1, retain: false },
});

/** A broker on what a version before 0.2 kept of a guest; usernames are addresses. */
async function startedOnFormer() {
  const sessions = await quickSessions();
  const session = { key, identity: 'guest', clientId: 'sensor', payer, expirySeconds: 3_600 };
  const subscription = (filter: string) => ({
    ...({ filter, qos: 1, noLocal: false, retainAsPublished: false } as const),
    ...({ retainHandling: 0, identifier: 0 } as const),
  });
  const entry = { key, packetId: 1, qos: 1, retain: false, identifiers: [] } as const;
  const will = { ...aMessage('will'), retain: true, publisher: key, payer };
  await sessions.apply([
    { kind: 'opened', session },
    { kind: 'subscribed', key, subscription: subscription('waited') },
    { kind: 'subscribed', key, subscription: subscription('$share/g/job/+') },
    { kind: 'queued', message: aMessage('waited'), entries: [entry] },
    { kind: 'will_kept', key, message: will, delayMs: 60_000, turn: 5 },
  ]);
  const { hooks, broker, budgets } = await testBroker(sessions);
  hooks.answerConnect = (address) => {
    const at = payerAt(address);
    const client = { ...openClient, identity: identityOfGuest(at), payer: at };
    return { kind: 'accepted', client };
  };
  await broker.adoptSessions();
  const wills = budgets.of('mqtt_will_bytes');
  assert.ok(wills.used > 0, 'a will waits');
  const open = (address: string, options: Partial<IConnectPacket> = {}): MemoryPeer => {
    const peer = openPeer(broker);
    peer.send(connectWith({ clean: false, clientId: 'sensor', username: address, ...options }));
    return peer;
  };
  return { sessions, broker, wills, open };
}

const isPresent = ([connack]: readonly Packet[]): boolean =>
  connack?.cmd === 'connack' && connack.sessionPresent;
const topicsOf = (packets: readonly Packet[]): string[] =>
  packets.flatMap((packet) => (packet.cmd === 'publish' ? [packet.topic] : []));

test('a guest comes back to what a version before 0.2 kept', async () => {
  const { broker, wills, open } = await startedOnFormer();
  const first = open(home);
  const got = await first.takeAll(2);
  assert.deepEqual([isPresent(got), topicsOf(got)], [true, ['waited']]);
  assert.equal(wills.used, 0, 'its will is cancelled');
  const second = open(home);
  assert.equal(isPresent(await second.takeAll(2)), true);
  assert.equal(first.isClosed, true);
  second.send({ cmd: 'subscribe', messageId: 9, subscriptions: [{ topic: 'other', qos: 0 }] });
  await second.take();
  broker.deliver(['job/1', 'job/2', 'job/3'].map(aMessage));
  assert.deepEqual(topicsOf(await second.takeAll(3)), ['job/1', 'job/2', 'job/3']);
  assert.equal(broker.metrics().sessions, 1);
});

test('a guest with a clean session ends what a version before 0.2 kept', async () => {
  const { sessions, broker, open } = await startedOnFormer();
  const peer = open(home, { clean: true });
  assert.equal(isPresent(await peer.takeAll(1)), false);
  assert.equal(broker.metrics().sessions, 1);
  peer.drop();
  const kept = await sessions.load();
  assert.deepEqual(kept.sessions, []);
  const again = open(home);
  assert.equal(isPresent(await again.takeAll(1)), false);
  assert.deepEqual((await sessions.load()).sessions[0]?.identity, identityOfGuest(payer));
});

test('a guest of another address takes nothing of what a version before 0.2 kept', async () => {
  const { broker, wills, open } = await startedOnFormer();
  const stranger = open('10.0.0.2');
  const got = await stranger.takeAll(1);
  assert.deepEqual([isPresent(got), topicsOf(got)], [false, []]);
  assert.ok(wills.used > 0);
  assert.equal(broker.metrics().sessions, 2);
  assert.deepEqual(topicsOf(await open(home).takeAll(2)), ['waited']);
  assert.equal(stranger.isClosed, false);
});

test('what was kept of a guest ends when its client begins a session elsewhere', async () => {
  const did: string[] = [];
  const session = { key, payer, link: { end: () => did.push('disconnected') } };
  const ownership = createOwnership({
    shared: {
      onFenced: () => undefined,
      wanted: { count: () => undefined, isElsewhere: () => undefined },
    },
    registry: {
      find: () => undefined,
      findFormer: ({ identity }: { readonly identity: string }) =>
        identity === identityOfGuest(payer) ? session : undefined,
      end: () => did.push('ended'),
    },
    wills: {
      // Of the session of before; of a newer one there is none here.
      cancel: (one: string) => one === key && did.push('cancelled'),
      publishNow: (one: string) => one === key && did.push('published'),
    },
  } as never);
  const opened = (address: string, cleanStart = false) =>
    ownership.told({
      ...{ kind: 'opened', turn: 7, cleanStart },
      ...{ identity: identityOfGuest(payerAt(address)), clientId: 'sensor' },
    });
  await opened('10.0.0.2');
  assert.deepEqual(did, []);
  await opened(home);
  assert.deepEqual(did, ['disconnected', 'cancelled', 'ended']);
  await opened(home, true);
  assert.deepEqual(did.slice(3), ['disconnected', 'published', 'ended']);
});

test('what was kept of a guest is not adopted beside a session of its client', async () => {
  const did: string[] = [];
  const former = { key, identity: 'guest', clientId: 'sensor', payer };
  const current = sessionKey(identityOfGuest(payer), 'sensor');
  const found = new Map<string, unknown>([[current, {}]]);
  const pages = [[former], []];
  const ownership = createOwnership({
    shared: {
      wanted: { count: () => undefined, isElsewhere: () => undefined },
      onFenced: () => undefined,
      adoptWills: async () => [],
      adopt: async () => pages.shift() ?? [],
      caughtUp: async (keys: readonly string[]) => void did.push(`caught up ${keys.length}`),
    },
    registry: {
      find: (one: string) => found.get(one),
      restore: (one: { readonly key: string }) => void found.set(one.key, one),
      end: () => did.push('ended'),
    },
    journal: { settled: async () => undefined },
    wills: { cancel: () => did.push('cancelled') },
  } as never);
  await ownership.adopt();
  await ownership.close();
  assert.deepEqual(did, ['cancelled', 'ended', 'caught up 1']);
});
