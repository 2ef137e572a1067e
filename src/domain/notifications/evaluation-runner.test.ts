import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import {
  aDevice,
  aSensor,
  aUser,
  noon,
  sensorId,
  username,
} from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { silentLog } from '../../lib/log.ts';
import { payerOfAccount } from '../budgets/budget.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { silentReporter } from '../reporter.ts';
import type { Firing, FiringOutcome } from './delivery.ts';
import { createEvaluationRunner } from './evaluation-runner.ts';
import { createEvaluations } from './evaluations.ts';
import { createFire } from './fire.ts';
import type { EndOutcome, EvaluationEnd } from './notification-store.ts';
import { createRuleBook } from './rule-book.ts';
import { createStateBook } from './state-book.ts';

type RunnerParts = Parameters<typeof createEvaluationRunner>[0];

const sensor = sensorId('TC1');
const device = aDevice('d1', { owner: username('ben'), sensors: [aSensor(sensor)] });
const rule = aNotification('n', {
  condition: { devices: [device.id], sensors: [sensor], expression: 'TC1 > 0' },
});
const evaluation = { id: 'e1', member: 1, isLeft: false, text: '', fired: new Set<never>() };
const push = {
  ...{ deviceId: device.id, sensorId: sensor, evaluationId: evaluation.id, isAhead: true },
  datapoints: [{ value: 1, receivedAt: noon }],
};

/** Evaluates a push to ben's device, at which a rule of ana fires: it is stored when told so. */
async function evaluate(ended: EndOutcome) {
  const stored = Promise.withResolvers<readonly FiringOutcome[]>();
  const firings: Firing[] = [];
  const happened: string[] = [];
  const store = {
    async fire(some: readonly Firing[]) {
      firings.push(...some);
      const outcomes = await stored.promise;
      happened.push('stored');
      return outcomes;
    },
    saveStates: async () => undefined,
  };
  const silences = { seen: () => undefined, forget: () => undefined, watch: () => undefined };
  const common = {
    ...{ store, log: silentLog, reporter: silentReporter, budgets: createBudgets() },
    ...{ states: createStateBook({ store, log: silentLog }), evaluations: createEvaluations() },
    ...{ silences: () => silences, channels: new Map(), clock: { now: () => noon } },
    users: { findByUsername: async () => aUser('ana') },
    devices: { find: async () => device },
    access: { allows: async () => true },
    outbox: { wake: () => undefined, deliver: async () => undefined },
    peekDevice: () => device,
    onGone: () => undefined,
  } as unknown as Parameters<typeof createRuleBook>[0] & Parameters<typeof createFire>[0];
  const book = createRuleBook(common);
  await book.put(rule, { payer: payerOfAccount('ana'), isWatchedAnew: false });
  const looks = {
    line: async () => ({ looks: [], states: new Map() }),
    async finish({ progress }: EvaluationEnd) {
      if (progress !== undefined) progress.isEnded = ended === 'ended';
      happened.push(ended);
      return ended;
    },
  };
  const runner = createEvaluationRunner({
    ...{ ...common, book, looks, fire: createFire(common), pushOf: () => undefined },
  } as unknown as RunnerParts);
  const ran = runner.run(device.id, [{ evaluation, push, isAgain: false }], {
    ...{ rest: [], remembered: new Map() },
    onMade: (_, outcome) => void (outcome && happened.push('answered')),
  });
  return {
    ...{ ran, firings, happened },
    store: () => stored.resolve([{ kind: 'fired', deliveryIds: [] }]),
  };
}

test('an evaluation ends when firings of others are stored', async () => {
  const { ran, happened, store } = await evaluate('ended');
  // On a busy machine it takes longer than those are waited for.
  while (happened.length === 0) await wait(10);
  assert.deepEqual(happened, ['answered'], 'after a kill now another process has to make it again');
  store();
  assert.equal(await ran, 'ended');
  assert.deepEqual(happened, ['answered', 'stored', 'ended']);
});

test('a firing of others follows an evaluation that this process ended alone', async () => {
  for (const ended of ['ended', 'taken'] as const) {
    const { ran, firings, store } = await evaluate(ended);
    while (firings.length === 0) await wait(5);
    const [firing] = firings;
    assert.equal(firing?.evaluationId, evaluation.id);
    assert.equal(firing?.evaluation?.isEnded, false);
    store();
    assert.equal(await ran, ended);
    assert.equal(firing.evaluation.isEnded, ended === 'ended');
  }
});
