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
} from '../storage/contract/builders.ts';
import { createMemoryStorage } from '../storage/memory/memory-storage.ts';
import { createRemovalNotices } from './removal-notices.ts';

const owner = aUser('ana').username;

async function aStorage() {
  const notices: string[] = [];
  const { storage, tell } = createRemovalNotices(createMemoryStorage());
  tell({
    topicsRemoved: async (prefix) => void notices.push(prefix),
    identityRemoved: async (identity) => void notices.push(identity),
  });
  await storage.users.insert(aUser('ana'), 'hash');
  await storage.credentials.insertKey(aKey('k', 'ana'));
  const parts = { sensors: [aSensor('s')], actuators: [anActuator('a')] };
  await storage.devices.insert(aDevice('d', { owner, ...parts }));
  await storage.gateways.insert(aGateway('g', { owner }));
  return { storage, notices };
}

test('every removal is told, before it is answered, with what it takes away', async () => {
  const { storage, notices } = await aStorage();
  const { devices, gateways, credentials } = storage;
  await devices.removeSensor(deviceId('d'), sensorId('s'), noon);
  await devices.removeActuator(deviceId('d'), actuatorId('a'), noon);
  await devices.remove(deviceId('d'));
  await gateways.remove(gatewayId('g'));
  await credentials.removeKey(userId('id-ana'), keyId('k'));
  const parts = ['devices/d/sensors/s/', 'devices/d/actuators/a/'];
  assert.deepEqual(notices, [...parts, 'devices/d/', 'gateways/g/', 'key/id-ana/k']);
});

test('an account takes its devices, gateways, keys and itself away', async () => {
  const { storage, notices } = await aStorage();
  await storage.users.remove(userId('id-ana'));
  assert.deepEqual(notices, ['devices/d/', 'gateways/g/', 'key/id-ana/k', 'user/id-ana']);
});

test('what was not there is not told', async () => {
  const { storage, notices } = await aStorage();
  await storage.devices.remove(deviceId('none'));
  await storage.devices.removeSensor(deviceId('d'), sensorId('none'), noon);
  await storage.users.remove(userId('none'));
  assert.deepEqual(notices, []);
});
