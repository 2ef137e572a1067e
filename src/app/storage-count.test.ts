import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aDevice,
  anActuator,
  aSensor,
  aUser,
  deviceId,
  noon,
} from '../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../test/service-storage.ts';
import { loadConfig } from '../config/config.ts';
import { silentLog } from '../lib/log.ts';
import { openStorageQuotas } from './storage-count.ts';

const d = deviceId('d');

test('changes of one device at the same time are counted once each', async () => {
  const [ana, eve] = ['ana', 'eve'].map((name) => aUser(name));
  assert.ok(ana && eve);
  // Of a database elsewhere no disk is watched.
  const { config } = loadConfig({ KIPIMO_DATABASE_URL: 'postgres://database/kipimo' });
  const { storage, feed: changes } = await openServiceStorage();
  const { storage: counted, room } = await openStorageQuotas({
    config,
    storage,
    changes,
    log: silentLog,
  });
  for (const user of [ana, eve]) await counted.users.insert(user, 'hash');
  const { devices } = counted;
  await devices.insert(aDevice('d', { owner: ana.username }));
  const long = aSensor('s', { name: 'x'.repeat(900) });
  const isCounted = async () => {
    const stored = await devices.storedByOwner();
    for (const { username } of [ana, eve]) {
      assert.equal(room.useOf(username).used, stored.get(username) ?? 0, username);
    }
  };
  await Promise.all([1, 2, 3].map(() => devices.putSensor(d, long, noon)));
  await isCounted();
  await Promise.all([
    devices.putActuator(d, anActuator('a'), noon),
    devices.updateSensor(d, long.id, { name: undefined }, noon),
    devices.update(d, { owner: eve.username, name: 'y'.repeat(300) }, noon),
    devices.putSensor(d, long, noon),
  ]);
  await isCounted();
  await Promise.all([devices.removeSensor(d, long.id, noon), devices.remove(d)]);
  await isCounted();
});
