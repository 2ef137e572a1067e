// In a process of its own: it changes the clock.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { generate } from 'mqtt-packet';
import { connectPeer, connectWith, openPeer, settled } from '../../../test/mqtt/memory-peer.ts';
import { testBroker } from '../../../test/mqtt/test-broker.ts';
import { inTicks } from '../../lib/scheduling/fair-slices.ts';

/** PINGREQ, so often. */
const pings = (count: number): Buffer => Buffer.from('c000'.repeat(count), 'hex');

test('packets beyond the share of their payer wait, and none is lost', async (t) => {
  const { broker } = await testBroker();
  const password = Buffer.from('p');
  const mallory = await connectPeer(broker, { username: 'mallory', password });
  const ann = await connectPeer(broker, { username: 'ann', password });
  // Each reading of the clock is 3 ms later.
  let [now, laterMs] = [performance.now(), 3];
  t.mock.method(performance, 'now', () => {
    now += laterMs;
    return now;
  });
  mallory.sendBytes(pings(1_000));
  await inTicks();
  assert.ok(mallory.isPaused);
  // The next turn of the event loop: mallory's packets still wait, and nobody behind them.
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(mallory.isPaused);
  laterMs = 1;
  ann.sendBytes(pings(100));
  await inTicks();
  assert.equal(ann.isPaused, false);
  assert.equal((await ann.take()).length, 100);
  let answers = 0;
  for (let turn = 0; turn < 100 && answers < 1_000; turn += 1) {
    await settled();
    answers += (await mallory.take()).length;
  }
  assert.deepEqual([answers, mallory.isPaused], [1_000, false]);
});

test('who connects is let in before packets of guests that wait', async (t) => {
  const { broker } = await testBroker();
  const connect = { password: Buffer.from('p') };
  const guests = await Promise.all(
    Array.from({ length: 60 }, (_, at) =>
      connectPeer(broker, { ...connect, username: 'guest', clientId: `g${at}` }),
    ),
  );
  let now = performance.now();
  t.mock.method(performance, 'now', () => {
    now += 4;
    return now;
  });
  for (const guest of guests) guest.sendBytes(pings(1_000));
  await inTicks();
  assert.ok(guests.every(({ isPaused }) => isPaused));
  const ann = openPeer(broker);
  ann.send(connectWith({ ...connect, username: 'ann' }));
  const [answer] = await ann.take();
  assert.equal(answer?.cmd, 'connack');
});

test('publishes that are answered at once are read on in slices, too', async (t) => {
  const { broker, hooks } = await testBroker();
  let taken = 0;
  hooks.answerPublish = () => {
    taken += 1;
    return { kind: 'accepted', isPassedOn: false };
  };
  const mallory = await connectPeer(broker, { username: 'mallory', password: Buffer.from('p') });
  // Each reading of the clock is a little later: a thousand publishes take less than a slice.
  let now = performance.now();
  t.mock.method(performance, 'now', () => {
    now += 0.4;
    return now;
  });
  const publish = generate(
    { cmd: 'publish', topic: 'a', payload: '', qos: 0, dup: false, retain: false },
    { protocolVersion: 4 },
  );
  mallory.sendBytes(Buffer.concat(Array.from({ length: 20_000 }, () => publish)));
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(taken < 5_000, `${taken} before the loop came to anything else`);
  for (let turn = 0; turn < 1_000 && taken < 20_000; turn += 1) await settled();
  assert.deepEqual([taken, mallory.isPaused], [20_000, false]);
});

/** How many of 900 refusals, each a few promises later, come in one turn of the event loop. */
async function assertSpread(t: TestContext, isInOneChunk: boolean): Promise<void> {
  const { broker, hooks } = await testBroker();
  let refused = 0;
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  hooks.answerPublish = async () => {
    // Each refusal, a few promises later, takes a while.
    for (let tick = 0; tick < 20; tick += 1) await undefined;
    now += 0.05;
    refused += 1;
    return { kind: 'refused', reason: 'topic_invalid' };
  };
  const mallory = await connectPeer(broker, { username: 'mallory', password: Buffer.from('p') });
  const publish = generate(
    { cmd: 'publish', topic: 'a', payload: '', qos: 0, dup: false, retain: false },
    { protocolVersion: 4 },
  );
  const all = Array.from({ length: 900 }, () => publish);
  for (const bytes of isInOneChunk ? [Buffer.concat(all)] : all) mallory.sendBytes(bytes);
  await new Promise((resolve) => setImmediate(resolve));
  assert.ok(refused < 300, `${refused} in one turn`);
  for (let turn = 0; turn < 100 && refused < 900; turn += 1) await settled();
  assert.deepEqual([refused, mallory.isPaused], [900, false]);
}

