import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aNotification } from '../../storage/contract/notifications.contract.ts';
import { parseSensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import { parseExpression, type Reading } from './expression.ts';
import type { DeviceState } from './notification.ts';
import {
  createRule,
  firedState,
  freshState,
  hasFiredFor,
  isThrottled,
  judge,
  withFired,
} from './rule.ts';

const minute = 60_000;
const noon = Date.UTC(2026, 10, 20, 12);
const TC1 = parseSensorId('TC1');

const readingOf = (value: number): Reading => ({
  now: noon,
  value: () => value,
  seenAt: () => noon,
});

/** What each of the values, a minute apart, comes to; a firing follows whenever it may. */
function verdicts(text: string, values: readonly number[], times?: readonly number[]): string[] {
  const expression = parseExpression(text);
  let state: DeviceState = freshState;
  return values.map((value, index) => {
    const time = noon + (times?.[index] ?? index) * minute;
    const judged = judge(expression, state, readingOf(value), time);
    state = judged.verdict === 'holds' ? firedState(expression, judged.state) : judged.state;
    return judged.verdict;
  });
}

test('a condition fires at every datapoint that meets it, whatever the clock does', () => {
  const property = fc.property(
    fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: -99, max: 99 }))),
    (pairs) => {
      const values = pairs.map(([value]) => value);
      const times = pairs.map(([, time]) => time);
      const expected = values.map((value) => (value > 30 ? 'holds' : 'false'));
      assert.deepEqual(verdicts('TC1 > 30', values, times), expected);
    },
  );
  fc.assert(property);
});

test('for waits to the millisecond, and begins anew when the condition breaks', () => {
  const all = verdicts('TC1 > 30 for 2m', [31, 32, 33, 30, 31, 31, 31]);
  assert.deepEqual(all, ['waiting', 'waiting', 'holds', 'false', 'waiting', 'waiting', 'holds']);
  const expression = parseExpression('TC1 > 30 for 2m');
  const { state } = judge(expression, freshState, readingOf(31), noon);
  for (const [late, verdict] of [
    [2 * minute - 1, 'waiting'],
    [2 * minute, 'holds'],
  ] as const) {
    assert.equal(judge(expression, state, readingOf(31), noon + late).verdict, verdict);
  }
});

test('a clock that is set back lengthens for, and a late datapoint does not end it', () => {
  assert.deepEqual(verdicts('TC1 > 30 for 10m', [31, 31, 31], [0, -5, 5]), [
    'waiting',
    'waiting',
    'holds',
  ]);
  assert.deepEqual(verdicts('TC1 > 30 for 10m', [31, 31, 31], [0, 9, 1]), [
    'waiting',
    'waiting',
    'waiting',
  ]);
});

test('between the two thresholds it neither fires nor clears', () => {
  const all = verdicts('TC1 > 30 clear TC1 < 28', [31, 30, 28, 31, 27, 29, 31]);
  assert.deepEqual(all, ['holds', 'raised', 'raised', 'raised', 'cleared', 'false', 'holds']);
});

test('with for and clear it waits again after it was cleared', () => {
  const all = verdicts('TC1 > 30 for 1m clear TC1 < 28', [31, 31, 31, 20, 31, 31]);
  assert.deepEqual(all, ['waiting', 'holds', 'raised', 'cleared', 'waiting', 'holds']);
});

test('with clear it never fires twice without a value that clears between', () => {
  const property = fc.property(fc.array(fc.integer({ min: 20, max: 40 })), (values) => {
    const all = verdicts('TC1 > 30 clear TC1 < 28', values);
    let isRaised = false;
    for (const [index, verdict] of all.entries()) {
      const value = values[index] ?? 0;
      if (isRaised && value < 28) isRaised = false;
      else if (!isRaised && value > 30) {
        assert.equal(verdict, 'holds');
        isRaised = true;
      } else assert.notEqual(verdict, 'holds');
    }
  });
  fc.assert(property);
});

test('the state stays the same object while nothing changes', () => {
  const expression = parseExpression('TC1 > 30 for 1m clear TC1 < 28');
  assert.equal(judge(expression, freshState, readingOf(1), noon).state, freshState);
  const raised: DeviceState = { isRaised: true };
  assert.equal(judge(expression, raised, readingOf(29), noon).state, raised);
});

test('the window ends to the millisecond, and a clock that is set back keeps it', () => {
  const notification = aNotification('n', { throttlingSeconds: 60 });
  const rule = createRule(notification, { lastFiredAt: noon });
  const at = (ms: number): boolean => isThrottled(rule, noon + ms);
  assert.deepEqual([-minute, 0, minute - 1, minute].map(at), [true, true, true, false]);
  assert.equal(isThrottled(createRule(notification), noon), false);
  assert.equal(isThrottled(createRule(aNotification('n'), { lastFiredAt: noon }), noon), false);
});

test('a firing covers what was received before it, and of its own millisecond itself alone', () => {
  const datapoint = { value: 31, timestamp: noon - 5, receivedAt: noon };
  const state = withFired(freshState, TC1, { at: noon, datapoint });
  const had = (fields: object): boolean => hasFiredFor(state, TC1, { ...datapoint, ...fields });
  assert.equal(had({}), true);
  assert.equal(had({ receivedAt: noon - 1, value: 99 }), true);
  assert.equal(had({ value: 32 }), false);
  assert.equal(had({ timestamp: noon - 4 }), false);
  assert.equal(had({ receivedAt: noon + 1 }), false);
  assert.equal(hasFiredFor(state, parseSensorId('SM1'), datapoint), false);
});

test('of one millisecond all firings are remembered, and past the limit the whole of it', () => {
  let state: DeviceState = freshState;
  const fired = (value: number) => ({ value, receivedAt: noon });
  for (let value = 0; value < limits.firedKeysMax; value += 1) {
    state = withFired(state, TC1, { at: noon, datapoint: fired(value) });
  }
  for (const value of [0, limits.firedKeysMax - 1]) {
    assert.equal(hasFiredFor(state, TC1, fired(value)), true);
  }
  assert.equal(hasFiredFor(state, TC1, fired(-1)), false);
  const full = withFired(state, TC1, { at: noon, datapoint: fired(limits.firedKeysMax) });
  assert.equal(hasFiredFor(full, TC1, fired(-1)), true);
  const later = { value: 1, receivedAt: noon + 1 };
  const next = withFired(full, TC1, { at: noon + 1, datapoint: later });
  assert.equal(hasFiredFor(next, TC1, { ...later, value: 2 }), false);
});
