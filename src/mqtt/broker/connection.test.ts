import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { generate, type Packet } from 'mqtt-packet';
import { connectPeer, connectWith, openPeer } from '../../../test/mqtt/memory-peer.ts';
import { testBroker } from '../../../test/mqtt/test-broker.ts';
import { mqttLimits } from '../limits.ts';

test('each refusal of a login has its code in each version, and ends the connection', async () => {
  const codes = {
    bad_credentials: [4, 0x86],
    not_authorized: [5, 0x87],
    client_id_invalid: [2, 0x85],
    unavailable: [3, 0x88],
    rate_limited: [3, 0x9f],
    banned: [5, 0x8a],
  } as const;
  for (const [name, [old, fresh]] of Object.entries(codes)) {
    for (const protocolVersion of [3, 4, 5] as const) {
      const { broker, hooks } = await testBroker();
      const reason = name as keyof typeof codes;
      hooks.answerConnect = () => ({ kind: 'refused', reason });
      const peer = openPeer(broker, protocolVersion);
      peer.send(connectWith({ protocolVersion }));
      const [answer] = await peer.take();
      assert.ok(answer?.cmd === 'connack');
      if (protocolVersion === 5) {
        assert.equal(answer.reasonCode, fresh);
        assert.match(answer.properties?.reasonString ?? '', /\w+ \w+/, name);
      } else assert.equal(answer.returnCode, old);
      assert.ok(peer.isClosed);
      assert.equal(broker.metrics().connections, 0);
    }
  }
});

test('a refused filter or topic is explained to MQTT 5 alone, if it wants that', async () => {
  const levels = Array.from({ length: mqttLimits.topicLevelsMax + 3 }, () => 'a').join('/');
  const [secret, long] = ['$SYS/#', levels].map((topic) => ({ topic, qos: 0 }) as const);
  const publish = { cmd: 'publish', topic: levels, payload: 'x', qos: 1, messageId: 2 } as const;
  for (const [protocolVersion, wanted] of [
    [5, true],
    [5, false],
    [4, undefined],
  ] as const) {
    const { broker, hooks } = await testBroker();
    hooks.maySubscribe = (filter) => !filter.startsWith('$SYS');
    const peer = await connectPeer(broker, {
      ...{
        protocolVersion,
        ...(wanted !== undefined && { properties: { requestProblemInformation: wanted } }),
      },
    });
    const subscriptions = [secret, long].flatMap((one) => one ?? []);
    peer.send({ cmd: 'subscribe', messageId: 1, subscriptions } as Packet);
    peer.send({ ...publish, dup: false, retain: false });
    const [suback, puback] = await peer.take();
    assert.ok(suback?.cmd === 'suback' && puback?.cmd === 'puback');
    const codes = protocolVersion === 5 ? [0x87, 0x8f] : [0x80, 0x80];
    assert.deepEqual(suback.granted, codes);
    const said = [suback, puback].map(({ properties: of }) => of?.reasonString);
    if (wanted !== true) {
      assert.deepEqual(said, [undefined, undefined]);
      continue;
    }
    assert.equal(puback.reasonCode, 0x90);
    assert.match(said[0] ?? '', /administrators.*; .*levels/);
    assert.match(said[1] ?? '', /topic.* levels/);
  }
});

test('a client without an id is given one, and told with MQTT 5', async () => {
  const { broker } = await testBroker();
  const old = openPeer(broker, 4);
  old.send(connectWith({ clientId: '' }));
  const [first] = await old.take();
  assert.equal(first?.cmd === 'connack' && first.returnCode, 0);
  const fresh = openPeer(broker, 5);
  fresh.send(connectWith({ protocolVersion: 5, clientId: '' }));
  const [second] = await fresh.take();
  const given = second?.cmd === 'connack' ? second.properties?.assignedClientIdentifier : undefined;
  assert.match(given ?? '', /^auto-/);
  assert.equal(broker.metrics().sessions, 2);
});

