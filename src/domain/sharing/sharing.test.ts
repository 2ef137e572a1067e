import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aUser, deviceId, username } from '../../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { guestAt } from '../actor.ts';
import { createOwnedResources } from '../projects/owned-resources.ts';
import { createSharing } from './sharing.ts';

test('a grant on what goes while it is given is refused, not answered as given', async () => {
  const { storage, access } = await openServiceStorage();
  const { users, groups, devices } = storage;
  for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
  await devices.insert(aDevice('d', { owner: username('ana') }));
  const grants = {
    ...storage.grants,
    async put(grant: Parameters<typeof storage.grants.put>[0]) {
      await devices.remove(deviceId('d'));
      return storage.grants.put(grant);
    },
  };
  const { find: findResource, list: listResources } = createOwnedResources(storage);
  const sharing = createSharing({ grants, users, groups, access, findResource, listResources });
  const ana = { kind: 'user', userId: aUser('ana').id, username: username('ana') } as const;
  const to = { username: username('bob'), scopes: ['devices:view'] as const };
  await assert.rejects(sharing.grant(ana, 'device', 'd', to), { code: 'not_found' });
});

test('permissions let other work run between slices of devices that none may see', async () => {
  const { storage, access } = await openServiceStorage();
  const { grants, users, groups } = storage;
  let slices = 0;
  const devices = {
    ...storage.devices,
    async candidates() {
      slices += 1;
      return { devices: [], next: slices < 5 ? slices : undefined };
    },
  };
  const { find: findResource, list: listResources } = createOwnedResources({ ...storage, devices });
  const sharing = createSharing({ grants, users, groups, access, findResource, listResources });
  const slicesBefore = new Promise<number>((resolve) => {
    setImmediate(() => resolve(slices));
  });
  for await (const step of sharing.permissions(guestAt('192.0.2.1'), 'device')) {
    assert.deepEqual(step, []);
  }
  assert.equal(slices, 5);
  assert.ok((await slicesBefore) <= 1, `${await slicesBefore} slices at once`);
});
