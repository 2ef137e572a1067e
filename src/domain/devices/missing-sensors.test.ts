import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, deviceId, noon, sensorId } from '../../../test/contract/storage/builders.ts';
import { endlessRoom } from '../../../test/endless-room.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Actor, guest } from '../actor.ts';
import { DomainError } from '../errors.ts';
import { parseAccessKeyId, parseUserId, parseUsername, type SensorId } from '../ids.ts';
import type { DeviceStore } from './device.ts';
import { createDevices } from './devices.ts';
import { createMissingSensors } from './missing-sensors.ts';

const clock: Clock = { now: () => noon };
const owner = parseUsername('ama');
const ama: Actor = { kind: 'user', userId: parseUserId('1'), username: owner };
const kofi: Actor = { kind: 'user', userId: parseUserId('2'), username: parseUsername('kofi') };
const id = deviceId('d');
const ids = (...names: readonly string[]): ReadonlySet<SensorId> => new Set(names.map(sensorId));
const wide = { makesDevices: true, sensorsMax: 100 };

/** `wrap` puts something between the domain and its store. */
async function setUp(wrap: (store: DeviceStore) => DeviceStore = (store) => store) {
  const { storage, access } = await openServiceStorage();
  const { devices: kept, users, grants } = storage;
  const store = wrap(kept);
  const devices = createDevices({ store, users, grants, access, clock, room: endlessRoom() });
  const missingSensors = createMissingSensors({ store, devices, access });
  const sensors = async () => (await kept.find(id))?.sensors.map((sensor) => sensor.id);
  return { kept, missingSensors, sensors };
}

test('a device is made with its sensors, and later the sensors it lacks', async () => {
  const { kept, missingSensors, sensors } = await setUp();
  const maker = missingSensors(ama, wide);
  assert.equal((await maker.makeOn(id, ids('a', 'b'))).size, 0);
  assert.equal((await maker.makeOn(id, ids('b', 'c'))).size, 0);
  assert.deepEqual(await sensors(), ['a', 'b', 'c']);
  const device = await kept.find(id);
  assert.deepEqual([device?.owner, device?.visibility], [owner, 'private']);
});

test('a sensor that is there keeps its description', async () => {
  const { kept, missingSensors } = await setUp();
  const named = { id: sensorId('a'), name: 'Well' };
  await kept.insert(aDevice('d', { owner, sensors: [named] }));
  await missingSensors(ama, wide).makeOn(id, ids('a', 'b'));
  assert.deepEqual((await kept.find(id))?.sensors, [named, { id: sensorId('b') }]);
});

test('guests make no device, and nobody makes one where none is to be made', async () => {
  const { missingSensors, sensors } = await setUp();
  await missingSensors(guest, wide).makeOn(id, ids('a'));
  await missingSensors(ama, { ...wide, makesDevices: false }).makeOn(id, ids('a'));
  assert.equal(await sensors(), undefined);
});

test('who may push but not update is told which right it takes', async () => {
  const { kept, missingSensors, sensors } = await setUp();
  await kept.insert(aDevice('d', { owner, visibility: 'public' }));
  const refusal = (await missingSensors(kofi, wide).makeOn(id, ids('a'))).get(sensorId('a'));
  assert.equal(refusal?.code, 'not_found');
  assert.match(refusal?.message ?? '', /devices:update/);
  assert.deepEqual(await sensors(), []);
});

test('who may not push learns nothing, and makes nothing', async () => {
  const { kept, missingSensors, sensors } = await setUp();
  await kept.insert(aDevice('d', { owner, visibility: 'private' }));
  assert.equal((await missingSensors(kofi, wide).makeOn(id, ids('a'))).size, 0);
  assert.deepEqual(await sensors(), []);
});

test('a key makes only the devices it names', async () => {
  const { missingSensors, sensors } = await setUp();
  const keyId = parseAccessKeyId('k');
  const key = { keyId, devices: new Set([deviceId('other')]) };
  const refused = await missingSensors({ ...ama, key }, wide).makeOn(id, ids('a'));
  assert.equal(refused.get(sensorId('a'))?.code, 'forbidden');
  assert.equal(await sensors(), undefined);
});

test('one request makes as many sensors as it may, whatever the device', async () => {
  const { missingSensors, sensors } = await setUp();
  const maker = missingSensors(ama, { makesDevices: true, sensorsMax: 3 });
  await maker.makeOn(deviceId('first'), ids('a', 'b'));
  const refused = await maker.makeOn(id, ids('a', 'b'));
  assert.deepEqual([...refused.keys()], ['b']);
  assert.deepEqual(await sensors(), ['a']);
  assert.equal((await maker.makeOn(id, ids('c'))).get(sensorId('c'))?.code, 'invalid');
  assert.equal((await maker.makeOn(deviceId('third'), ids('a'))).size, 1);
});

test('a device that somebody makes in between gets the sensors all the same', async () => {
  let isFirst = true;
  const { missingSensors, sensors } = await setUp((kept) => ({
    ...kept,
    insert: async (device) => {
      if (isFirst) await kept.insert({ ...device, sensors: [{ id: sensorId('a') }] });
      isFirst = false;
      return kept.insert(device);
    },
  }));
  assert.equal((await missingSensors(ama, wide).makeOn(id, ids('a', 'b'))).size, 0);
  assert.deepEqual(await sensors(), ['a', 'b']);
});

test('a store that is down is not a refusal of single sensors', async () => {
  const { kept, missingSensors } = await setUp((store) => ({
    ...store,
    putSensor: () => Promise.reject(new DomainError('unavailable', 'the disk failed')),
  }));
  await kept.insert(aDevice('d', { owner }));
  await assert.rejects(missingSensors(ama, wide).makeOn(id, ids('a')), /the disk failed/);
});
