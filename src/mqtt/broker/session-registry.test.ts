import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IConnectPacket, Packet } from 'mqtt-packet';
import {
  connectPeer,
  connectWith,
  type MemoryPeer,
  openPeer,
  settledUntil,
} from '../../../test/mqtt/memory-peer.ts';
import { quickSessions, testBroker } from '../../../test/mqtt/test-broker.ts';
import { payerAt, payerOfAccount } from '../../domain/budgets/budget.ts';
import type { SessionChange } from '../../domain/messaging/session-store.ts';

const as = (username: string, clientId: string): Partial<IConnectPacket> => ({
  ...{ username, clientId, clean: false, protocolVersion: 5 },
  ...(username !== 'guest' && { password: Buffer.from('p') }),
  properties: { sessionExpiryInterval: 3_600 },
});

const codesOf = ([packet]: readonly Packet[]): readonly (number | object)[] =>
  packet?.cmd === 'suback' ? packet.granted : [];

/** Levels as deep as they may be, in a filter as long as it may be. */
const longFilter = (name: string): string => `${name}${'/x'.repeat(16)}/${'y'.repeat(900)}`;

test('long filters of sessions left behind use up the room of whoever left them', async () => {
  const { broker, budgets } = await testBroker(undefined, { mqtt_session_bytes: 1_048_576 });
  const refusals: (number | object)[] = [];
  for (let session = 0; session < 20; session += 1) {
    const peer = await connectPeer(broker, as('mallory', `m${session}`));
    const topics = Array.from({ length: 20 }, (_, at) => longFilter(`${session}-${at}`));
    const subscriptions = topics.map((topic) => ({ topic, qos: 1 as const }));
    peer.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    refusals.push(...codesOf(await peer.take()));
    peer.drop();
  }
  const bytes = budgets.of('mqtt_session_bytes');
  assert.ok(refusals.includes(0x97));
  assert.ok(refusals.filter((code) => code === 1).length < 70);
  assert.ok(bytes.usedBy(payerOfAccount('mallory')) <= bytes.rule.perAccount);
  const ann = await connectPeer(broker, as('ann', 'a'));
  ann.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'devices/#', qos: 1 }] });
  assert.deepEqual(codesOf(await ann.take()), [1]);
});

test('what sessions take counts by level and length, over a restart too', async () => {
  const sessions = await quickSessions();
  const before = await testBroker(sessions);
  const guest = await connectPeer(before.broker, as('guest', 'g'));
  const bytes = before.budgets.of('mqtt_session_bytes');
  const address = payerAt('127.0.0.1');
  const empty = bytes.usedBy(address);
  const filters = ['a', 'a/b/c/d/e', longFilter('z')];
  const used: number[] = [];
  for (const topic of filters) {
    guest.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic, qos: 1 }] });
    await guest.take();
    used.push(bytes.usedBy(address));
  }
  const [first = 0, second = 0, third = 0] = used;
  assert.ok(second - first > 2 * (first - empty) && third - second > 4 * (first - empty));
  guest.drop();
  await before.broker.close();
  const after = await testBroker(sessions);
  const restored = after.budgets.of('mqtt_session_bytes');
  assert.equal(restored.usedBy(address), third);
  const again = await connectPeer(after.broker, as('guest', 'g'));
  again.send({ cmd: 'unsubscribe', messageId: 1, unsubscriptions: filters });
  await again.take();
  assert.equal(restored.usedBy(address), empty);
  (await connectPeer(after.broker, { clientId: 'g', clean: true })).drop();
  assert.deepEqual([restored.used, after.budgets.of('mqtt_sessions').used], [0, 0]);
});

test('an account has its number of sessions, and others have theirs', async () => {
  const { broker } = await testBroker(undefined, { mqtt_sessions: 40 });
  const codes: (number | undefined)[] = [];
  for (let session = 0; session < 22; session += 1) {
    const peer = openPeer(broker, 5);
    peer.send(connectWith({ ...as('mallory', `m${session}`) }));
    const [answer] = await peer.take();
    codes.push(answer?.cmd === 'connack' ? answer.reasonCode : undefined);
    peer.drop();
  }
  assert.deepEqual([codes.slice(0, 20), codes.slice(20)], [Array(20).fill(0), [0x97, 0x97]]);
  const ann = openPeer(broker, 5);
  ann.send(connectWith(as('ann', 'a')));
  const [answer] = await ann.take();
  assert.equal(answer?.cmd === 'connack' && answer.reasonCode, 0);
});

