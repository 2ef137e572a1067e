import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../../lib/log.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
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

test('the refusal of a firing says that what was pushed is stored', async () => {
  const saying = /^what was pushed is stored, do not send it again: .*messages? of .*notification/;
  const stored = Promise.withResolvers<readonly FiringOutcome[]>();
  let isAway = true;
  const away = () => Promise.reject(new DomainError('storage_full', 'the disk is full'));
  const fire = createFire({
    store: { fire: () => (isAway ? away() : stored.promise) },
    outbox: { wake: () => undefined },
    budgets: createBudgets({}),
    ...{ reporter: silentReporter, log: silentLog, onGone: () => undefined },
  } as unknown as FireParts);
  await assert.rejects(fire(planned), { code: 'storage_full', message: saying });
  isAway = false;
  const message = 'x'.repeat(limits.firingsWaitingBytesMax / 4);
  const long = { ...planned, firing: { ...planned.firing, deliveries: [{ message }] } };
  const many = Array.from({ length: 4 }, () => fire(long as unknown as PlannedFiring));
  const refused = await Promise.any(many.map((one) => one.then(Promise.reject, (error) => error)));
  assert.ok(refused instanceof DomainError);
  assert.equal(refused.code, 'rate_limited');
  assert.match(refused.message, saying);
  stored.resolve([{ kind: 'fired', deliveryIds: [] }]);
  await fire.drain();
});
