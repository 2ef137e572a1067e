import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  actuatorId,
  aDevice,
  aGateway,
  aKey,
  anActuator,
  aSensor,
  aUser,
  deviceId,
  gatewayId,
  keyId,
  noon,
  sensorId,
  userId,
} from '../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../test/service-storage.ts';
import { temporaryStorage } from '../../test/temporary-storage.ts';
import type { Change } from '../domain/changes.ts';
import { DomainError } from '../domain/errors.ts';
import { publishChanges } from './publish-changes.ts';

const owner = aUser('ana').username;
const ana = userId('id-ana');

async function aStorage(given?: Awaited<ReturnType<typeof temporaryStorage>>) {
  const told: Change[] = [];
  const { storage, feed } = await openServiceStorage(given);
  feed.onChange(async (change) => void told.push(change));
  await storage.users.insert(aUser('ana'), 'hash');
  await storage.credentials.insertKey(aKey('k', 'ana'));
  const parts = { sensors: [aSensor('s')], actuators: [anActuator('a')] };
  await storage.devices.insert(aDevice('d', { owner, ...parts }));
  await storage.gateways.insert(aGateway('g', { owner }));
  return { storage, told };
}

test('every removal is told, before it is answered, with what it takes away', async () => {
  const { storage, told } = await aStorage();
  const { devices, gateways, credentials } = storage;
  const [d, s, a] = [deviceId('d'), sensorId('s'), actuatorId('a')];
  await devices.removeSensor(d, s, noon);
  await devices.removeActuator(d, a, noon);
  await devices.remove(d);
  await gateways.remove(gatewayId('g'));
  await credentials.removeKey(ana, keyId('k'));
  assert.deepEqual(told, [
    { kind: 'sensor_removed', deviceId: d, sensorId: s },
    { kind: 'actuator_removed', deviceId: d, actuatorId: a },
    { kind: 'device_removed', deviceId: d },
    { kind: 'gateway_removed', gatewayId: 'g' },
    { kind: 'key_removed', userId: ana, keyId: 'k' },
  ]);
});

test('an account takes its devices and gateways away', async () => {
  const { storage, told } = await aStorage();
  await storage.users.remove(ana);
  assert.deepEqual(told, [
    { kind: 'device_removed', deviceId: 'd' },
    { kind: 'gateway_removed', gatewayId: 'g' },
    { kind: 'account_removed', userId: ana },
  ]);
});

test('a new password tells which keys ended with it, and disabling that all did', async () => {
  const { storage, told } = await aStorage();
  await storage.users.setPassword(ana, 'new', { keysMadeBefore: noon + 1 });
  await storage.users.update(ana, { isDisabled: true });
  assert.deepEqual(told, [
    { kind: 'account_changed', userId: ana, endedKeys: ['k'] },
    { kind: 'account_disabled', userId: ana, endedKeys: [] },
  ]);
});

test('what was not there, and what gives nobody a right, is not told', async () => {
  const { storage, told } = await aStorage();
  await storage.devices.remove(deviceId('none'));
  await storage.devices.removeSensor(deviceId('d'), sensorId('none'), noon);
  await storage.users.remove(userId('none'));
  await storage.users.update(ana, { profile: { email: 'ana@example.org' } });
  assert.deepEqual(told, []);
});

test('a grant that is gone already is told: who removed it may not have been able to', async () => {
  const { storage, told } = await aStorage();
  const username = aUser('bo').username;
  assert.equal(await storage.grants.remove('device', 'd', username), 'missing');
  assert.deepEqual(told, [{ kind: 'grant_changed', on: 'device', resource: 'd', username }]);
});

test('a grant of which others could not be told fails, and no other change does', async () => {
  const { storage: plain } = await aStorage();
  const told: Change['kind'][] = [];
  const storage = publishChanges(plain, {
    async publishChange({ kind }) {
      told.push(kind);
      throw new DomainError('storage_full', `not told: ${kind}`);
    },
  });
  const remove = () => storage.grants.remove('device', 'd', aUser('bo').username);
  await assert.rejects(remove, { message: 'not told: grant_changed' });
  assert.notEqual(await storage.users.remove(ana), 'missing');
  const removals = ['device_removed', 'gateway_removed', 'account_removed'];
  assert.deepEqual(told, ['grant_changed', ...removals]);
});

test('what retention takes of a sensor with corrections is told', async () => {
  const engine = await temporaryStorage();
  let isCorrected = false;
  const step = async () => ({
    ...{ datapoints: 3, hours: 0, hoursKept: 0, bytes: 0, isCorrected, state: 'done' as const },
  });
  const given = { ...engine, retaining: { ...engine.retaining, step } };
  const { storage, told } = await aStorage(given);
  const sensor = { deviceId: deviceId('d'), sensorId: sensorId('s') };
  await storage.retaining.step(sensor, { rawBefore: noon });
  assert.deepEqual(told, []);
  // Made at another process, which did not tell it yet.
  isCorrected = true;
  await storage.retaining.step(sensor, { rawBefore: noon });
  assert.deepEqual(told, [{ kind: 'datapoints_corrected', ...sensor }]);
});