test('what packets cause at once counts as the time of their client', async (t) =>
  assertSpread(t, true));

test('packets in a message each are handled in slices, as those of one chunk are', async (t) =>
  assertSpread(t, false));

test('packets that wait are handled for some milliseconds in each turn', async (t) => {
  const { broker, hooks } = await testBroker();
  let now = performance.now();
  t.mock.method(performance, 'now', () => now);
  hooks.answerPublish = () => {
    now += 0.05;
    return { kind: 'accepted', isPassedOn: false };
  };
  const login = { username: 'guest', password: Buffer.from('p') };
  const guests = await Promise.all(
    Array.from({ length: 8 }, (_, at) => connectPeer(broker, { ...login, clientId: `g${at}` })),
  );
  const publish = generate(
    { cmd: 'publish', topic: 'a', payload: '', qos: 0, dup: false, retain: false },
    { protocolVersion: 4 },
  );
  const flood = Buffer.concat(Array.from({ length: 2_000 }, () => publish));
  for (const guest of guests) guest.sendBytes(flood);
  let [longest, turns] = [0, 0];
  for (; turns < 500 && guests.some(({ isPaused }) => isPaused); turns += 1) {
    const before = now;
    await new Promise((resolve) => setImmediate(resolve));
    longest = Math.max(longest, now - before);
  }
  assert.ok(turns < 500, 'some packets are never handled');
  assert.ok(longest < 12, `${longest} ms in one turn`);
});

test('a pause that ends while packets get on leaves the connection read', async () => {
  const { broker, hooks } = await testBroker();
  hooks.answerPublish = async () => ({ kind: 'accepted', isPassedOn: false });
  const ann = await connectPeer(broker, { username: 'ann', password: Buffer.from('p') });
  const topic = 'devices/d/sensors/s/values';
  const publish = generate(
    { cmd: 'publish', topic, payload: Buffer.alloc(200_000), qos: 0, dup: false, retain: false },
    { protocolVersion: 4 },
  );
  ann.sendBytes(Buffer.concat([pings(63), publish]));
  await settled();
  assert.equal(ann.isPaused, false);
});

test('a stream that hands on more while packets get on is paused until they have', async () => {
  const { broker, hooks } = await testBroker();
  hooks.answerPublish = async () => ({ kind: 'refused', reason: 'topic_invalid' });
  const ann = await connectPeer(broker, { username: 'ann', password: Buffer.from('p') });
  ann.sendBytes(pings(1_000));
  assert.equal(ann.isPaused, false);
  // The stream had it already.
  ann.sendBytes(pings(1_000));
  assert.equal(ann.isPaused, true);
  assert.equal((await ann.takeAll(2_000)).length, 2_000);
  assert.equal(ann.isPaused, false);
});

test('all that came before a goodbye is handled, and the goodbye leaves no will', async () => {
  const { broker, hooks } = await testBroker();
  let taken = 0;
  hooks.answerPublish = async () => {
    taken += 1;
    return { kind: 'accepted', isPassedOn: true };
  };
  const ben = await connectPeer(broker, { username: 'ben', password: Buffer.from('p') });
  ben.send({ cmd: 'subscribe', messageId: 1, subscriptions: [{ topic: 'gone', qos: 0 }] });
  await ben.take();
  const will = { topic: 'gone', payload: Buffer.from('1'), qos: 0 as const, retain: false };
  const ann = await connectPeer(broker, { username: 'ann', password: Buffer.from('p'), will });
  const publish = generate(
    { cmd: 'publish', topic: 'a', payload: '1', qos: 0, dup: false, retain: false },
    { protocolVersion: 4 },
  );
  const goodbye = generate({ cmd: 'disconnect' }, { protocolVersion: 4 });
  ann.sendBytes(Buffer.concat([...Array.from({ length: 900 }, () => publish), goodbye]));
  ann.drop();
  for (let turn = 0; turn < 100 && taken < 900; turn += 1) await settled();
  assert.deepEqual([taken, await ben.take()], [900, []]);
});
