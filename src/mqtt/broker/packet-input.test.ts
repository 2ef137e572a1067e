// In a process of its own: it changes the clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generate } from 'mqtt-packet';
import { connectPeer, connectWith, openPeer, settled } from '../../../test/mqtt/memory-peer.ts';
import { testBroker } from '../../../test/mqtt/test-broker.ts';

/** PINGREQ, so often. */
const pings = (count: number): Buffer => Buffer.from('c000'.repeat(count), 'hex');

test('packets beyond the share of their payer wait, and none is lost', async (t) => {
  const { broker } = await testBroker();
  const password = Buffer.from('p');
  const mallory = await connectPeer(broker, { username: 'mallory', password });
  const ann = await connectPeer(broker, { username: 'ann', password });
  // Each reading of the clock is 4 ms later.
  let now = performance.now();
  t.mock.method(performance, 'now', () => {
    now += 4;
    return now;
  });
  mallory.sendBytes(pings(1_000));
  assert.ok(mallory.isPaused);
  ann.sendBytes(pings(100));
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
