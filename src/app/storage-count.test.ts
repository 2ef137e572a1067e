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
import { push, sensor, untimed } from '../../test/contract/storage/datapoint-builders.ts';
import { openServiceStorage } from '../../test/service-storage.ts';
import { loadConfig } from '../config/config.ts';
import { DomainError } from '../domain/errors.ts';
import { silentLog } from '../lib/log.ts';
import type { ServiceStorage } from './service-parts.ts';
import { openStorageQuotas } from './storage-count.ts';

const d = deviceId('d');

/** The storage of a database elsewhere, with its quotas: no disk is watched. */
async function openCounted(of: (storage: ServiceStorage) => ServiceStorage = (given) => given) {
  const { config } = loadConfig({ KIPIMO_DATABASE_URL: 'postgres://database/kipimo' });
  const { storage, feed: changes } = await openServiceStorage();
  return openStorageQuotas({ config, storage: of(storage), changes, log: silentLog });
}

test('changes of one device at the same time are counted once each', async () => {
  const [ana, eve] = ['ana', 'eve'].map((name) => aUser(name));
  assert.ok(ana && eve);
  const { storage: counted, room } = await openCounted();
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

test('what is stored is answered while its owner is unknown, and counted later', async () => {
  let isAway = false;
  const { storage, room } = await openCounted((given) => ({
    ...given,
    devices: {
      ...given.devices,
      peek: () => undefined,
      find: async (id) => {
        if (isAway) throw new DomainError('unavailable', 'the database is away');
        return given.devices.find(id);
      },
    },
  }));
  const { username } = aUser('ana');
  await storage.devices.insert(aDevice('d', { owner: username, sensors: [aSensor('s')] }));
  const before = room.useOf(username).used;
  const append = (value: number) =>
    storage.datapoints.append([push([untimed(value, value)], sensor('d', 's'))]);
  isAway = true;
  const [outcome] = await append(1);
  assert.equal(outcome?.kind, 'stored');
  assert.equal(room.useOf(username).used, before);
  isAway = false;
  await append(2);
  const stored = () => storage.devices.storedByOwner();
  for (let tries = 0; ; tries += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (room.useOf(username).used === (await stored()).get(username)) break;
    assert.ok(tries < 100, 'both are counted');
  }
});
