import assert from 'node:assert/strict';
import { singleBatch } from '../../../src/domain/datapoints/column-batch.ts';
import type { Device, DevicePart } from '../../../src/domain/devices/device.ts';
import { limits } from '../../../src/domain/limits.ts';
import { type JsonValue, parseJson } from '../../../src/lib/json.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  actuatorId,
  aDevice,
  anActuator,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  username,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const later = noon + 1_000;

const anyJson: readonly JsonValue[] = [
  false,
  0,
  '',
  null,
  [],
  { '': null },
  parseJson('{"__proto__": {"constructor": 1}, "digits": 12345678901234567890.123456789}'),
  ['\ud800', 'nul\u0000', '山田'],
];

async function find(opened: Storage, id: string): Promise<Device | undefined> {
  return opened.devices.find(deviceId(id));
}

const promises: Promises = {
  'devices, sensors and actuators exist until they are removed': async ({ devices }) => {
    const d = deviceId('d');
    const [s, a] = [sensorId('s'), actuatorId('a')];
    await devices.insert(aDevice('d', { sensors: [aSensor('s')], actuators: [anActuator('a')] }));
    const parts: readonly DevicePart[] = [
      { deviceId: d },
      { deviceId: d, sensorId: s },
      { deviceId: d, actuatorId: a },
      { deviceId: d, sensorId: sensorId('a') },
      { deviceId: deviceId('none'), sensorId: s },
    ];
    assert.deepEqual(await devices.existing(parts), [true, true, true, false, false]);
    await devices.removeSensor(d, s, noon);
    assert.deepEqual(await devices.existing(parts), [true, false, true, false, false]);
    await devices.remove(d);
    assert.deepEqual(
      await devices.existing(parts),
      parts.map(() => false),
    );
    assert.deepEqual(await devices.existing([]), []);
  },

  'a device is found as it was inserted': async (opened) => {
    const full = aDevice('d', {
      visibility: 'private',
      gatewayId: 'gw 1',
      name: 'Café \u0000 \udfff 山田 👩‍🌾',
      domain: 'farm',
      location: { latitude: -90, longitude: 0.1 },
      meta: { crop: ['maize'] },
      isDeployed: false,
      sensors: [aSensor('b', { kind: 'k', kindSpelling: 'sensor_kind' }), aSensor('a')],
      actuators: [anActuator('z', { valueType: 'bool', value: false }), anActuator('y')],
      modifiedAt: later,
    });
    assert.equal(await opened.devices.insert(full), 'inserted');
    assert.equal(await opened.devices.insert(aDevice('e')), 'inserted');
    assert.deepEqual(await find(opened, 'd'), full);
    assert.deepEqual(await find(opened, 'e'), aDevice('e'));
    assert.equal(await find(opened, 'f'), undefined);
  },

  'a second device with an id is refused and changes nothing': async (opened) => {
    await opened.devices.insert(aDevice('d', { sensors: [aSensor('s')] }));
    const second = aDevice('d', { name: 'other', sensors: [aSensor('t')] });
    assert.equal(await opened.devices.insert(second), 'duplicate');
    assert.deepEqual((await find(opened, 'd'))?.sensors, [aSensor('s')]);
    assert.equal(await opened.devices.insert(aDevice('D')), 'inserted');
  },

  'ids that objects know are ids like others': async (opened) => {
    for (const id of ['__proto__', 'constructor', 'hasOwnProperty']) {
      assert.equal(await find(opened, id), undefined);
      const device = aDevice(id, { sensors: [aSensor(id)], actuators: [anActuator(id)] });
      await opened.devices.insert(device);
      assert.deepEqual(await find(opened, id), device);
    }
  },

  'meta and actuator values may be any JSON, to the last digit': async (opened) => {
    for (const [index, value] of anyJson.entries()) {
      const device = aDevice(`d${index}`, {
        meta: value,
        sensors: [aSensor('s', { meta: value })],
        actuators: [anActuator('a', { meta: value, value })],
      });
      await opened.devices.insert(device);
      await opened.devices.update(device.id, { name: 'n' }, noon);
      const found = await find(opened, device.id);
      assert.equal(JSON.stringify(found?.meta), JSON.stringify(value));
      assert.equal(JSON.stringify(found?.sensors[0]?.meta), JSON.stringify(value));
      assert.equal(JSON.stringify(found?.actuators[0]?.meta), JSON.stringify(value));
      assert.equal(JSON.stringify(found?.actuators[0]?.value), JSON.stringify(value));
    }
  },

  'an update sets, keeps and removes fields and says when': async (opened) => {
    const before = aDevice('d', { name: 'n', domain: 'farm', visibility: 'private', meta: 0 });
    await opened.devices.insert(before);
    await find(opened, 'd');
    const changes = { name: undefined, visibility: undefined, meta: false, gatewayId: 'g' };
    assert.equal(await opened.devices.update(before.id, changes, later), 'updated');
    const after = aDevice('d', {
      domain: 'farm',
      meta: false,
      gatewayId: 'g',
      modifiedAt: later,
    });
    assert.deepEqual(await find(opened, 'd'), after);
    await opened.devices.update(
      before.id,
      { owner: username('bob'), visibility: 'private' },
      later,
    );
    assert.equal((await find(opened, 'd'))?.owner, 'bob');
    assert.equal((await find(opened, 'd'))?.visibility, 'private');
    assert.equal(await opened.devices.update(deviceId('e'), { name: 'x' }, later), 'missing');
  },

  'changes made at once are all kept': async (opened) => {
    await opened.devices.insert(aDevice('d'));
    const id = deviceId('d');
    await Promise.all([
      opened.devices.update(id, { name: 'n' }, later),
      opened.devices.update(id, { domain: 'farm' }, later),
      ...['s1', 's2', 's3'].map((sensor) => opened.devices.putSensor(id, aSensor(sensor), later)),
      opened.devices.updateSensor(id, sensorId('s1'), { unit: 'C' }, later),
      opened.devices.updateSensor(id, sensorId('s1'), { name: 'one' }, later),
    ]);
    assert.deepEqual(await find(opened, 'd'), {
      ...aDevice('d', { name: 'n', domain: 'farm', modifiedAt: later }),
      sensors: [aSensor('s1', { unit: 'C', name: 'one' }), aSensor('s2'), aSensor('s3')],
    });
  },

  'a removed device is gone with its parts and can be made anew': async (opened) => {
    const sensors = [aSensor('s')];
    await opened.devices.insert(aDevice('d', { sensors, actuators: [anActuator('a')] }));
    await find(opened, 'd');
    const sensor = { deviceId: deviceId('d'), sensorId: sensorId('s') };
    await opened.datapoints.append([{ ...sensor, batch: singleBatch(1, undefined, noon) }]);
    assert.equal(await opened.devices.remove(deviceId('d')), 'removed');
    assert.equal(await opened.devices.remove(deviceId('d')), 'missing');
    assert.equal(await find(opened, 'd'), undefined);
    await opened.devices.insert(aDevice('d', { sensors }));
    assert.deepEqual(await find(opened, 'd'), aDevice('d', { sensors }));
    assert.equal(await opened.datapoints.count(sensor, {}), 0);
    assert.equal((await opened.datapoints.lastValues([sensor.deviceId])).size, 0);
  },

  'a sensor is added at the end, or replaced in its place with its data': async (opened) => {
    const id = deviceId('d');
    await opened.devices.insert(aDevice('d', { sensors: [aSensor('b', { name: 'n' })] }));
    assert.equal(await opened.devices.putSensor(id, aSensor('a'), noon), 'put');
    const sensor = { deviceId: id, sensorId: sensorId('b') };
    await opened.datapoints.append([{ ...sensor, batch: singleBatch(1, undefined, noon) }]);
    assert.equal(await opened.devices.putSensor(id, aSensor('b', { unit: 'C' }), later), 'put');
    const found = await find(opened, 'd');
    assert.deepEqual(found?.sensors, [aSensor('b', { unit: 'C' }), aSensor('a')]);
    assert.equal(found?.modifiedAt, later);
    assert.equal(await opened.datapoints.count(sensor, {}), 1);
    assert.equal(await opened.devices.putSensor(deviceId('e'), aSensor('a'), noon), 'missing');
  },

  'a device has sensors and actuators up to the limit': async (opened) => {
    const id = deviceId('d');
    const ids = Array.from({ length: limits.sensorsPerDeviceMax }, (_, index) => `s${index}`);
    const device = aDevice('d', {
      sensors: ids.slice(1).map((sensor) => aSensor(sensor)),
      actuators: ids.map((actuator) => anActuator(actuator)),
    });
    await opened.devices.insert(device);
    assert.equal(await opened.devices.putSensor(id, aSensor('last'), noon), 'put');
    assert.equal(await opened.devices.putSensor(id, aSensor('more'), later), 'too_many');
    assert.equal(await opened.devices.putActuator(id, anActuator('more'), later), 'too_many');
    assert.equal(await opened.devices.putSensor(id, aSensor('s1', { name: 'n' }), noon), 'put');
    assert.equal(await opened.devices.putActuator(id, anActuator('s1'), noon), 'put');
    const found = await find(opened, 'd');
    assert.equal(found?.sensors.length, limits.sensorsPerDeviceMax);
    assert.deepEqual(found?.sensors.at(-1), aSensor('last'));
    assert.deepEqual(found?.actuators, device.actuators);
    assert.equal(found?.modifiedAt, noon);
  },

  'a sensor update sets, keeps and removes fields': async (opened) => {
    const id = deviceId('d');
    const calibration = {
      isEnabled: true,
      spelling: 'ends' as const,
      points: [
        { sensorValue: 0, realValue: -1.5 },
        { sensorValue: 1, realValue: 2 },
      ],
    };
    await opened.devices.insert(
      aDevice('d', { sensors: [aSensor('s', { name: 'n', unit: 'C' })] }),
    );
    const changes = { name: undefined, calibration, meta: 0 };
    assert.equal(await opened.devices.updateSensor(id, sensorId('s'), changes, later), 'updated');
    const found = await find(opened, 'd');
    assert.deepEqual(found?.sensors, [aSensor('s', { unit: 'C', calibration, meta: 0 })]);
    assert.equal(found?.modifiedAt, later);
    assert.equal(await opened.devices.updateSensor(id, sensorId('t'), {}, later), 'missing');
    const elsewhere = deviceId('e');
    assert.equal(await opened.devices.updateSensor(elsewhere, sensorId('s'), {}, later), 'missing');
  },

  'a removed sensor takes its data with it and leaves the others': async (opened) => {
    const id = deviceId('d');
    await opened.devices.insert(aDevice('d', { sensors: [aSensor('s'), aSensor('t')] }));
    const batch = singleBatch(1, undefined, noon);
    const refs = ['s', 't'].map((sensor) => ({ deviceId: id, sensorId: sensorId(sensor) }));
    await opened.datapoints.append(refs.map((ref) => ({ ...ref, batch })));
    assert.equal(await opened.devices.removeSensor(id, sensorId('s'), later), 'removed');
    assert.equal(await opened.devices.removeSensor(id, sensorId('s'), later + 1), 'missing');
    assert.deepEqual((await find(opened, 'd'))?.sensors, [aSensor('t')]);
    assert.equal((await find(opened, 'd'))?.modifiedAt, later);
    await opened.devices.putSensor(id, aSensor('s'), later);
    const counts = refs.map((ref) => opened.datapoints.count(ref, {}));
    assert.deepEqual(await Promise.all(counts), [0, 1]);
    assert.deepEqual((await find(opened, 'd'))?.sensors, [aSensor('t'), aSensor('s')]);
  },

  'actuators are put, replaced in their place and removed': async (opened) => {
    const id = deviceId('d');
    await opened.devices.insert(aDevice('d', { actuators: [anActuator('a', { kind: 'k' })] }));
    assert.equal(await opened.devices.putActuator(id, anActuator('b'), later), 'put');
    assert.equal(
      await opened.devices.putActuator(id, anActuator('a', { name: 'n' }), later),
      'put',
    );
    const found = await find(opened, 'd');
    assert.deepEqual(found?.actuators, [anActuator('a', { name: 'n' }), anActuator('b')]);
    assert.equal(found?.modifiedAt, later);
    assert.equal(await opened.devices.putActuator(deviceId('e'), anActuator('b'), noon), 'missing');
    assert.equal(await opened.devices.removeActuator(id, actuatorId('a'), later), 'removed');
    assert.equal(await opened.devices.removeActuator(id, actuatorId('a'), later), 'missing');
    assert.deepEqual((await find(opened, 'd'))?.actuators, [anActuator('b')]);
  },

  'an actuator that is put anew keeps its value unless another is given': async (opened) => {
    const id = deviceId('d');
    await opened.devices.insert(aDevice('d'));
    for (const [index, value] of anyJson.entries()) {
      const actuator = `a${index}`;
      await opened.devices.putActuator(id, anActuator(actuator, { value, kind: 'k' }), noon);
      await opened.devices.putActuator(id, anActuator(actuator, { name: 'n' }), noon);
      const found = (await find(opened, 'd'))?.actuators[index];
      assert.equal(JSON.stringify(found?.value), JSON.stringify(value));
      assert.deepEqual({ ...found, value: 0 }, anActuator(actuator, { name: 'n', value: 0 }));
    }
    await opened.devices.putActuator(id, anActuator('a0', { value: 'other' }), noon);
    const found = await find(opened, 'd');
    assert.deepEqual(found?.actuators[0], anActuator('a0', { value: 'other' }));
  },

  'an actuator update sets, keeps and removes fields': async (opened) => {
    const id = deviceId('d');
    const actuators = [anActuator('a', { name: 'n', kind: 'k', value: 1 }), anActuator('b')];
    await opened.devices.insert(aDevice('d', { actuators }));
    await find(opened, 'd');
    const changes = { name: undefined, valueType: 'bool' as const, meta: [1] };
    const update = opened.devices.updateActuator;
    assert.equal(await update(id, actuatorId('a'), changes, later), 'updated');
    const found = await find(opened, 'd');
    assert.deepEqual(found?.actuators, [
      anActuator('a', { kind: 'k', valueType: 'bool', value: 1, meta: [1] }),
      anActuator('b'),
    ]);
    assert.equal(found?.modifiedAt, later);
    assert.equal(await update(id, actuatorId('c'), { kind: 'k' }, later), 'missing');
    assert.equal(await update(deviceId('e'), actuatorId('a'), { kind: 'k' }, later), 'missing');
  },

  'a setting is kept with who and when, and goes back to what was before': async (opened) => {
    const { insert, stepActuator: step, listTimedSettings, putActuator } = opened.devices;
    const [id, pump, by] = [deviceId('d'), actuatorId('pump'), username('alice')];
    const digits = parseJson('[12345678901234567890.5]');
    const described = { name: 'n', meta: { revert: '"revert":{"at":1}' } };
    await insert(
      aDevice('d', { actuators: [anActuator('pump', { ...described, value: digits })] }),
    );
    assert.deepEqual(await listTimedSettings(), []);
    const forAWhile = { kind: 'set', value: 1, by, at: later, forMs: 5_000 } as const;
    await step(id, pump, forAWhile);
    const again = await step(id, pump, { ...forAWhile, value: 2, at: later + 1 });
    const revert = { at: later + 5_001, value: digits };
    const set = { ...described, value: 2, setBy: by, setAt: later + 1, revert };
    assert.deepEqual(JSON.stringify(again), JSON.stringify(anActuator('pump', set)));
    assert.deepEqual(await listTimedSettings(), [
      { deviceId: id, actuatorId: pump, at: later + 5_001 },
    ]);
    await putActuator(id, anActuator('pump', { kind: 'k' }), later);
    const kept = (await find(opened, 'd'))?.actuators[0];
    assert.deepEqual(kept?.revert, revert);
    const over = { kind: 'revert', until: later + 5_001, at: later + 5_002 } as const;
    const first = { ...over, until: later + 5_000 };
    assert.equal(await step(id, pump, first), 'unchanged', 'it was replaced');
    const confirm = { kind: 'confirm', at: later + 9 } as const;
    assert.equal(await step(id, pump, { ...confirm, value: 1 }), 'unchanged');
    const confirmed = await step(id, pump, { ...confirm, value: 2 });
    assert.ok(typeof confirmed === 'object' && confirmed.confirmedAt === later + 9);
    assert.equal((await find(opened, 'd'))?.modifiedAt, later);
    const back = await step(id, pump, over);
    const after = { kind: 'k', value: digits, setBy: by, setAt: later + 5_002 };
    assert.deepEqual(back, anActuator('pump', after));
    assert.deepEqual((await find(opened, 'd'))?.actuators, [back]);
    assert.equal((await find(opened, 'd'))?.modifiedAt, later + 5_002);
    assert.equal(await step(id, pump, over), 'unchanged', 'it is back already');
    assert.deepEqual(await listTimedSettings(), []);
    assert.equal(await step(id, actuatorId('none'), forAWhile), 'missing');
    assert.equal(await step(deviceId('none'), pump, forAWhile), 'missing');
  },

  'devices are counted by owner': async (opened) => {
    await opened.users.insert(aUser('alice'), 'hash');
    for (const id of ['a', 'b']) await opened.devices.insert(aDevice(id));
    assert.equal(await opened.devices.countOwnedBy(username('alice')), 2);
    assert.equal(await opened.devices.countOwnedBy(username('guest')), 0);
    await opened.devices.update(deviceId('a'), { owner: username('guest') }, noon);
    assert.equal(await opened.devices.countOwnedBy(username('alice')), 1);
    assert.equal(await opened.devices.countOwnedBy(username('guest')), 1);
    await opened.devices.insert(aDevice('c'));
    const owners = ['zoe', 'guest', 'ALICE', 'zoe'].map(username);
    const each = await opened.devices.countOwnedByEach(owners);
    assert.deepEqual(each, [0, 1, 2, 0], 'in the order asked for');
    assert.deepEqual(await opened.devices.countOwnedByEach([]), []);
  },
};

/** What every engine promises of devices, sensors and actuators one by one. */
export function devicesContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage);
}
