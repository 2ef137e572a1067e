import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actuatorId,
  aDevice,
  anActuator,
  deviceId,
  noon,
  username,
} from '../../../test/contract/storage/builders.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { silentLog } from '../../lib/log.ts';
import { payerOf } from '../budgets/budget.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { DomainError } from '../errors.ts';
import { parseUserId } from '../ids.ts';
import { limits } from '../limits.ts';
import { createTimedSettings, timedSettingTimes } from './timed-settings.ts';

const [id, pump, by] = [deviceId('d'), actuatorId('pump'), username('ama')];
const payer = payerOf({ kind: 'user', userId: parseUserId('1'), username: by });
const graceMs = timedSettingTimes.graceMs;

/** Ama's pump, and two processes that set it: `at(1)` and `at(2)`, with one clock. */
async function sharedPump() {
  const { devices } = await temporaryStorage();
  await devices.insert(aDevice('d', { actuators: [anActuator('pump', { value: 0 })] }));
  let now = noon;
  let isAway = false;
  const told: unknown[] = [];
  const open = () => {
    const budget = createBudgets().of('timed_settings');
    const settings = createTimedSettings({
      ...{ budget, log: silentLog, clock: { now: () => now }, isShared: true },
      store: {
        stepActuator: devices.stepActuator,
        async listTimedSettings() {
          if (isAway) throw new DomainError('unavailable', 'away');
          return devices.listTimedSettings();
        },
      },
      publish: ({ value }) => told.push(value),
    });
    return {
      ...settings,
      used: () => budget.used,
      async set(value: number, forMs: number): Promise<void> {
        settings.reserve(payer);
        await devices.stepActuator(id, pump, { kind: 'set', value, by, at: now, forMs });
        settings.watch({ deviceId: id, actuatorId: pump, at: now + forMs }, payer);
      },
    };
  };
  const [one, two] = [open(), open()];
  return {
    ...{ one, two, told },
    value: async () => (await devices.find(id))?.actuators[0]?.value,
    setAway: (away: boolean) => {
      isAway = away;
    },
    /** Time goes on, and these check the clock. */
    async pass(ms: number, ...running: readonly (typeof one)[]): Promise<void> {
      now += ms;
      await Promise.all(running.map(({ tick }) => tick()));
    },
  };
}

test('what an ended process took is set back by another one, a moment later', async () => {
  const { one, two, told, pass, value } = await sharedPump();
  await two.set(1, 5_000);
  one.takeOver();
  await pass(5_000, one);
  assert.equal(await value(), 1, 'the other one might live');
  await pass(graceMs, one);
  assert.deepEqual([await value(), told], [0, [0]]);
  await pass(0, two);
  assert.deepEqual(told, [0], 'twice');
  assert.equal(two.used(), 0);
});

test('what was replaced at a process that ended lasts until its own time', async () => {
  const { one, two, told, pass, value } = await sharedPump();
  await one.set(1, 5_000);
  await two.set(2, 60_000);
  await pass(5_000, one);
  assert.equal(await value(), 2);
  assert.equal(one.used(), 0, 'nothing is to be set back here');
  one.takeOver();
  await pass(55_000, one);
  await pass(graceMs, one);
  assert.deepEqual([await value(), told], [0, [0]]);
});

test('one that was replaced by a shorter time is known anew, and its room is free', async () => {
  const { one, two, pass, value } = await sharedPump();
  await one.set(1, 60_000);
  await two.set(2, 5_000);
  one.takeOver();
  await pass(0, one);
  assert.equal(one.used(), 0);
  await pass(5_000 + graceMs, one);
  assert.equal(await value(), 0);
});

test('they are read again each minute, and sooner where the database was away', async () => {
  const { one, two, pass, value, setAway } = await sharedPump();
  one.takeOver();
  await pass(0, one);
  await two.set(1, 1_000);
  await pass(timedSettingTimes.readMs - 1, one);
  assert.equal(await value(), 1);
  setAway(true);
  await pass(1, one);
  setAway(false);
  await pass(limits.timedSettingRetryMs, one);
  assert.equal(await value(), 0);
});

test('one that is set while the others are read is not forgotten', async () => {
  const { one, told, pass } = await sharedPump();
  one.takeOver();
  const reading = pass(0, one);
  await one.set(1, 1_000);
  await reading;
  assert.equal(one.used(), 1);
  await pass(1_000, one);
  assert.deepEqual([told, one.used()], [[0], 0]);
});
