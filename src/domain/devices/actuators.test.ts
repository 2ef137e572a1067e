import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actuatorId,
  aDevice,
  anActuator,
  deviceId,
  noon,
} from '../../../test/contract/storage/builders.ts';
import { endlessRoom } from '../../../test/endless-room.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import type { Clock } from '../../lib/clock.ts';
import { silentLog } from '../../lib/log.ts';
import { type Actor, guest } from '../actor.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { guestUsername, parseUserId, parseUsername } from '../ids.ts';
import { limits } from '../limits.ts';
import { type ActuatorChange, createActuators } from './actuators.ts';
import type { DeviceStore } from './device.ts';
import { createTimedSettings } from './timed-settings.ts';

const clock: Clock = { now: () => noon };
const id = deviceId('d');
const valueBytesMax = 65_536;
const pump = actuatorId('pump');
const ama: Actor = { kind: 'user', userId: parseUserId('1'), username: parseUsername('ama') };

async function guestsPump(wrap = (devices: DeviceStore): DeviceStore => devices) {
  const { storage, access } = await openServiceStorage();
  const devices = wrap(storage.devices);
  const actuators = [anActuator('pump', { value: 0 })];
  await devices.insert(aDevice('d', { owner: guestUsername, actuators }));
  const told: ActuatorChange[] = [];
  const publish = (change: ActuatorChange) => told.push(change);
  const budget = createBudgets().of('timed_settings');
  const timed = { store: devices, budget, publish, clock, log: silentLog };
  const timedSettings = createTimedSettings(timed);
  return {
    devices,
    told,
    actuators: createActuators({
      ...{ store: devices, access, clock, publish, valueBytesMax, timedSettings },
      room: endlessRoom(),
    }),
  };
}

test('those who watch are told every value that is set, after it is kept', async () => {
  const { devices, told, actuators } = await guestsPump();
  const values = [false, null, 0, '', { on: true }];
  for (const value of values) {
    await actuators.setValue(guest, id, pump, value);
    const set = { value, setBy: guestUsername, setAt: noon };
    assert.deepEqual((await devices.find(id))?.actuators, [anActuator('pump', set)]);
  }
  await actuators.put(ama, id, anActuator('pump', { value: 5 }));
  const expected = [...values, 5].map((value) => ({ deviceId: id, actuatorId: pump, value }));
  assert.deepEqual(told, expected);
});

test('a change of the description alone is not told', async () => {
  const { told, actuators } = await guestsPump();
  await actuators.put(guest, id, anActuator('pump', { name: 'Pump' }));
  await actuators.update(guest, id, pump, { kind: 'Relay' });
  await actuators.remove(guest, id, pump);
  assert.deepEqual(told, []);
});

test('a value that is refused is neither kept nor told', async () => {
  const { devices, told, actuators } = await guestsPump();
  await devices.update(id, { owner: parseUsername('kofi'), visibility: 'private' }, noon);
  await assert.rejects(actuators.setValue(ama, id, pump, 1), { code: 'forbidden' });
  await assert.rejects(actuators.setValue(ama, deviceId('e'), pump, 1), { code: 'not_found' });
  await devices.update(id, { owner: guestUsername }, noon);
  const valve = actuatorId('valve');
  await assert.rejects(actuators.setValue(ama, id, valve, 1), { code: 'not_found' });
  assert.equal((await devices.find(id))?.actuators[0]?.value, 0);
  assert.deepEqual(told, []);
});

test('settings that many guests make at once leave others their turn at the store', async () => {
  const stored: unknown[] = [];
  const goOns: (() => void)[] = [];
  const { actuators } = await guestsPump((devices) => ({
    ...devices,
    async stepActuator(...given) {
      const [, , step] = given;
      stored.push(step.kind === 'set' ? step.value : undefined);
      await new Promise<void>((resolve) => goOns.push(resolve));
      return devices.stepActuator(...given);
    },
  }));
  const stranger: Actor = { kind: 'guest', address: '10.0.0.1' };
  const count = 3 * limits.settingsStoredAtOnce;
  const all = Array.from({ length: count }, () => actuators.setValue(stranger, id, pump, 'theirs'));
  const hers = actuators.setValue(ama, id, pump, 'hers');
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  for (let ended = 0; ended <= 2; ended += 1) {
    // The store answers from its thread: one that ended lets one more begin, and no more.
    while (stored.length < limits.settingsStoredAtOnce + ended) await settled();
    for (let ticks = 0; ticks < 50; ticks += 1) await settled();
    assert.equal(stored.length, limits.settingsStoredAtOnce + ended);
    if (ended < 2) goOns.shift()?.();
  }
  assert.ok(stored.includes('hers'));
  for (let left = count + 1; left > 0; await settled()) {
    left -= goOns.length;
    for (const goOn of goOns.splice(0)) goOn();
    if (stored.length === count + 1 && goOns.length === 0) break;
  }
  await Promise.all([...all, hers]);
});