test('a client that is not read from is not taken for silent', async () => {
  const { broker, hooks, pass } = await testBroker();
  const first = Promise.withResolvers<{ kind: 'accepted'; isPassedOn: boolean }>();
  hooks.answerPublish = () => first.promise;
  const peer = await connectPeer(broker, { keepalive: 10 });
  const packet = { cmd: 'publish', topic: 't', payload: 'x', qos: 0, retain: false } as const;
  while (!peer.isPaused) peer.send({ ...packet, dup: false });
  pass(60_000);
  assert.equal(peer.isClosed, false);
  first.resolve({ kind: 'accepted', isPassedOn: true });
  await peer.take();
  pass(15_000);
  assert.equal(peer.isClosed, false);
  pass(2_000);
  assert.equal(peer.isClosed, true);
});

test('MQTT 5 is told its keep alive, and silence beyond it ends the connection', async () => {
  const { broker, pass } = await testBroker();
  const told = async (keepalive: number) => {
    const peer = openPeer(broker, 5);
    peer.send(connectWith({ protocolVersion: 5, keepalive, clientId: `k${keepalive}` }));
    const [answer] = await peer.take();
    return { peer, seconds: answer?.cmd === 'connack' && answer.properties?.serverKeepAlive };
  };
  const short = await told(10);
  const none = await told(0);
  assert.deepEqual([short.seconds, none.seconds], [undefined, 600]);
  pass(15_000);
  assert.equal(short.peer.isClosed, false);
  pass(2_000);
  assert.ok(short.peer.isClosed);
  const [goodbye] = await short.peer.take();
  assert.equal(goodbye?.cmd === 'disconnect' && goodbye.reasonCode, 0x8d);
  assert.equal(none.peer.isClosed, false);
  none.peer.send({ cmd: 'pingreq' });
  pass(900_000);
  assert.equal(none.peer.isClosed, false);
  pass(2_000);
  assert.ok(none.peer.isClosed);
});

test('who says nothing for five seconds, or half of CONNECT for 30, is closed', async () => {
  const { broker, pass } = await testBroker();
  const mute = openPeer(broker);
  const half = openPeer(broker);
  const slow = openPeer(broker);
  half.sendBytes(Buffer.from([0x10]));
  slow.sendBytes(generate(connectWith({})).subarray(0, 5));
  pass(5_000);
  assert.equal(mute.isClosed, false);
  pass(1_000);
  assert.deepEqual([mute.isClosed, half.isClosed], [true, false]);
  half.sendBytes(Buffer.from([0x20]));
  pass(23_000);
  slow.sendBytes(generate(connectWith({})).subarray(5));
  const [answer] = await slow.take();
  assert.equal(answer?.cmd, 'connack');
  assert.equal(half.isClosed, false);
  pass(2_000);
  assert.deepEqual([half.isClosed, slow.isClosed], [true, false]);
});

test('a subscriber that reads nothing loses QoS 0, keeps QoS 1, and is closed later', async () => {
  const { broker, pass } = await testBroker();
  const peer = await connectPeer(broker);
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] });
  await peer.take();
  peer.stopReading();
  const payload = Buffer.alloc(60_000);
  const flood = (qos: 0 | 1) => {
    const message = { topic: 't', payload, qos, retain: false } as const;
    broker.deliver(Array.from({ length: 50 }, () => message));
  };
  flood(0);
  assert.ok(broker.metrics().dropped.slow > 0);
  flood(1);
  assert.equal(broker.metrics().queuedMessages, 50);
  peer.readAgain();
  const received = await peer.take();
  assert.equal(
    received.filter((packet) => packet.cmd === 'publish' && packet.qos === 1).length,
    50,
  );
  peer.stopReading();
  flood(0);
  pass(20_000);
  assert.equal(peer.isClosed, false);
  pass(15_000);
  assert.ok(peer.isClosed);
});

test('a queue has an end in messages and in bytes, and gives its room back', async () => {
  const { broker } = await testBroker();
  const options = { clean: false, clientId: 'keeper' };
  const peer = await connectPeer(broker, options);
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] });
  await peer.take();
  peer.drop();
  const message = { topic: 't', payload: Buffer.from('x'), qos: 1, retain: false } as const;
  broker.deliver(Array.from({ length: 1_200 }, () => message));
  assert.equal(broker.metrics().queuedMessages, 1_000);
  assert.equal(broker.metrics().dropped.queue_full, 200);
  await broker.endSessions((identity) => identity === 'guest');
  assert.deepEqual([broker.metrics().queuedMessages, broker.metrics().queuedBytes], [0, 0]);
});

