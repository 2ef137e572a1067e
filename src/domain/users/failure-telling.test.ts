import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../../test/manual-clock.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { createFailureLimiters } from './failure-limiters.ts';

/** Two processes on one store, which receive each other's counts unless they are cut off. */
async function twoProcesses() {
  const clock = createManualClock(0);
  const { failures: store } = await temporaryStorage();
  const listeners: ((text: string) => Promise<void>)[] = [];
  const texts: string[] = [];
  const state = { isAway: false };
  const open = () => {
    let own: (text: string) => Promise<void> = async () => undefined;
    const talk = {
      async ask(text: string) {
        if (state.isAway) throw new Error('the database is away');
        texts.push(text);
        for (const listener of listeners) if (listener !== own) await listener(text);
      },
      onTold(listener: typeof own) {
        own = listener;
        listeners.push(listener);
      },
    };
    const failures = createFailureLimiters({ clock, store, others: { talk, secret: 'secret' } });
    const limiter = failures.of('logins', { failuresMax: 10, windowMs: 60_000 });
    return { failures, limiter };
  };
  return { clock, store, state, texts, one: open(), other: open() };
}

test('what fails at several processes counts together at each', async () => {
  const { one, other, clock } = await twoProcesses();
  for (let count = 0; count < 5; count += 1) {
    for (const { limiter, failures } of [one, other]) {
      assert.equal(limiter.blockedForMs('ama'), 0);
      limiter.recordFailure('ama');
      await failures.told();
    }
  }
  for (const { limiter } of [one, other]) {
    assert.equal(limiter.blockedForMs('ama'), 60_000);
    assert.equal(limiter.blockedForMs('kofi'), 0);
  }
  clock.advance(60_000);
  for (const { limiter } of [one, other]) assert.equal(limiter.blockedForMs('ama'), 0);
});

test('who logs in at one is forgiven at the other, and what fails after that counts', async () => {
  const { one, other } = await twoProcesses();
  for (let count = 0; count < 9; count += 1) one.limiter.recordFailure('ama');
  await one.failures.told();
  other.limiter.forgive('ama');
  for (let count = 0; count < 9; count += 1) other.limiter.recordFailure('ama');
  await other.failures.told();
  assert.equal(one.limiter.blockedForMs('ama'), 0);
  one.limiter.recordFailure('ama');
  assert.equal(one.limiter.blockedForMs('ama'), 60_000);
});

test('who fail at once are one text, without names; who forgives nobody, none', async () => {
  const { one, other, texts, store } = await twoProcesses();
  for (let count = 0; count < 500; count += 1) one.limiter.recordFailure(`ama ${count}`);
  other.limiter.forgive('nobody failed');
  await one.failures.told();
  assert.equal(texts.length, 1);
  assert.ok(!texts[0]?.includes('ama'));
  await one.failures.save();
  const kept = await store.load('logins', 0);
  assert.equal(kept.length, 500);
  assert.ok(kept.every(({ key }) => !key.includes('ama')));
});

test('while the others cannot be told each counts by itself, and tells it after that', async () => {
  const { one, other, state } = await twoProcesses();
  state.isAway = true;
  for (let count = 0; count < 10; count += 1) {
    one.limiter.recordFailure('ama');
    await one.failures.told();
  }
  assert.equal(one.limiter.blockedForMs('ama'), 60_000);
  assert.equal(other.limiter.blockedForMs('ama'), 0);
  state.isAway = false;
  const until = performance.now() + 5_000;
  while (other.limiter.blockedForMs('ama') === 0) {
    assert.ok(performance.now() < until, 'it is told');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});

test('what is kept counts in what the others counted meanwhile', async () => {
  const { one, other, store } = await twoProcesses();
  one.limiter.recordFailure('ama');
  await one.failures.told();
  for (let count = 0; count < 8; count += 1) other.limiter.recordFailure('ama');
  await other.failures.told();
  await other.failures.save();
  await one.failures.save();
  assert.deepEqual(
    (await store.load('logins', 0)).map(({ failures }) => failures),
    [9],
  );
});
