import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memberLimits } from '../domain/members/member-limits.ts';
import type { FeedLog } from '../domain/members/member-store.ts';
import { silentLog } from '../lib/log.ts';
import { createHeldBack, createLogReading } from './log-reading.ts';

const soon = () => new Promise((resolve) => setImmediate(resolve));
const positionsOf = (two: number, three: number) =>
  new Map([
    [2, two],
    [3, three],
  ]);

test('what comes while others are read waits for what they had written before it', () => {
  let newest = positionsOf(5, 3);
  const held = createHeldBack({ before: () => newest, look: () => undefined, log: silentLog });
  const told: string[] = [];
  held.inOrder(() => void told.push('first'));
  // The others are read up to here from now on.
  const [before, count] = [newest, held.count()];
  newest = positionsOf(9, 3);
  held.inOrder(() => void told.push('second'));
  held.actedOn({ writer: 2, place: 5 });
  assert.deepEqual(told, []);
  // All that had been written when the reading began was acted on; the entry at 9 came later.
  held.readUpTo(before, count);
  assert.deepEqual(told, ['first']);
  held.actedOn({ writer: 2, place: 9 });
  assert.deepEqual(told, ['first', 'second']);
  held.rest();
});

test('an entry of one process says nothing of those of another one before it', () => {
  const held = createHeldBack({
    before: () => positionsOf(5, 8),
    look: () => undefined,
    log: silentLog,
  });
  const told: string[] = [];
  held.inOrder(() => void told.push('own'));
  held.actedOn({ writer: 3, place: 8 });
  assert.deepEqual(told, []);
  held.actedOn({ writer: 2, place: 5 });
  assert.deepEqual(told, ['own']);
  held.rest();
});

test('the log is tidied up behind own work, one run at a time', async (context) => {
  let now = 0;
  context.mock.method(performance, 'now', () => now);
  const order: string[] = [];
  let tidied = Promise.withResolvers<void>();
  const shared = {
    read: async () => ({ entries: [], isLast: true }),
    before: () => positionsOf(1, 1),
    tidy() {
      order.push('tidied up');
      return tidied.promise;
    },
  } as unknown as FeedLog;
  const reading = createLogReading({
    ...{ shared, log: silentLog, act: async () => undefined, first: async () => undefined },
    acted: async () => void order.push('stored'),
  });
  const lookLater = async () => {
    now += memberLimits.logTidyMs;
    await reading.look();
    await soon();
    return order.splice(0);
  };
  await reading.look();
  assert.equal(order.length, 0);
  now += memberLimits.logTidyMs;
  reading.held.inOrder(() => void order.push('handed on'));
  assert.deepEqual(await lookLater(), ['handed on', 'stored', 'tidied up']);
  assert.deepEqual(await lookLater(), [], 'it is under way');
  tidied.resolve();
  tidied = Promise.withResolvers();
  await soon();
  assert.deepEqual(await lookLater(), ['stored', 'tidied up']);
  tidied.resolve();
  await soon();
  reading.rest();
  assert.deepEqual(await lookLater(), [], 'it was given up');
});

test('reading goes on while what was acted on is stored, and acknowledges no more', async () => {
  let last = 0;
  let [written, read] = [1, 0];
  const acknowledged: number[] = [];
  let stored = Promise.withResolvers<void>();
  const shared = {
    async read() {
      const [from, to] = [read, written];
      read = to;
      const entries = Array.from({ length: to - from }, (_, at) => ({
        ...{ writer: 2, place: from + at + 1, text: '' },
      }));
      return { entries, isLast: to - from < 100 };
    },
    before: () => positionsOf(written, 0),
    acknowledgement() {
      const until = read;
      return async () => void acknowledged.push(until);
    },
  } as unknown as FeedLog;
  const reading = createLogReading({
    ...{ shared, log: silentLog, first: async () => undefined },
    async act() {
      last = read;
    },
    acted: () => stored.promise,
  });
  await reading.look();
  written = 3;
  await reading.look();
  assert.deepEqual([last, acknowledged], [3, []]);
  const heard = reading.heard();
  assert.equal(await Promise.race([heard, soon().then(() => 'not yet')]), 'not yet');
  const first = stored;
  stored = Promise.withResolvers();
  first.resolve();
  await soon();
  assert.deepEqual(acknowledged, [1], 'what came later is not stored yet');
  const second = stored;
  stored = Promise.withResolvers();
  second.reject(new Error('the database is away'));
  assert.equal(await heard, false);
  stored.resolve();
  assert.equal(await reading.heard(), true);
  assert.deepEqual(acknowledged, [1, 3]);
  reading.rest();
  assert.equal(await reading.heard(), false);
});

test('beside others that write a page in the time of each read it hears them', async () => {
  let [written, read] = [0, 0];
  const page = 10;
  const shared = {
    async read() {
      // There always is a whole page.
      written += page;
      read += page;
      const entries = Array.from({ length: page }, (_, at) => ({
        ...{ writer: 2, place: read - page + at + 1, text: '' },
      }));
      return { entries, isLast: false };
    },
    lastPlaces: async () => positionsOf(written, 0),
    before: () => positionsOf(0, 0),
    acknowledgement: () => async () => undefined,
  } as unknown as FeedLog;
  let acts = 0;
  let isCurrent = false;
  const reading = createLogReading({
    ...{ shared, log: silentLog, first: async () => undefined, acted: async () => undefined },
    async act() {
      acts += 1;
      if (acts < 50 * page) return;
      isCurrent = reading.isCurrent();
      reading.rest();
    },
  });
  // An attempt ends, and another one follows it.
  await reading.look();
  assert.equal(await reading.heard(), true);
  while (acts < 50 * page) await soon();
  assert.ok(isCurrent);
  await reading.end();
});

for (const size of [200, 90]) {
  test(`no more is read ahead of what is stored than its limit: pages of ${size}`, async () => {
    let reads = 0;
    let stored = Promise.withResolvers<void>();
    const page = Array.from({ length: size }, (_, at) => ({ writer: 2, place: at, text: '' }));
    const shared = {
      async read() {
        reads += 1;
        const entries = reads > 30 ? [] : page;
        return { entries, isLast: entries.length < 200 };
      },
      before: () => positionsOf(1, 1),
      acknowledgement: () => async () => undefined,
    } as unknown as FeedLog;
    const reading = createLogReading({
      ...{ shared, log: silentLog, act: async () => undefined, first: async () => undefined },
      acted: () => stored.promise,
    });
    const lookOften = async () => {
      for (let look = 0; look < 40; look += 1) {
        void reading.look();
        await soon();
      }
    };
    const readMax = memberLimits.readAheadMax + size;
    await lookOften();
    assert.ok(reads * size <= readMax, `${reads}`);
    // Entries that could not be stored count on.
    const before = stored;
    stored = Promise.withResolvers();
    before.reject(new Error('the database is away'));
    await lookOften();
    assert.ok(reads * size <= readMax, `${reads}`);
    stored.resolve();
    await lookOften();
    assert.ok(reads > 30);
  });
}
