// In a process of its own: it changes the timers.
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { createManualClock } from '../../../test/manual-clock.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { limits } from '../limits.ts';
import { createFailureLimiters, type FailureStore } from './failure-limiters.ts';

const bounds = { failuresMax: 2, windowMs: 60_000 };

/** A counter over a store that reports what is written to it. */
async function aCounter(given?: FailureStore) {
  const store = given ?? (await temporaryStorage()).failures;
  const clock = createManualClock(0);
  const writes: (readonly string[])[] = [];
  const told: FailureStore = {
    ...store,
    save(name, counted, now) {
      writes.push(counted.map(({ key }) => key));
      return store.save(name, counted, now);
    },
  };
  const failures = createFailureLimiters({ clock, store: told });
  return { store, clock, writes, failures, limiter: failures.of('logins', bounds) };
}

test('what was counted counts on in the next process, until it ends', async () => {
  const first = await aCounter();
  for (const key of ['ama', 'ama', 'kofi', 'esi', 'esi']) first.limiter.recordFailure(key);
  first.limiter.forgive('esi');
  await first.failures.save();
  const second = await aCounter(first.store);
  await second.failures.load();
  assert.equal(second.limiter.blockedForMs('ama'), 60_000);
  assert.equal(second.limiter.blockedForMs('esi'), 0);
  second.limiter.recordFailure('kofi');
  assert.equal(second.limiter.blockedForMs('kofi'), 60_000);
  second.clock.advance(60_000);
  assert.equal(second.limiter.blockedForMs('ama'), 0);
});

test('who fails all the time writes one row in a pause, and who succeeds none', async () => {
  const { limiter, writes } = await aCounter();
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    limiter.forgive('nobody failed');
    mock.timers.tick(limits.failuresPauseMs);
    assert.deepEqual(writes, []);
    for (let count = 0; count < 1_000; count += 1) limiter.recordFailure('ama');
    assert.deepEqual(writes, []);
    mock.timers.tick(limits.failuresPauseMs);
    assert.deepEqual(writes, [['ama']]);
  } finally {
    mock.timers.reset();
  }
});

test('many who fail write no more in a pause than the limit, and are kept in the end', async () => {
  const { limiter, writes, failures, store } = await aCounter();
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { failuresPerSaveMax: max } = limits;
    for (let count = 0; count < 2 * max + 1; count += 1) limiter.recordFailure(`network ${count}`);
    limiter.recordFailure('x'.repeat(1_000));
    mock.timers.tick(limits.failuresPauseMs);
    assert.deepEqual(
      writes.map((keys) => keys.length),
      [max],
    );
    await failures.save();
    assert.equal((await store.load('logins', 0)).length, 2 * max + 1);
  } finally {
    mock.timers.reset();
  }
});

test('what a full disk refused is kept with the next failure', async () => {
  const { failures: store } = await temporaryStorage();
  let isFull = true;
  const { limiter, failures } = await aCounter({
    ...store,
    save: async (...given) => {
      if (isFull) throw new Error('the disk is full');
      return store.save(...given);
    },
  });
  limiter.recordFailure('ama');
  await assert.rejects(failures.save());
  isFull = false;
  await failures.save();
  assert.deepEqual(
    (await store.load('logins', 0)).map(({ key }) => key),
    ['ama'],
  );
});
