import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { parseSensorId } from '../ids.ts';
import { limits } from '../limits.ts';
import type { DeviceState } from './notification.ts';
import { createRule, type Rule } from './rule.ts';
import {
  evaluateAgainAt,
  freshState,
  hadItsTurn,
  isSilenceTold,
  type Reading,
  type RuleState,
  type Step,
  step,
} from './step.ts';

const minute = 60_000;
const noon = Date.UTC(2026, 10, 20, 12);
const TC1 = parseSensorId('TC1');

const readingOf = (value: number, time = noon, now = noon): Reading => ({
  ...{ now, time, sensorId: TC1, datapoint: { value, timestamp: time, receivedAt: now } },
  value: () => value,
  number: () => value,
  seenAt: () => now,
});

const ruleOf = (expression: string, fields: { throttlingSeconds?: number } = {}): Rule =>
  createRule(
    aNotification('n', { condition: { devices: [], sensors: [], expression }, ...fields }),
  );

const after = ({ state, firing }: Step): RuleState => firing?.state ?? state;

/** What each of the values, a minute apart, comes to; a firing follows whenever it may. */
function outcomes(text: string, values: readonly number[], times?: readonly number[]): string[] {
  const rule = ruleOf(text);
  let state = freshState;
  return values.map((value, index) => {
    const time = noon + (times?.[index] ?? index) * minute;
    const result = step(rule, state, readingOf(value, time, noon + index * minute));
    state = after(result);
    return result.outcome;
  });
}

test('a condition fires at every datapoint that meets it, whatever the clock does', () => {
  const property = fc.property(
    fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: -99, max: 99 }))),
    (pairs) => {
      const values = pairs.map(([value]) => value);
      const times = pairs.map(([, time]) => time);
      const expected = values.map((value) => (value > 30 ? 'sent' : 'false'));
      assert.deepEqual(outcomes('TC1 > 30', values, times), expected);
    },
  );
  fc.assert(property);
});

test('for waits to the millisecond, and begins anew when the condition breaks', () => {
  const all = outcomes('TC1 > 30 for 2m', [31, 32, 33, 30, 31, 31, 31]);
  assert.deepEqual(all, ['waiting', 'waiting', 'sent', 'false', 'waiting', 'waiting', 'sent']);
  const rule = ruleOf('TC1 > 30 for 2m');
  const { state } = step(rule, freshState, readingOf(31));
  for (const [late, outcome] of [
    [2 * minute - 1, 'waiting'],
    [2 * minute, 'sent'],
  ] as const) {
    assert.equal(step(rule, state, readingOf(31, noon + late)).outcome, outcome);
  }
});

test('a clock that is set back lengthens for, and a late datapoint does not end it', () => {
  assert.deepEqual(outcomes('TC1 > 30 for 10m', [31, 31, 31], [0, -5, 5]), [
    'waiting',
    'waiting',
    'sent',
  ]);
  assert.deepEqual(outcomes('TC1 > 30 for 10m', [31, 31, 31], [0, 9, 1]), [
    'waiting',
    'waiting',
    'waiting',
  ]);
});

test('between the two thresholds it neither fires nor clears', () => {
  const all = outcomes('TC1 > 30 clear TC1 < 28', [31, 30, 28, 31, 27, 29, 31]);
  assert.deepEqual(all, ['sent', 'raised', 'raised', 'raised', 'cleared', 'false', 'sent']);
});

test('with for and clear it waits again after it was cleared', () => {
  const all = outcomes('TC1 > 30 for 1m clear TC1 < 28', [31, 31, 31, 20, 31, 31]);
  assert.deepEqual(all, ['waiting', 'sent', 'raised', 'cleared', 'waiting', 'sent']);
});

test('with clear it never fires twice without a value that clears between', () => {
  const property = fc.property(fc.array(fc.integer({ min: 20, max: 40 })), (values) => {
    const all = outcomes('TC1 > 30 clear TC1 < 28', values);
    let isRaised = false;
    for (const [index, verdict] of all.entries()) {
      const value = values[index] ?? 0;
      if (isRaised && value < 28) isRaised = false;
      else if (!isRaised && value > 30) {
        assert.equal(verdict, 'sent');
        isRaised = true;
      } else assert.notEqual(verdict, 'sent');
    }
  });
  fc.assert(property);
});