test('one filter 60 000 times in a packet is one subscription with one backlog', async () => {
  const { broker } = await testBroker();
  const payload = Buffer.from('x');
  await broker.retain({ topic: 'a/1', payload, qos: 1, retain: true });
  const peer = await connectPeer(broker, { protocolVersion: 4 });
  const filter = Buffer.from([0, 1, 0x23, 0]);
  const filters = Array.from({ length: 60_000 }, () => filter);
  const body = Buffer.concat([Buffer.from([0, 7]), ...filters]);
  const length = [
    (body.length & 0x7f) | 0x80,
    ((body.length >> 7) & 0x7f) | 0x80,
    body.length >> 14,
  ];
  peer.sendBytes(Buffer.concat([Buffer.from([0x82, ...length]), body]));
  const [suback, ...others] = await peer.take();
  assert.ok(suback?.cmd === 'suback');
  assert.equal(suback.granted.length, 60_000);
  assert.deepEqual([suback.granted[0], suback.granted.at(-1)], [0, 0x80]);
  assert.deepEqual(
    others.map(({ cmd }) => cmd),
    ['publish'],
  );
  assert.equal(broker.metrics().subscriptions, 1);
});

const willOf = (bytes: number, delaySeconds: number): Partial<IConnectPacket> => ({
  will: {
    ...{ topic: 'devices/d/gone', payload: Buffer.alloc(bytes), qos: 1, retain: false },
    properties: { willDelayInterval: delaySeconds },
  },
});

test('wills that wait take the room of whoever left them, until they are settled', async () => {
  const { broker, budgets, pass } = await testBroker(undefined, { mqtt_will_bytes: 1_048_576 });
  const bytes = budgets.of('mqtt_will_bytes');
  const codes: (number | undefined)[] = [];
  for (let count = 0; count < 10; count += 1) {
    const peer = openPeer(broker, 5);
    peer.send(connectWith({ ...as('mallory', `m${count}`), ...willOf(60_000, 600) }));
    const [answer] = await peer.take();
    codes.push(answer?.cmd === 'connack' ? answer.reasonCode : undefined);
    peer.drop();
  }
  assert.deepEqual(codes, [0, 0, 0, 0, ...Array(6).fill(0x97)]);
  const ann = openPeer(broker, 5);
  ann.send(connectWith({ ...as('ann', 'a'), ...willOf(100, 600) }));
  const [answer] = await ann.take();
  assert.equal(answer?.cmd === 'connack' && answer.reasonCode, 0);
  ann.send({ cmd: 'disconnect' });
  await ann.take();
  assert.equal(bytes.usedBy(payerOfAccount('ann')), 0);
  // A client that reconnects in time cancels its will; the wills of the others are published.
  const back = await connectPeer(broker, { ...as('mallory', 'm0'), ...willOf(1_000, 600) });
  assert.ok(bytes.used < 4 * 60_000);
  back.send({ cmd: 'disconnect' });
  pass(601_000);
  assert.equal(bytes.used, 0);
});

test('a client that could not read CONNACK leaves no session and no will behind', async () => {
  const { broker, budgets } = await testBroker();
  const peer = openPeer(broker, 5);
  const properties = { sessionExpiryInterval: 3_600, maximumPacketSize: 5 };
  peer.send(connectWith({ ...as('mallory', 'm'), ...willOf(10, 0), properties }));
  assert.deepEqual([await peer.take(), peer.isClosed], [[], true]);
  assert.equal(broker.metrics().sessions, 0);
  assert.equal(budgets.of('mqtt_will_bytes').used, 0);
});