test('a client gets no more QoS 1 messages at once than it said, no larger packets', async () => {
  const { broker } = await testBroker();
  const properties = { receiveMaximum: 3, maximumPacketSize: 200 };
  const peer = await connectPeer(broker, { protocolVersion: 5, properties });
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] });
  await peer.take();
  const message = { topic: 't', payload: Buffer.from('x'), qos: 1, retain: false } as const;
  broker.deliver([{ ...message, payload: Buffer.alloc(300) }]);
  broker.deliver(Array.from({ length: 5 }, () => message));
  const first = await peer.take();
  assert.equal(first.length, 3);
  assert.equal(broker.metrics().dropped.too_large, 1);
  for (const { messageId } of first) peer.send({ cmd: 'puback', messageId: messageId ?? 0 });
  assert.equal((await peer.take()).length, 2);
});

test('a session has at most 5,000 subscriptions, and may change each', async () => {
  const { broker } = await testBroker();
  const peer = await connectPeer(broker);
  const granted: number[] = [];
  for (let from = 0; from <= 5_000; from += 1_000) {
    const subscriptions = Array.from({ length: Math.min(1_000, 5_001 - from) }, (_, index) => ({
      topic: `t${from + index}`,
      qos: 1 as const,
    }));
    peer.send({ cmd: 'subscribe', messageId: 1, subscriptions });
    const [answer] = await peer.take();
    if (answer?.cmd === 'suback') granted.push(...(answer.granted as number[]));
  }
  assert.equal(granted.filter((code) => code === 1).length, 5_000);
  assert.equal(granted.at(-1), 0x80);
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 't0', qos: 0 }] });
  const [again] = await peer.take();
  assert.deepEqual(again?.cmd === 'suback' && again.granted, [0]);
});

test('close says goodbye with the reason, and publishes the wills', async () => {
  const { broker, hooks } = await testBroker();
  const published: string[] = [];
  hooks.answerPublish = (topic) => {
    published.push(topic);
    return { kind: 'accepted', isPassedOn: false };
  };
  const will = { topic: 'w', payload: Buffer.from(''), qos: 0 as const, retain: false };
  const peer = await connectPeer(broker, { protocolVersion: 5, will });
  await broker.close();
  const [goodbye] = await peer.take();
  assert.equal(goodbye?.cmd === 'disconnect' && goodbye.reasonCode, 0x8b);
  assert.deepEqual(published, ['w']);
  assert.equal(broker.metrics().connections, 0);
});

const packets: fc.Arbitrary<Packet> = fc.constantFrom<Packet>(
  { cmd: 'publish', topic: 'a/b', payload: 'x', qos: 0, retain: false, dup: false },
  { cmd: 'publish', topic: 'a/b', payload: 'x', qos: 2, retain: true, dup: false, messageId: 3 },
  {
    cmd: 'publish',
    topic: 'é',
    payload: '',
    qos: 1,
    retain: false,
    dup: false,
    messageId: 4,
    properties: { messageExpiryInterval: 4, userProperties: { a: 'b' }, topicAlias: 1 },
  },
  { cmd: 'pubrel', messageId: 3 },
  { cmd: 'puback', messageId: 1 },
  {
    cmd: 'subscribe',
    messageId: 5,
    subscriptions: [{ topic: 'a/+', qos: 1 }],
    properties: { subscriptionIdentifier: 7 },
  },
  { cmd: 'unsubscribe', messageId: 6, unsubscriptions: ['a/+'] },
  { cmd: 'pingreq' },
  { cmd: 'disconnect', reasonCode: 4, properties: { sessionExpiryInterval: 5 } },
);

