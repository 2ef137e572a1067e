import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aDevice,
  aUser,
  deviceId,
  noon,
  sensorId,
  userId,
  username,
} from '../../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { type Actor, guest } from '../actor.ts';
import type { FeedEvent } from './feed.ts';
import { createWatch } from './watch.ts';

const bob: Actor = { kind: 'user', userId: userId('id-bob'), username: username('bob') };
const d = deviceId('d');

async function aWatch() {
  const { storage, feed, access } = await openServiceStorage();
  const { users, devices, grants } = storage;
  for (const name of ['alice', 'bob']) await users.insert(aUser(name), 'hash');
  await devices.insert(aDevice('d', { visibility: 'private' }));
  return { devices, grants, feed, watch: createWatch({ feed, devices, access }) };
}

test('every change of visibility, owner or grants is effective at the next question', async () => {
  const { devices, grants, watch } = await aWatch();
  const bobsGrant = { kind: 'device', resource: 'd', username: username('bob') } as const;
  assert.equal(await watch.mayView(bob, d), false);
  await grants.put({ ...bobsGrant, scopes: ['devices-data:view'] });
  assert.equal(await watch.mayView(bob, d), true);
  await grants.put({ ...bobsGrant, scopes: ['devices:view'] });
  assert.equal(await watch.mayView(bob, d), false);
  await devices.update(d, { owner: username('bob') }, noon);
  assert.equal(await watch.mayView(bob, d), true);
  assert.equal(await watch.mayView(guest, d), false);
  await devices.update(d, { visibility: 'public' }, noon);
  assert.equal(await watch.mayView(guest, d), true);
  await devices.remove(d);
  assert.equal(await watch.mayView(bob, d), false);
});

test('an access key sees only what it is for', async () => {
  const { devices, watch } = await aWatch();
  await devices.update(d, { owner: username('bob') }, noon);
  const limited = (key: object): Actor => ({ ...bob, key: { keyId: 'k', ...key } }) as Actor;
  assert.equal(await watch.mayView(limited({}), d), true);
  assert.equal(await watch.mayView(limited({ devices: new Set(['other']) }), d), false);
  assert.equal(await watch.mayView(limited({ scopes: new Set(['devices:view']) }), d), false);
  assert.equal(await watch.mayView(limited({ scopes: new Set(['devices-data:view']) }), d), true);
});

test('a watch hears what is published until it is ended', async () => {
  const { feed, watch } = await aWatch();
  const heard: FeedEvent[] = [];
  const end = watch.open((events) => heard.push(...events));
  const event: FeedEvent = {
    kind: 'datapoints',
    deviceId: d,
    sensorId: sensorId('s'),
    datapoints: [],
  };
  feed.publish([event]);
  end();
  feed.publish([event]);
  assert.deepEqual(heard, [event]);
});
