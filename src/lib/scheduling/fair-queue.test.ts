import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairQueue, LeftQueueError, ShareFullError } from './fair-queue.ts';
import { TooManyWaitingError } from './payer-queues.ts';

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

test('whoever comes after a crowd waits for two turns, and the crowd has the others', async () => {
  const { add, done, finish } = aQueue();
  const crowd = ['first', 'a', 'b', 'c'].map((payer) => add('strange', payer));
  await turn();
  await finish(1);
  const all = [...crowd, add('strange', 'late'), add('strange', 'b', 'b2')];
  await finish(all.length);
  await Promise.all(all);
  assert.deepEqual(done, ['first', 'a', 'late', 'b', 'c', 'b2']);
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
  assert.deepEqual(done, ['first', 'e', 'a', 'c', 'b', 'a']);
  const after = add('strange', 'a');
  await turn();
  await finish(1);
  await after;
});

test('a task leaves before its turn when its signal aborts, and the others go on', async () => {
  const queue = createFairQueue({
    ...{ lanes: ['known', 'strange'], idleLanes: ['idle'], parallelMax: 1, waitingMax: 4 },
  });
  const done: string[] = [];
  let end = () => {};
  const run = (name: string, lane: 'known' | 'idle', gone?: AbortController) =>
    queue.run({ lane, payer: 'a', ...(gone && { signals: [gone.signal] }) }, async () => {
      done.push(name);
      await new Promise<void>((resolve) => {
        end = resolve;
      });
    });
  const [first, second] = [new AbortController(), new AbortController()];
  const all = [run('first', 'known', first), run('last', 'idle')];
  const leaving = run('second', 'known', second);
  await assert.rejects(run('never', 'known', abortedController()), LeftQueueError);
  all.push(run('third', 'known'));
  second.abort();
  // Beside a pass of the event loop: a task that stayed would wait for the first.
  const left = leaving.catch((error: unknown) => error);
  const said = await Promise.race([left, turn().then(() => 'still pending')]);
  assert.ok(said instanceof LeftQueueError, String(said));
  // A task that has begun ends as it would.
  first.abort();
  for (const _ of all) {
    await turn();
    end();
  }
  await Promise.all(all);
  assert.deepEqual(done, ['first', 'third', 'last']);
  // A task that left takes no place.
  const [holding, ...waiting] = ['b', 'b', 'b'].map((name) => run(name, 'known'));
  await turn();
  for (const _ of [holding, ...waiting]) {
    end();
    await turn();
  }
  await Promise.all([holding, ...waiting]);
});

function abortedController(): AbortController {
  const gone = new AbortController();
  gone.abort();
  return gone;
}

test('a lane runs no more than its own part, and others begin beside it at once', async () => {
  const lanes = ['known', 'strange'] as const;
  const queue = createFairQueue<(typeof lanes)[number]>({
    ...{
      lanes,
      parallelMax: 3,
      waitingMax: 8,
      ofLane: { strange: { parallelMax: 2, shareMax: 3 } },
    },
  });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (lane: 'known' | 'strange', name: string) =>
    queue.run({ lane, payer: 'a' }, async () => {
      begun.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  const all = ['s1', 's2', 's3', 's4', 's5'].map((name) => run('strange', name));
  await assert.rejects(run('strange', 's6'), ShareFullError);
  all.push(run('known', 'k1'), run('known', 'k2'));
  await turn();
  assert.deepEqual(begun, ['s1', 's2', 'k1']);
  for (const _ of all) {
    ends.shift()?.();
    await turn();
  }
  await Promise.all(all);
  assert.deepEqual(begun, ['s1', 's2', 'k1', 's3', 'k2', 's4', 's5']);
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