test('the state stays the same object while nothing changes', () => {
  const rule = ruleOf('TC1 > 30 for 1m clear TC1 < 28');
  assert.equal(step(rule, freshState, readingOf(1)).state, freshState);
  const raised: RuleState = { device: { isRaised: true } };
  assert.equal(step(rule, raised, readingOf(29)).state, raised);
});

test('without the rights to fire nothing is remembered of the firing', () => {
  const { state, firing } = step(ruleOf('TC1 > 30 clear TC1 < 28'), freshState, readingOf(31));
  assert.equal(state, freshState);
  assert.equal(firing?.state.device.isRaised, true);
});

test('the window ends to the millisecond, and a clock that is set back keeps it', () => {
  const state: RuleState = { device: {}, lastFiredAt: noon };
  const outcomeOf = (rule: Rule, ms: number): string =>
    step(rule, state, readingOf(31, noon, noon + ms)).outcome;
  const throttled = ruleOf('TC1 > 30', { throttlingSeconds: 60 });
  assert.deepEqual(
    [-minute, 0, minute - 1, minute].map((ms) => outcomeOf(throttled, ms)),
    ['throttled', 'throttled', 'throttled', 'sent'],
  );
  assert.equal(outcomeOf(ruleOf('TC1 > 30'), 0), 'sent');
  const back = step(ruleOf('TC1 > 30'), state, readingOf(31, noon, noon - minute));
  assert.equal(back.firing?.state.lastFiredAt, noon);
});

const datapoint = { value: 31, timestamp: noon - 5, receivedAt: noon };
const had = (state: DeviceState, fields: object): boolean =>
  hadItsTurn(state, TC1, { ...datapoint, ...fields });

test('a firing covers what was received before it, and of its own millisecond itself alone', () => {
  const { firing } = step(ruleOf('TC1 > 30'), freshState, readingOf(31, noon - 5));
  const state = firing?.state.device ?? {};
  assert.equal(had(state, {}), true);
  assert.equal(had(state, { receivedAt: noon - 1, value: 99 }), true);
  assert.equal(had(state, { value: 32 }), false);
  assert.equal(had(state, { timestamp: noon - 4 }), false);
  assert.equal(had(state, { receivedAt: noon + 1 }), false);
  assert.equal(hadItsTurn(state, parseSensorId('SM1'), datapoint), false);
});

test('of one millisecond all firings are remembered, and past the limit the whole of it', () => {
  const rule = ruleOf('');
  const fire = (state: RuleState, value: number, now = noon) =>
    after(step({ ...rule, triggers: [TC1] }, state, readingOf(value, now, now)));
  let state = freshState;
  for (let value = 0; value < limits.firedKeysMax; value += 1) state = fire(state, value);
  const timestamp = noon;
  for (const value of [0, limits.firedKeysMax - 1]) {
    assert.equal(had(state.device, { timestamp, value }), true);
  }
  assert.equal(had(state.device, { timestamp, value: -1 }), false);
  const full = fire(state, limits.firedKeysMax);
  assert.equal(had(full.device, { timestamp, value: -1 }), true);
  const next = fire(full, 1, noon + 1);
  const later = { timestamp: noon + 1, receivedAt: noon + 1 };
  assert.equal(had(next.device, { ...later, value: 1 }), true);
  assert.equal(had(next.device, { ...later, value: 2 }), false);
});

test('what a state has from an earlier version is understood', () => {
  const former: DeviceState = { firedFor: { TC1: noon }, silenceToldAt: noon };
  assert.equal(had(former, {}), true);
  assert.equal(isSilenceTold(former, TC1, noon), true);
  assert.equal(isSilenceTold(former, TC1, noon + 1), false);
});

