import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { deviceId, sensorId, username } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import type { NotificationId } from '../ids.ts';
import { createRule, type Rule } from './rule.ts';
import { createSensorIndex } from './sensor-index.ts';

const ana = username('ana');

function aRule(
  id: string,
  devices: readonly string[],
  sensors: readonly string[],
  owner = 'ana',
): Rule {
  return createRule(
    aNotification(id, {
      owner: username(owner),
      condition: {
        devices: devices.map(deviceId),
        sensors: sensors.map(sensorId),
        expression: '',
      },
    }),
  );
}

const idsOf = (rules: readonly Rule[]): string[] => rules.map((rule) => rule.notification.id);

test('rules come in the order of their creation, whether they name devices or not', () => {
  const index = createSensorIndex();
  for (const [id, devices] of [
    ['1', ['d']],
    ['2', []],
    ['3', ['d']],
    ['4', []],
  ] as const) {
    index.put(aRule(id, devices, ['TC1']));
  }
  const on = () => idsOf(index.rulesOn(deviceId('d'), sensorId('TC1'), ana));
  assert.deepEqual(on(), ['1', '2', '3', '4']);
  index.put(aRule('2', ['d'], ['TC1']));
  index.put(aRule('1', [], ['TC1']));
  assert.deepEqual(on(), ['1', '2', '3', '4']);
  assert.deepEqual(idsOf(index.all()), ['1', '2', '3', '4']);
});

test('a changed rule leaves the sensors that it does not watch any more', () => {
  const index = createSensorIndex();
  index.put(aRule('1', ['d', 'e'], ['TC1', 'SM1']));
  index.put(aRule('1', ['e'], ['SM1', 'SM2']));
  const watched = ['d', 'e'].flatMap((device) =>
    ['TC1', 'SM1', 'SM2'].filter((sensor) => index.concerns(deviceId(device), sensorId(sensor))),
  );
  assert.deepEqual(watched, ['SM1', 'SM2']);
});

test('a rule for every device concerns those of its owner, however the name is written', () => {
  const index = createSensorIndex();
  index.put(aRule('1', [], ['TC1'], 'Ana'));
  const on = (owner: string) => index.rulesOn(deviceId('d'), sensorId('TC1'), username(owner));
  assert.deepEqual([on('ana').length, on('ANA').length, on('bob').length], [1, 1, 0]);
});

test('a list that is being walked stays as it was', () => {
  const index = createSensorIndex();
  index.put(aRule('1', ['d'], ['TC1']));
  const before = index.rulesOn(deviceId('d'), sensorId('TC1'), ana);
  index.put(aRule('2', ['d'], ['TC1']));
  index.remove('1' as NotificationId);
  assert.deepEqual(idsOf(before), ['1']);
});

test('after any changes it finds what a walk over all rules finds', () => {
  const some = (names: readonly string[]) => fc.subarray([...names]);
  const step = fc.record({
    id: fc.constantFrom('1', '2', '3', '4', '5'),
    isRemoval: fc.boolean(),
    devices: some(['d', 'e']),
    sensors: fc.subarray(['TC1', 'SM1'], { minLength: 1 }),
    owner: fc.constantFrom('ana', 'bob'),
  });
  const property = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    const index = createSensorIndex();
    const model = new Map<string, Rule>();
    const order: string[] = [];
    for (const { id, isRemoval, devices, sensors, owner } of steps) {
      if (isRemoval) {
        index.remove(id as NotificationId);
        model.delete(id);
        order.splice(0, order.length, ...order.filter((one) => one !== id));
        continue;
      }
      const rule = aRule(id, devices, sensors, owner);
      index.put(rule);
      model.set(id, rule);
      if (!order.includes(id)) order.push(id);
    }
    for (const device of ['d', 'e']) {
      for (const sensor of ['TC1', 'SM1']) {
        const expected = order.filter((id) => {
          const { condition, owner } = model.get(id)?.notification ?? aNotification('none');
          const isThere = condition.devices.some((one) => one === device);
          const isWide = condition.devices.length === 0 && owner === 'ana';
          return (isThere || isWide) && condition.sensors.some((one) => one === sensor);
        });
        const found = index.rulesOn(deviceId(device), sensorId(sensor), ana);
        assert.deepEqual(idsOf(found), expected);
        if (found.length > 0) assert.ok(index.concerns(deviceId(device), sensorId(sensor)));
      }
    }
    assert.deepEqual(idsOf(index.all()), order);
  });
  fc.assert(property);
});
