import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../lib/log.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { silentReporter } from '../reporter.ts';
import type { FiringOutcome } from './delivery.ts';
import { createFire, type FireParts, type PlannedFiring } from './fire.ts';

const planned = {
  rule: { payer: 'ama' },
  firing: { notificationId: 'n', deliveries: [], state: {} },
  proposal: { apply: () => undefined, drop: () => undefined },
  evaluation: {},
} as unknown as PlannedFiring;

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('a service that stops waits for a firing that is being tried again', async () => {
  const stored = Promise.withResolvers<readonly FiringOutcome[]>();
  let isAway = true;
  const fire = createFire({
    store: {
      fire: () => (isAway ? Promise.reject(new Error('the store is away')) : stored.promise),
    },
    outbox: { wake: () => undefined },
    budgets: createBudgets({}),
    ...{ reporter: silentReporter, log: silentLog, onGone: () => undefined },
  } as unknown as FireParts);
  await assert.rejects(fire(planned), { code: 'unavailable' });
  isAway = false;
  const retried = fire.retry();
  let isDrained = false;
  const drained = fire.drain().then(() => {
    isDrained = true;
  });
  await turn();
  await turn();
  assert.equal(isDrained, false);
  stored.resolve([{ kind: 'fired', deliveryIds: [] }]);
  await Promise.all([retried, drained]);
});