test('a silence is told once, of each sensor by itself', () => {
  const rule = ruleOf('silent(TC1, 2h)');
  const silent = { ...readingOf(1), now: noon + 120 * minute, silentSince: noon };
  const { datapoint: _, ...reading } = silent;
  const { firing } = step(rule, freshState, reading);
  const state = firing?.state.device ?? {};
  assert.equal(isSilenceTold(state, TC1, noon), true);
  assert.equal(isSilenceTold(state, parseSensorId('SM1'), noon), false);
  assert.equal(step(rule, freshState, silent).outcome, 'skipped', 'a push ends no silence');
});

test('a look remembers all silences that it fired for, and none that it did not', () => {
  const rule = ruleOf('silent(TC1, 2h); silent(SM1, 1h)');
  const SM1 = parseSensorId('SM1');
  const silentAt = (minutes: number): Reading => {
    const { datapoint: _, ...reading } = readingOf(1);
    const now = noon + minutes * minute;
    return { ...reading, now, time: now, sensorId: SM1, silentSince: noon, seenAt: () => noon };
  };
  const early = step(rule, freshState, silentAt(60));
  assert.equal(early.outcome, 'false');
  assert.equal(early.state, freshState);
  const { firing } = step(rule, early.state, silentAt(120));
  const state = firing?.state ?? freshState;
  for (const sensorId of [TC1, SM1]) {
    assert.equal(isSilenceTold(state.device, sensorId, noon), true);
    assert.equal(step(rule, state, { ...silentAt(121), sensorId }).outcome, 'skipped');
  }
});

test('a look that time has to repeat says when', () => {
  const rule = ruleOf('silent(TC1, 2h) for 1m', { throttlingSeconds: 600 });
  const { datapoint: _, ...reading } = { ...readingOf(1), now: noon + 120 * minute };
  const silent = { ...reading, time: reading.now, silentSince: noon };
  const waiting = step(rule, freshState, silent);
  assert.equal(evaluateAgainAt(rule, waiting), silent.now + minute);
  const later = { ...silent, now: silent.now + minute, time: silent.now + minute };
  const throttled = step(rule, { ...waiting.state, lastFiredAt: noon + 115 * minute }, later);
  assert.equal(throttled.outcome, 'throttled');
  assert.equal(evaluateAgainAt(rule, throttled), noon + 125 * minute);
  assert.equal(evaluateAgainAt(rule, step(rule, waiting.state, later)), undefined);
});

test('what was heard meanwhile breaks the hold of a silence', () => {
  const rule = ruleOf('silent(TC1, 2h) for 1h');
  const silentAt = (hours: number, heardAt = noon): Reading => {
    const { datapoint: _, ...reading } = readingOf(1);
    const now = noon + hours * 60 * minute;
    return { ...reading, now, time: now, silentSince: heardAt, seenAt: () => heardAt };
  };
  const waiting = step(rule, freshState, silentAt(2));
  assert.equal(waiting.outcome, 'waiting');
  const heardAt = noon + 150 * minute;
  const again = step(rule, waiting.state, silentAt(4.5, heardAt));
  assert.equal(again.outcome, 'waiting');
  assert.equal(evaluateAgainAt(rule, again), noon + 330 * minute);
  // The service did not receive what came in the meantime.
  const restarted = { ...silentAt(3.5), listensSince: noon + 90 * minute };
  assert.equal(step(rule, waiting.state, restarted).outcome, 'waiting');
  assert.equal(step(rule, again.state, silentAt(5.5, heardAt)).outcome, 'sent');
});

test('a value clears a rule that only time can raise', () => {
  const rule = ruleOf('silent(TC1, 2h) clear TC1 < 5');
  const raised = { device: { isRaised: true } } as const;
  assert.equal(step(rule, raised, readingOf(6)).outcome, 'raised');
  const cleared = step(rule, raised, readingOf(4));
  assert.equal(cleared.outcome, 'cleared');
  const { datapoint: _, ...reading } = readingOf(4);
  const now = reading.now + 121 * minute;
  const silent = { ...reading, now, time: now, silentSince: noon };
  assert.equal(step(rule, cleared.state, silent).outcome, 'sent');
});
