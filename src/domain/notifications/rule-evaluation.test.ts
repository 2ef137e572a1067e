import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aSensor, noon, username } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import type { JsonValue } from '../../lib/json.ts';
import type { NotificationId } from '../ids.ts';
import { evaluationLimits } from './evaluation-limits.ts';
import { createEvaluations } from './evaluations.ts';
import type { Condition, DeviceState } from './notification.ts';
import type { StoredState } from './notification-store.ts';
import { createRule, type Rule } from './rule.ts';
import { isCalm } from './rule-evaluation.ts';

const { owner } = aNotification('n', {
  condition: { devices: [], sensors: [], expression: 't > 1' },
});
const device = aDevice('d', { owner, sensors: [aSensor('t')] });

const ruleOf = (expression: string, fields: Partial<Condition> = {}, name = 'n'): Rule =>
  createRule(
    aNotification(name, { condition: { devices: [], sensors: [], expression, ...fields } }),
  );

type States = ReadonlyMap<NotificationId, StoredState>;

/** Whether the rules are over with values of the sensor t, and what they said of them. */
function judged(
  rules: readonly Rule[],
  values: readonly JsonValue[],
  ageMs = 0,
  { remembered, of = device }: { remembered?: States; of?: typeof device } = {},
) {
  const evaluations = createEvaluations();
  for (const { notification } of rules) evaluations.open(notification.id);
  const datapoints = values.map((value) => ({ value, receivedAt: noon, timestamp: noon - ageMs }));
  const about = { device: of, sensor: aSensor('t'), rules };
  const isOver = isCalm(evaluations, about, datapoints, remembered);
  const noted = rules.flatMap(({ notification }) =>
    evaluations.of(notification.id).map(({ outcome }) => outcome),
  );
  return isOver ? noted : 'evaluated';
}

test('a rule that remembers nothing is over with a value at which it does not hold', () => {
  assert.deepEqual(judged([ruleOf('t > 30')], [20]), ['false']);
  assert.deepEqual(judged([ruleOf('t > 30')], [20, 21]), ['false', 'false']);
  assert.deepEqual(judged([ruleOf('t > 30'), ruleOf('t < 5', {}, 'm')], [20]), ['false', 'false']);
  assert.deepEqual(judged([ruleOf('t > 30')], ['broken']), ['passed_over']);
  assert.deepEqual(judged([ruleOf('t > 30', { maxAgeSeconds: 60 })], [40], 61_000), ['late']);
  assert.deepEqual(judged([], [20]), []);
});

test('a rule is evaluated in its turn where it may fire or needs more than the value', () => {
  assert.equal(judged([ruleOf('t > 30')], [20, 31]), 'evaluated');
  assert.equal(judged([ruleOf('t > 30'), ruleOf('t < 25', {}, 'm')], [20]), 'evaluated');
  assert.equal(judged([ruleOf('')], [20]), 'evaluated');
  for (const text of ['t > 30 for 1m', 't > 30 clear t < 20', 't > 30; u > 1', 'u > 1']) {
    assert.equal(judged([ruleOf(text)], [20]), 'evaluated', text);
  }
  assert.equal(judged([ruleOf('t > 30; silent(t, 1h)')], [20]), 'evaluated');
  const many = Array.from({ length: evaluationLimits.calmEvaluationsMax + 1 }, () => 20);
  assert.equal(judged([ruleOf('t > 30')], many), 'evaluated');
});

test('what a rule remembers says that it is over where nothing of it changes', () => {
  const judgedWith = (
    expression: string,
    value: JsonValue,
    state?: DeviceState,
    { lastFiredAt, fields }: { lastFiredAt?: number; fields?: Partial<Condition> } = {},
  ) => {
    const rule = ruleOf(expression, fields);
    const throttled = { ...rule, throttlingMs: 60_000 };
    const stored = new Map([[rule.notification.id, { state, lastFiredAt }]]);
    return judged([throttled], [value], 0, { remembered: stored });
  };
  const minuteAgo = { holdsSince: noon - 60_000 };
  assert.deepEqual(judgedWith('t > 30 for 1m', 20), ['false']);
  assert.deepEqual(judgedWith('t > 30 for 1m', 40, { holdsSince: noon - 30_000 }), ['waiting']);
  assert.equal(judgedWith('t > 30 for 1m', 40), 'evaluated', 'it begins to hold');
  assert.equal(judgedWith('t > 30 for 1m', 40, minuteAgo), 'evaluated', 'it fires');
  assert.equal(judgedWith('t > 30 for 1m', 20, minuteAgo), 'evaluated', 'it holds no longer');
  assert.deepEqual(judgedWith('t > 30 clear t < 20', 25, { isRaised: true }), ['raised']);
  assert.equal(judgedWith('t > 30 clear t < 20', 10, { isRaised: true }), 'evaluated');
  assert.deepEqual(judgedWith('t > 30', 40, undefined, { lastFiredAt: noon - 59_000 }), [
    'throttled',
  ]);
  assert.equal(judgedWith('t > 30', 40, undefined, { lastFiredAt: noon - 60_000 }), 'evaluated');
  // A push to the other sensor may change what it remembers, and waits for no push to this one.
  const ofBoth = { sensors: [aSensor('t').id, aSensor('u').id] };
  assert.equal(judgedWith('t > 30 for 1m', 20, {}, { fields: ofBoth }), 'evaluated');
  assert.deepEqual(judgedWith('t > 30', 20, {}, { fields: ofBoth }), ['false']);
  assert.equal(judgedWith('silent(t, 1h) clear t < 20', 20), 'evaluated');
  assert.equal(judgedWith('t > 30; u > 1', 20), 'evaluated');
  const lasting = ruleOf('t > 30 for 1m');
  const remembered = new Map([[lasting.notification.id, { state: {}, lastFiredAt: undefined }]]);
  assert.deepEqual(judged([lasting], [20], 0, { remembered }), ['false']);
  assert.equal(judged([lasting], [20], 0, { remembered: new Map() }), 'evaluated', 'it went');
  const of = { ...device, owner: username('bo') };
  assert.equal(judged([lasting], [20], 0, { remembered, of }), 'evaluated', 'of a stranger');
});