test('whatever bytes arrive, a connection is open or wholly closed', async () => {
  const { broker } = await testBroker();
  const mutations = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(2)), {
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<3 | 4 | 5>(3, 4, 5),
      fc.array(packets, { maxLength: 8 }),
      mutations,
      async (protocolVersion, list, changes) => {
        const will = { topic: 'w', payload: Buffer.from('w'), qos: 1 as const, retain: true };
        const connect = connectWith({ protocolVersion, clean: false, will });
        let bytes = Buffer.concat(
          [connect, ...list].map((packet) => generate(packet, { protocolVersion })),
        );
        for (const [at, byte, kind] of changes) {
          const place = at % (bytes.length + 1);
          const rest = bytes.subarray(kind === 1 ? place : place + 1);
          bytes = Buffer.concat([
            bytes.subarray(0, place),
            ...(kind === 2 ? [] : [Buffer.from([byte])]),
            rest,
          ]);
        }
        const peer = openPeer(broker, protocolVersion);
        peer.sendBytes(bytes);
        await peer.take().catch(() => []);
        assert.equal(broker.metrics().connections, peer.isClosed ? 0 : 1);
        peer.drop();
        assert.equal(broker.metrics().connections, 0);
      },
    ),
    { numRuns: 300 },
  );
});

test('a clock that is set, or a process that slept, is not taken for silence', async () => {
  const { broker, clock, pass } = await testBroker();
  const peer = await connectPeer(broker, { keepalive: 10 });
  clock.advance(86_400_000);
  broker.sweep();
  assert.equal(peer.isClosed, false);
  clock.advance(-86_400_000);
  broker.sweep();
  pass(13_000);
  assert.equal(peer.isClosed, false);
  pass(4_000);
  assert.ok(peer.isClosed);
});

test('a client that takes topic aliases is told each topic once', async () => {
  const { broker } = await testBroker();
  const properties = { topicAliasMaximum: 1 };
  const peer = await connectPeer(broker, { protocolVersion: 5, properties });
  peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 1 }] });
  await peer.take();
  const topics = ['first', 'first', 'second', 'first'];
  broker.deliver(
    topics.map((topic) => ({ topic, payload: Buffer.from(topic), qos: 1, retain: false }) as const),
  );
  const got = (await peer.take()).map(
    (packet) => packet.cmd === 'publish' && [packet.topic, packet.properties?.topicAlias],
  );
  assert.deepEqual(got, [
    ['first', 1],
    ['', 1],
    ['second', undefined],
    ['', 1],
  ]);
});

test('when all buffers together are too full, the slowest clients go', async (context) => {
  // The broker sweeps when it is told to alone.
  context.mock.timers.enable({ apis: ['setInterval'] });
  const { broker } = await testBroker();
  const subscribed = async (clientId: string) => {
    const peer = await connectPeer(broker, { clientId });
    peer.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: '#', qos: 0 }] });
    await peer.take();
    return peer;
  };
  const quick = await subscribed('quick');
  const slow = await Promise.all(
    Array.from({ length: 40 }, (_, index) => subscribed(`slow ${index}`)),
  );
  for (const peer of slow) peer.stopReading();
  broker.deliver([{ topic: 't', payload: Buffer.alloc(8 * 1_048_576), qos: 0, retain: false }]);
  await quick.take();
  // A long message goes to one after the other.
  while (broker.metrics().messagesSent <= slow.length) await setImmediate();
  broker.sweep();
  const left = slow.filter(({ isClosed }) => !isClosed).length;
  assert.ok(left > 0 && left <= 16, `${left} are left`);
  assert.equal(quick.isClosed, false);
});

test('a client that changes its session faster than the store writes has to wait', async () => {
  const step = Promise.withResolvers<void>();
  let changes = 0;
  const { broker } = await testBroker({
    load: async () => ({ sessions: [], retained: [] }),
    apply(list) {
      changes += list.length;
      return step.promise;
    },
  });
  const peer = await connectPeer(broker, { clean: false });
  const subscriptions = Array.from({ length: 100 }, (_, at) => ({
    topic: `t${at}`,
    qos: 1 as const,
  }));
  for (let count = 1; count <= 300; count += 1) {
    peer.send({ cmd: 'subscribe', messageId: count, subscriptions });
  }
  assert.ok(peer.isPaused);
  step.resolve();
  let answers = 0;
  while (answers < 300) answers += (await peer.take()).length;
  assert.equal(peer.isPaused, false);
  assert.equal(changes, 1 + 300 * 100);
});
