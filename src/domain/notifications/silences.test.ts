import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceId, noon, sensorId, username } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { createManualClock } from '../../../test/manual-clock.ts';
import type { Instant } from '../../lib/clock.ts';
import { type Log, silentLog } from '../../lib/log.ts';
import { budgetTable } from '../budgets/budget-table.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { limits } from '../limits.ts';
import { createEvaluations } from './evaluations.ts';
import { createRule, type Rule } from './rule.ts';
import { createSilences, type Silent } from './silences.ts';

const hour = 3_600_000;
const d = deviceId('d');
const TC1 = sensorId('TC1');

function aRule(id: string, expression = 'silent(TC1, 2h)', owner = 'ana'): Rule {
  const condition = { devices: [d], sensors: [], expression };
  return createRule(aNotification(id, { condition, owner: username(owner) }));
}

function start(log: Log = silentLog, heardAt?: () => Promise<readonly (Instant | undefined)[]>) {
  const clock = createManualClock(noon);
  const told: Silent[] = [];
  let answer: () => Instant | undefined = () => undefined;
  const evaluations = createEvaluations();
  const silences = createSilences({
    ...{ clock, log, evaluations, budget: createBudgets().of('silences'), heardAt },
    async onSilence(silent) {
      told.push(silent);
      return answer();
    },
  });
  const watch = (rule: Rule, options: { seenAt?: number; isTold?: boolean } = {}) => {
    const { seenAt = noon, isTold = false } = options;
    evaluations.open(rule.notification.id);
    silences.watch({ rule, deviceId: d, sensorId: TC1, seenAt }, { isTold });
  };
  return {
    ...{ clock, told, silences, watch, evaluations },
    answer(next: () => Instant | undefined) {
      answer = next;
    },
    async after(ms: number): Promise<number> {
      clock.advance(ms);
      await silences.tick();
      return told.length;
    },
  };
}

test('a silence is told to the millisecond, once until the sensor was heard', async () => {
  const { watch, after, silences, clock, told } = start();
  watch(aRule('1'));
  assert.equal(await after(2 * hour - 1), 0);
  assert.equal(await after(1), 1);
  assert.equal(await after(9 * hour), 1);
  silences.seen(d, TC1, clock.now());
  assert.equal(await after(2 * hour), 2);
  assert.deepEqual(
    told.map(({ seenAt }) => seenAt - noon),
    [0, 11 * hour],
  );
});

test('a datapoint moves the end of a silence away, a late one not back', async () => {
  const { watch, after, silences } = start();
  watch(aRule('1'));
  await after(hour);
  silences.seen(d, TC1, noon + hour);
  silences.seen(d, TC1, noon);
  assert.equal(await after(2 * hour - 1), 0);
  assert.equal(await after(1), 1);
});

test('a clock that is set back tells nothing early, and one that jumps tells at once', async () => {
  const { watch, after } = start();
  watch(aRule('1'));
  assert.equal(await after(-5 * hour), 0);
  assert.equal(await after(6 * hour), 0);
  assert.equal(await after(99 * hour), 1);
});

test('after an outage of the service what is silent is looked at anew', async () => {
  const { watch, after, silences, told } = start();
  watch(aRule('1'));
  assert.equal(await after(2 * hour), 1);
  silences.unheard();
  assert.equal(await after(2 * hour - 1), 1);
  assert.equal(await after(1), 2);
  assert.equal(await after(9 * hour), 2);
  assert.deepEqual(new Set(told.map(({ seenAt }) => seenAt)), new Set([noon]));
});

test('what waited for its time before an outage is looked at when it is silent again', async () => {
  const { watch, after, silences, answer } = start();
  watch(aRule('1'));
  answer(() => noon + 99 * hour);
  assert.equal(await after(2 * hour), 1);
  silences.unheard();
  // The `for` was given up meanwhile, or begins with the silence.
  assert.equal(await after(2 * hour - 1), 1);
  assert.equal(await after(1), 2);
  assert.equal(await after(94 * hour), 2);
  assert.equal(await after(hour), 3);
});

test('what another process heard ends a silence, also one that was told', async () => {
  let heard: Instant | undefined;
  const { watch, after, told } = start(silentLog, async () => [heard]);
  watch(aRule('1'));
  heard = noon + hour;
  assert.equal(await after(2 * hour), 0);
  assert.equal(await after(hour), 1);
  assert.equal(told[0]?.seenAt, noon + hour);
  // It sends once more there, and is silent again before this process asks for it.
  heard = noon + 3.5 * hour;
  assert.equal(await after(2.5 * hour - 1), 1);
  assert.equal(await after(1), 2);
  assert.equal(told[1]?.seenAt, noon + 3.5 * hour);
});

test('a silence that was told before the start ends with what another process heard', async () => {
  let heard: Instant | undefined;
  const { watch, after } = start(silentLog, async () => [heard]);
  watch(aRule('1'), { isTold: true });
  assert.equal(await after(hour), 0);
  heard = noon + hour;
  assert.equal(await after(2 * hour - 1), 0);
  assert.equal(await after(1), 1);
});

