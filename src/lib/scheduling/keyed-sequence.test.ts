import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createKeyedSequence } from './payer-queues.ts';

test('tasks of one key run one after the other, and one that fails keeps none up', async () => {
  const run = createKeyedSequence();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const failing = run('a', async () => {
    await first.promise;
    done.push('a1');
    throw new Error('a bug');
  });
  const second = run('a', async () => done.push('a2'));
  await run('b', async () => done.push('b'));
  first.resolve();
  await assert.rejects(failing, /a bug/);
  await second;
  assert.deepEqual(done, ['b', 'a1', 'a2']);
  assert.equal(await run('a', async () => 'again'), 'again');
});