test('unfinished packets take the room of whoever sends them, small ones none', async () => {
  const { broker, budgets } = await testBroker(undefined, { partial_bytes: 1_048_576 });
  const bytes = budgets.of('partial_bytes');
  const unfinished = Buffer.alloc(200_000);
  unfinished.set([0x30, 0xc0, 0x9a, 0x0c, 0, 8]);
  unfinished.write('d/values', 6);
  const peers: MemoryPeer[] = [];
  for (let count = 0; count < 3; count += 1) {
    const peer = await connectPeer(broker, as('mallory', `m${count}`));
    peer.sendBytes(unfinished);
    peers.push(peer);
  }
  const [goodbye] = (await peers[1]?.take()) ?? [];
  assert.equal(goodbye?.cmd === 'disconnect' && goodbye.reasonCode, 0x97);
  assert.equal(bytes.usedBy(payerOfAccount('mallory')), 200_000);
  const small = await connectPeer(broker, as('mallory', 'small'));
  small.sendBytes(unfinished.subarray(0, 4_000));
  assert.equal(small.isClosed, false);
  const ann = await connectPeer(broker, as('ann', 'a'));
  ann.sendBytes(unfinished);
  assert.equal(ann.isClosed, false);
  for (const peer of [...peers, ann]) peer.drop();
  assert.equal(bytes.used, 0);
});

test('guests who are away make room for one who comes, those who left first', async () => {
  const { broker, budgets } = await testBroker(undefined, { mqtt_sessions: 400 });
  const { perAddress } = budgets.of('mqtt_sessions').rule;
  assert.equal(perAddress, 10);
  for (let count = 0; count < perAddress; count += 1) {
    (await connectPeer(broker, as('guest', `g${count}`))).drop();
  }
  const late = openPeer(broker, 5);
  late.send(connectWith(as('guest', 'late')));
  const [answer] = await late.take();
  assert.equal(answer?.cmd === 'connack' && answer.reasonCode, 0);
  assert.equal(broker.metrics().sessions, perAddress);
  const isThere = async (clientId: string) => {
    const peer = openPeer(broker, 5);
    peer.send(connectWith(as('guest', clientId)));
    const [connack] = await peer.take();
    return connack?.cmd === 'connack' && connack.sessionPresent;
  };
  assert.deepEqual([await isThere('g1'), await isThere('g0')], [true, false]);
  // No connected client has to go.
  const there = await Promise.all(
    Array.from({ length: perAddress }, (_, at) => connectPeer(broker, as('guest', `t${at}`))),
  );
  assert.equal(broker.metrics().sessions, perAddress);
  assert.ok(there.some(({ isClosed }) => isClosed));
});

test('retained messages are the room of whoever publishes them', async () => {
  const { broker, budgets } = await testBroker(undefined, { mqtt_retained: 400 });
  const entries = budgets.of('mqtt_retained');
  const publishRetained = async (username: string, topic: string, payload = 'x') => {
    const peer = await connectPeer(broker, { ...as(username, username), clean: true });
    peer.send({ cmd: 'publish', topic, payload, qos: 1, messageId: 1, retain: true, dup: false });
    const [answer] = await peer.take();
    peer.drop();
    return answer?.cmd === 'puback' ? (answer.reasonCode ?? 0) : undefined;
  };
  const codes: (number | undefined)[] = [];
  for (let count = 0; count < 25; count += 1) {
    codes.push(await publishRetained('guest', `devices/d/${count}`));
  }
  assert.deepEqual([codes.filter((code) => code === 0x97).length, entries.used], [5, 20]);
  assert.notEqual(await publishRetained('ann', 'devices/d/of-ann'), 0x97);
  // One in the place of another is no more than that one; its publisher pays.
  assert.notEqual(await publishRetained('guest', 'devices/d/1', 'y'), 0x97);
  assert.notEqual(await publishRetained('ann', 'devices/d/1', 'z'), 0x97);
  assert.deepEqual(
    [entries.usedBy(payerAt('127.0.0.1')), entries.usedBy(payerOfAccount('ann'))],
    [19, 2],
  );
  await broker.forgetRetained('devices/d/');
  assert.deepEqual([entries.used, budgets.of('mqtt_retained_bytes').used], [0, 0]);
});

