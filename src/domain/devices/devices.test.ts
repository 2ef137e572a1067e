import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actuatorId,
  aDevice,
  anActuator,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  userId,
  username,
} from '../../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import type { ChangeListener } from '../changes.ts';
import { DomainError } from '../errors.ts';
import type { DeviceStore } from './device.ts';
import { createDeviceDirectory } from './devices.ts';

const d = deviceId('d');

async function aDirectory() {
  const { storage } = await openServiceStorage();
  const parts = { sensors: [aSensor('s')], actuators: [anActuator('a')] };
  await storage.users.insert(aUser('ana'), 'hash');
  await storage.devices.insert(aDevice('d', { owner: username('ana'), ...parts }));
  return storage;
}

test('a device is at hand once it was found, also for lists', async () => {
  const { devices } = await aDirectory();
  assert.equal(devices.peek(d), undefined);
  const found = await devices.find(d);
  assert.equal(devices.peek(d), found);
  await devices.insert(aDevice('e'));
  assert.deepEqual(await devices.readSome([d, deviceId('e')]), { devices: [found], taken: 1 });
  const { devices: rest } = await devices.readSome([deviceId('e')]);
  assert.deepEqual(
    rest.map(({ id }) => id),
    ['e'],
  );
  assert.equal(await devices.find(deviceId('none')), undefined);
});

test('every write of a device, or of its account, is seen by the next who asks', async () => {
  const { devices, users } = await aDirectory();
  const set = { kind: 'set', value: 1, by: username('ana'), at: noon } as const;
  const writes: (() => Promise<unknown>)[] = [
    () => devices.update(d, { name: 'n' }, noon),
    () => devices.putSensor(d, aSensor('t'), noon),
    () => devices.updateSensor(d, sensorId('t'), { name: 'n' }, noon),
    () => devices.removeSensor(d, sensorId('t'), noon),
    () => devices.putActuator(d, anActuator('b'), noon),
    () => devices.updateActuator(d, actuatorId('b'), { name: 'n' }, noon),
    () => devices.stepActuator(d, actuatorId('b'), set),
    () => devices.removeActuator(d, actuatorId('b'), noon),
    () => users.remove(userId('id-ana')),
  ];
  for (const write of writes) {
    const before = await devices.find(d);
    await write();
    assert.equal(devices.peek(d), undefined, `${write}`);
    assert.notDeepEqual(await devices.find(d), before, `${write}`);
  }
});

test('a write that fails may have been made: what was known is forgotten', async () => {
  const engine = await temporaryStorage();
  const update: DeviceStore['update'] = async (...change) => {
    await engine.devices.update(...change);
    throw new DomainError('unavailable', 'the answer was lost');
  };
  const { storage } = await openServiceStorage({
    ...engine,
    devices: { ...engine.devices, update },
  });
  await storage.devices.insert(aDevice('d'));
  await storage.devices.find(d);
  await assert.rejects(storage.devices.update(d, { visibility: 'private' }, noon));
  assert.equal((await storage.devices.find(d))?.visibility, 'private');
});

test('while the changes of others are not heard, a device is read anew', async () => {
  const { storage } = await openServiceStorage();
  await storage.devices.insert(aDevice('d', { name: 'before' }));
  let trustedFrom = 0;
  const isCurrent = (readAt: number) => readAt >= trustedFrom;
  const changes = { onChange: () => () => undefined, isCurrent };
  const directory = createDeviceDirectory(storage.devices, changes);
  const nameOf = async () => (await directory.find(deviceId('d')))?.name;
  assert.equal(await nameOf(), 'before');
  await storage.devices.update(deviceId('d'), { name: 'after' }, noon);
  assert.equal(await nameOf(), 'before', 'it was told of nothing');
  trustedFrom = performance.now();
  assert.equal(directory.peek(deviceId('d')), undefined);
  assert.equal(await nameOf(), 'after');
  assert.equal(directory.peek(deviceId('d'))?.name, 'after', 'it was read a moment ago');
});

test('devices of a short list are at hand for the next one, until they change', async () => {
  const storage = await aDirectory();
  const reads: number[] = [];
  const feed = new Set<ChangeListener>();
  const onChange = (one: ChangeListener) => {
    feed.add(one);
    return () => undefined;
  };
  const store: DeviceStore = {
    ...storage.devices,
    async readSome(ids) {
      reads.push(ids.length);
      return storage.devices.readSome(ids);
    },
  };
  const directory = createDeviceDirectory(store, { onChange });
  const [first] = (await directory.readSome([d])).devices;
  assert.equal((await directory.readSome([d])).devices[0], first);
  assert.deepEqual(reads, [1]);
  assert.equal(directory.peek(d), undefined, 'it pushes none of those out that are pushed to');
  for (const listener of feed) await listener({ kind: 'device_changed', deviceId: d });
  await directory.readSome([d]);
  assert.deepEqual(reads, [1, 1]);
  const many = Array.from({ length: 30 }, () => d);
  for (const listener of feed) await listener({ kind: 'anything' });
  await directory.readSome(many);
  await directory.readSome([d]);
  assert.deepEqual(reads, [1, 1, 30, 1], 'a long list is read and forgotten');
});
