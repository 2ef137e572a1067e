import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepsOf } from '../../lib/steps.ts';
import { guest } from '../actor.ts';
import { payerOf } from './budget.ts';
import { createBudgets } from './budgets.ts';
import { createLongWork } from './long-work.ts';

test('a step under way when its reader leaves reserves nothing, and ends', async () => {
  const budgets = createBudgets();
  const [reads, bytes] = [budgets.of('long_reads'), budgets.of('answer_bytes')];
  const used = () => [reads.usedBy(payerOf(guest)), bytes.usedBy(payerOf(guest))];
  const stored = Promise.withResolvers<void>();
  const answer = createLongWork(budgets)
    .during(guest, (hold) =>
      stepsOf(async () => {
        hold(1_000);
        await stored.promise;
        hold(2_000);
        return 'a step';
      }),
    )
    [Symbol.asyncIterator]();
  const step = answer.next();
  assert.deepEqual(used(), [1, 1_000]);
  await answer.return?.();
  assert.deepEqual(used(), [0, 0]);
  stored.resolve();
  await assert.rejects(step, { code: 'unavailable' });
  assert.deepEqual(used(), [0, 0]);
});
