// In a process of its own: it changes the clock.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectPeer, settled } from '../../../test/mqtt/memory-peer.ts';
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
