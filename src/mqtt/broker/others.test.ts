import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createBudgets } from '../../domain/budgets/budgets.ts';
import type { Message } from '../../domain/messaging/message.ts';
import { listenToOthers } from './others.ts';
import { createRetainedMessages } from './retained.ts';
import { writeTalk } from './talk.ts';

test('what others retained is read again when the store could not be asked', async () => {
  const retained = createRetainedMessages({
    ...{ journal: { add() {} } as never, budgets: createBudgets(), clock: { now: () => 0 } },
  });
  const message = (text: string): Message => ({
    ...{ topic: 'd/t', payload: Buffer.from(text), qos: 1, retain: true },
  });
  retained.restore(message('old'));
  let isAway = true;
  const asked: (readonly string[])[] = [];
  const shared = {
    async retained(topics: readonly string[]) {
      asked.push(topics);
      if (isAway) throw new Error('away');
      await answer;
      return [message('new')];
    },
    onFenced: () => undefined,
  };
  let answer = Promise.resolve();
  const [told, acted]: [((text: string) => Promise<void>)[], (() => Promise<void>)[]] = [[], []];
  const peers = {
    onTold: (listener: (text: string) => Promise<void>) => void told.push(listener),
    onActed: (work: () => Promise<void>) => void acted.push(work),
  };
  const outbound = { decided: async () => undefined };
  const context = { journal: { settled: async () => undefined }, outbound, retained };
  const parts = { context, shared, deliverEvent: () => undefined };
  listenToOthers(peers as never, parts as never);
  await told[0]?.(writeTalk({ kind: 'retained', topics: ['d/t'] }));
  await assert.rejects(async () => acted[0]?.(), /away/);
  assert.equal(String(retained.of('d/t')?.payload), 'old');
  isAway = false;
  await acted[0]?.();
  assert.equal(String(retained.of('d/t')?.payload), 'new');
  await acted[0]?.();
  assert.deepEqual(asked, [['d/t'], ['d/t']], 'it asks for what it knows');
  // The topic is retained once more while the store is asked: that answer may be older.
  const tell = () => told[0]?.(writeTalk({ kind: 'retained', topics: ['d/t'] }));
  const { promise, resolve } = Promise.withResolvers<void>();
  answer = promise;
  await tell();
  const first = acted[0]?.();
  await wait(1);
  await tell();
  const second = acted[0]?.();
  resolve();
  await Promise.all([first, second]);
  assert.equal(asked.length, 4, 'it does not ask again');
});

test('the log is read for groups again when that is asked for as a read ends', async () => {
  for (let ticks = 0; ticks < 16; ticks += 1) {
    let [reads, readsWhenAsked] = [0, 0];
    const shared = {
      async missed() {
        reads += 1;
        if (reads === 1) void askLater();
        return { entries: [], isLast: true };
      },
      onFenced: () => undefined,
    };
    const peers = { onTold: () => undefined, onActed: () => undefined };
    const context = { router: {}, tree: {} };
    const parts = { context, shared, deliverEvent: () => undefined };
    const lookAgain = listenToOthers(peers as never, parts as never);
    async function askLater(): Promise<void> {
      for (let tick = 0; tick < ticks; tick += 1) await undefined;
      readsWhenAsked = reads;
      lookAgain();
    }
    lookAgain();
    await wait(20);
    assert.ok(reads > readsWhenAsked, `nothing was read when asked after ${ticks} ticks`);
  }
});

test('the log is read for groups no faster than what it has is claimed', async () => {
  let reads = 0;
  let claimed = Promise.withResolvers<void>();
  const shared = {
    missed: async () => ({ entries: [], isLast: ++reads === 3 }),
    onFenced: () => undefined,
  };
  const claims = { decided: () => claimed.promise, onGivenBack: () => undefined };
  const context = { router: {}, tree: {}, claims };
  const peers = { onTold: () => undefined, onActed: () => undefined };
  const parts = { context, shared, deliverEvent: () => undefined };
  listenToOthers(peers as never, parts as never)();
  for (const expected of [1, 2, 3]) {
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(reads, expected);
    const before = claimed;
    claimed = Promise.withResolvers();
    before.resolve();
  }
});

test('of own messages, told again, only those for subscribers are acted on', async () => {
  const told: ((text: string, isOwn: boolean) => Promise<void>)[] = [];
  const acted: string[] = [];
  const peers = {
    onTold: (listener: (typeof told)[number]) => void told.push(listener),
    onActed: () => undefined,
  };
  const context = {
    router: { route: ({ topic }: Message) => void acted.push(topic) },
    ownership: { told: async ({ kind }: { kind: string }) => void acted.push(kind) },
  };
  const parts = { context, shared: { onFenced: () => undefined }, deliverEvent: () => undefined };
  listenToOthers(peers as never, parts as never);
  const who = { identity: 'i', clientId: 'c', cleanStart: false };
  const message = { topic: 'wills', payload: Buffer.from(''), qos: 1, retain: false } as const;
  for (const isOwn of [true, false]) {
    await told[0]?.(writeTalk({ kind: 'opened', turn: 1, ...who }), isOwn);
    await told[0]?.(writeTalk({ kind: 'message', message }), isOwn);
  }
  assert.deepEqual(acted, ['wills', 'opened', 'wills']);
});