test('a client is let in when its last will is on disk, and has taken room by then', async () => {
  const step = Promise.withResolvers<void>();
  const kept: SessionChange[] = [];
  const { broker, budgets } = await testBroker(
    {
      load: async () => ({ sessions: [], retained: [] }),
      apply(changes) {
        kept.push(...changes);
        return step.promise;
      },
    },
    { mqtt_will_bytes: 1_048_576 },
  );
  const bytes = budgets.of('mqtt_will_bytes');
  const peers = Array.from({ length: 6 }, (_, at) => {
    const peer = openPeer(broker, 5);
    peer.send(connectWith({ ...as('mallory', `m${at}`), ...willOf(60_000, 0) }));
    return peer;
  });
  // Who has none waits for nothing.
  await connectPeer(broker, as('ann', 'a'));
  const codesOf = async (some: readonly (typeof peers)[number][]) =>
    (await Promise.all(some.map((peer) => peer.take()))).map(([answer]) =>
      answer?.cmd === 'connack' ? answer.reasonCode : undefined,
    );
  assert.deepEqual(await codesOf(peers.slice(4)), [0x97, 0x97]);
  assert.deepEqual(await codesOf(peers.slice(0, 4)), Array(4).fill(undefined));
  const used = bytes.usedBy(payerOfAccount('mallory'));
  assert.ok(used > 4 * 60_000, `${used} bytes are taken`);
  const [left] = peers;
  left?.drop();
  step.resolve();
  assert.deepEqual(await codesOf(peers.slice(1, 4)), [0, 0, 0]);
  assert.deepEqual(
    kept.map(({ kind }) => kind).filter((kind) => kind.startsWith('will')),
    [...Array(4).fill('will_kept'), 'will_settled'],
  );
  assert.ok(bytes.usedBy(payerOfAccount('mallory')) < used);
});

test('filters of clients that leave at once are forgotten some at a time', async () => {
  const { broker, budgets } = await testBroker();
  const bytes = budgets.of('mqtt_session_bytes');
  const peers = await Promise.all(
    Array.from({ length: 5 }, (_, at) => connectPeer(broker, { clientId: `c${at}` })),
  );
  for (const [at, peer] of peers.entries()) {
    const topics = Array.from({ length: 400 }, (_, filter) => `${at}/${filter}/+`);
    const subscriptions = topics.map((topic) => ({ topic, qos: 1 as const }));
    peer.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    await peer.takeAll(1);
  }
  const used = bytes.used;
  for (const peer of peers) peer.drop();
  const { subscriptions, sessions } = broker.metrics();
  assert.equal(sessions, 0);
  assert.ok(subscriptions >= 5 * (400 - 64), `${subscriptions} are left`);
  assert.ok(bytes.used > used / 2, 'what is left counts for who left it');
  await settledUntil(() => broker.metrics().subscriptions === 0, 1_000);
  assert.deepEqual([broker.metrics().subscriptions, bytes.used], [0, 0]);
});

for (const protocolVersion of [4, 5] as const) {
  test(`who drops and subscribes again at once has room, version ${protocolVersion}`, async () => {
    const { broker, budgets } = await testBroker();
    const bytes = budgets.of('mqtt_session_bytes');
    const hub = { clientId: 'hub', clean: true, protocolVersion };
    const topics = Array.from({ length: 4_500 }, (_, at) => `house/floor/room/${at}/+`);
    const packets = Array.from({ length: 9 }, (_, at) => ({
      ...{ cmd: 'subscribe' as const, messageId: at + 1 },
      subscriptions: topics
        .slice(at * 500, (at + 1) * 500)
        .map((topic) => ({ topic, qos: 1 as const })),
    }));
    const before = openPeer(broker, protocolVersion);
    before.send(connectWith(hub), ...packets);
    await before.takeAll(10);
    const { used } = bytes;
    before.drop();
    const after = openPeer(broker, protocolVersion);
    after.send(connectWith(hub), ...packets);
    const codes = (await after.takeAll(10)).flatMap((packet) => codesOf([packet]));
    assert.deepEqual([codes.length, codes.filter((code) => code !== 1).length], [4_500, 0]);
    assert.ok(bytes.used <= bytes.rule.perAddress);
    await settledUntil(() => broker.metrics().subscriptions === 4_500, 1_000);
    assert.deepEqual([broker.metrics().subscriptions, bytes.used], [4_500, used]);
  });
}