test('where it cannot be read what others heard, silences are told a moment later', async () => {
  let isAway = true;
  const { watch, after } = start(silentLog, async () => {
    if (isAway) throw new Error('away');
    return [undefined];
  });
  watch(aRule('1'));
  assert.equal(await after(2 * hour), 0);
  isAway = false;
  assert.equal(await after(limits.silenceRetryMs), 1);
});

test('a silence that was told is asked for again, and not evaluated', async () => {
  let asked = 0;
  const { watch, after } = start(silentLog, async () => {
    asked += 1;
    return [undefined];
  });
  watch(aRule('1'));
  assert.equal(await after(2 * hour), 1);
  for (let round = 1; round <= 5; round += 1) {
    assert.equal(await after(2 * hour), 1);
    assert.equal(asked, round + 1);
  }
});

test('a silence that is not due when others are asked is told in time', async () => {
  const { watch, after, silences, clock } = start(silentLog, async () => [undefined]);
  watch(aRule('1'));
  assert.equal(await after(hour), 0);
  silences.seen(d, TC1, clock.now());
  // Asked for two hours after the rule was made; due an hour later.
  assert.equal(await after(hour), 0);
  assert.equal(await after(hour - 1), 0);
  assert.equal(await after(1), 1);
});

test('a receipt far in the future ends no silence', async () => {
  const { watch, after } = start(silentLog, async () => [noon + 999 * hour]);
  watch(aRule('1'));
  assert.equal(await after(2 * hour), 1);
});

test('what was told before the start is not told again', async () => {
  const { watch, after, silences, clock } = start();
  watch(aRule('1'), { seenAt: noon - 9 * hour, isTold: true });
  assert.equal(await after(hour), 0);
  silences.seen(d, TC1, clock.now());
  assert.equal(await after(2 * hour), 1);
});

test('a silence that is throttled or cannot be stored is told later', async () => {
  const { watch, after, answer } = start();
  watch(aRule('1'));
  answer(() => noon + 5 * hour);
  assert.equal(await after(2 * hour), 1);
  assert.equal(await after(3 * hour - 1), 1);
  answer(() => {
    throw new Error('the disk is full');
  });
  assert.equal(await after(1), 2);
  answer(() => undefined);
  assert.equal(await after(limits.silenceRetryMs - 1), 2);
  assert.equal(await after(1), 3);
  assert.equal(await after(9 * hour), 3);
});

test('rules on one sensor are told apart, and one that went is not told', async () => {
  const { watch, after, silences, told } = start();
  const [short, long, gone] = [aRule('1', 'silent(TC1, 1h)'), aRule('2'), aRule('3')];
  for (const rule of [short, long, gone]) watch(rule);
  silences.forget(gone.notification.id);
  await after(hour);
  await after(hour);
  assert.deepEqual(
    told.map(({ rule }) => rule.notification.id),
    ['1', '2'],
  );
  silences.forget(short.notification.id);
  silences.forget(long.notification.id);
  silences.seen(d, TC1, noon);
  assert.equal(await after(9 * hour), 2);
});

test('beyond the limit of a user a silence is not watched, and says so', async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, text: string) => void warnings.push(text) };
  const { watch, after, silences, evaluations } = start(log);
  const full = aRule('1');
  for (let count = 0; count < budgetTable.silences.perAccount; count += 1) {
    const place = { deviceId: deviceId(`d${count}`), sensorId: TC1, seenAt: noon };
    silences.watch({ rule: full, ...place }, { isTold: true });
  }
  const beyond = aRule('2');
  watch(beyond);
  assert.deepEqual(
    evaluations.of(beyond.notification.id).map(({ outcome }) => outcome),
    ['not_watched'],
  );
  assert.deepEqual(warnings, ['too many silences are waited for']);
  watch(aRule('3', undefined, 'bob'));
  assert.equal(await after(2 * hour), 1);
  silences.forget(full.notification.id);
  const again = aRule('4');
  watch(again);
  assert.deepEqual(evaluations.of(again.notification.id), []);
});

test('a stop does not wait until all that is due was told', async () => {
  const clock = createManualClock(noon);
  const first = Promise.withResolvers<void>();
  let told = 0;
  const silences = createSilences({
    ...{ clock, log: silentLog, evaluations: createEvaluations() },
    budget: createBudgets().of('silences'),
    async onSilence() {
      told += 1;
      await first.promise;
      return undefined;
    },
  });
  for (let at = 0; at < 20; at += 1) {
    const silent = { rule: aRule(`${at}`), deviceId: d, sensorId: TC1, seenAt: noon };
    silences.watch(silent, { isTold: false });
  }
  clock.advance(2 * hour);
  const ticking = silences.tick();
  const stopped = silences.stop();
  first.resolve();
  await Promise.all([ticking, stopped]);
  assert.equal(told, 1);
});
