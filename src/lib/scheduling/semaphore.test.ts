import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSemaphore } from './payer-queues.ts';

/** Tasks that end by hand, in the order they began. */
function aSemaphore(parallelMax: number) {
  const semaphore = createSemaphore({ parallelMax });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const run = (payer: string, name: string) =>
    semaphore.run(payer, () => {
      begun.push(name);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const endOne = async () => {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { semaphore, begun, run, endOne };
}

test('a few run at a time, and payers take turns', async () => {
  const { begun, run, endOne } = aSemaphore(2);
  for (const at of [1, 2, 3, 4]) void run('ann', `a${at}`);
  void run('ben', 'b1');
  void run('cem', 'c1');
  assert.deepEqual(begun, ['a1', 'a2']);
  for (let at = 0; at < 4; at += 1) await endOne();
  assert.deepEqual(begun, ['a1', 'a2', 'a3', 'b1', 'c1', 'a4']);
});

test('a task that fails gives its place on', async () => {
  const { semaphore, begun, run } = aSemaphore(1);
  const failing = semaphore.run('ann', () => Promise.reject(new Error('no')));
  void run('ben', 'b1');
  await assert.rejects(failing, /no/);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(begun, ['b1']);
});

test('places are free again when all have ended', async () => {
  const { begun, run, endOne } = aSemaphore(1);
  void run('ann', 'a1');
  void run('ann', 'a2');
  await endOne();
  await endOne();
  void run('ben', 'b1');
  assert.deepEqual(begun, ['a1', 'a2', 'b1']);
});
