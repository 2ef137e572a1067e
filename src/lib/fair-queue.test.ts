import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairQueue, ShareFullError } from './fair-queue.ts';
import { TooManyWaitingError } from './semaphore.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A queue that does one thing at a time, as the test says. */
function aQueue(waitingMax = 10) {
  const queue = createFairQueue({ lanes: ['known', 'strange'], parallelMax: 1, waitingMax });
  const done: string[] = [];
  const ends: (() => void)[] = [];
  return {
    done,
    add: (lane: 'known' | 'strange', payer: string, name = payer) =>
      queue.run({ lane, payer }, async () => {
        done.push(name);
        await new Promise<void>((resolve) => ends.push(resolve));
      }),
    async finish(count: number) {
      for (let index = 0; index < count; index += 1) {
        ends.shift()?.();
        await turn();
      }
    },
  };
}

test('who asks once waits for one turn of each other, however often they ask', async () => {
  const { add, done, finish } = aQueue();
  const all = ['a1', 'a2', 'a3', 'a4'].map((name) => add('strange', 'a', name));
  all.push(add('strange', 'b'), add('known', 'c'), add('strange', 'a', 'a5'));
  await turn();
  await finish(all.length);
  await Promise.all(all);
  assert.deepEqual(done, ['a1', 'c', 'a2', 'b', 'a3', 'a4', 'a5']);
});

test('one payer has at most half of a lane, and a full lane hinders no other', async () => {
  const { add, done, finish } = aQueue(4);
  const all = ['first', 'a', 'a'].map((payer) => add('strange', payer));
  await assert.rejects(add('strange', 'a'), ShareFullError);
  all.push(add('strange', 'b'), add('strange', 'c'));
  await assert.rejects(
    add('strange', 'd'),
    (error) => error instanceof TooManyWaitingError && !(error instanceof ShareFullError),
  );
  all.push(add('known', 'e'));
  await turn();
  await finish(all.length);
  await Promise.all(all);
  assert.deepEqual(done, ['first', 'e', 'a', 'b', 'c', 'a']);
  const after = add('strange', 'a');
  await turn();
  await finish(1);
  await after;
});

test('a task that fails hands its place on', async () => {
  const queue = createFairQueue({ lanes: ['only'], parallelMax: 1, waitingMax: 4 });
  const place = { lane: 'only', payer: 'a' } as const;
  const failing = queue.run(place, async () => {
    throw new Error('no');
  });
  const second = queue.run(place, async () => 'yes');
  await assert.rejects(failing, /no/);
  assert.equal(await second, 'yes');
});
