import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  aDevice,
  aGroup,
  aProject,
  aUser,
  deviceId,
  groupId,
  noon,
  projectId,
  userId,
  username,
} from '../../../test/contract/storage/builders.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { limits } from '../limits.ts';
import { createGrantDirectory } from './grant-directory.ts';
import type { Scope } from './scopes.ts';

const ana = username('ana');
const bob = username('bob');
const d = deviceId('d');
const onDevice = { kind: 'device', id: 'd', owner: ana } as const;
const grant = { kind: 'device', resource: 'd', username: bob } as const;
const group = { kind: 'device', resource: 'd', groupId: groupId('g') } as const;
const view: readonly Scope[] = ['devices:view', 'devices-data:view'];

async function aDirectory() {
  const { storage, feed } = await openServiceStorage();
  for (const name of ['ana', 'bob', 'eve']) await storage.users.insert(aUser(name), 'hash');
  await storage.devices.insert(aDevice('d', { owner: ana, visibility: 'private' }));
  await storage.groups.insert(aGroup('g', { owner: ana, usernames: [] }));
  await storage.projects.insert(aProject('p', { owner: ana }));
  const directory = createGrantDirectory(storage.grants, feed);
  const reach = () => directory.scopesOn(onDevice, bob);
  return { storage, directory, reach };
}

test('what was asked for is at hand, under the owner it was asked with', async () => {
  const { storage, directory, reach } = await aDirectory();
  await storage.grants.put({ ...grant, scopes: ['devices-data:view'] });
  assert.equal(directory.peek(onDevice, bob), undefined);
  assert.deepEqual(await reach(), view);
  assert.deepEqual(directory.peek(onDevice, bob), view);
  assert.deepEqual(directory.peek(onDevice, username('BOB')), view);
  assert.equal(directory.peek({ ...onDevice, owner: bob }, bob), undefined);
});

test('whatever path gives or takes a right, the next question knows', async () => {
  const { storage, reach } = await aDirectory();
  const { grants, groups, projects, devices } = storage;
  const paths: [() => Promise<unknown>, () => Promise<unknown>][] = [
    [
      () => grants.put({ ...grant, scopes: ['devices-data:view'] }),
      () => grants.remove('device', 'd', username('BOB')),
    ],
    [
      () => groups.changeMembers(groupId('g'), { out: [], in: [bob], membersMax: 9 }),
      () => groups.changeMembers(groupId('g'), { out: 'all', in: [], membersMax: 9 }),
    ],
    [
      () => groups.changeMembers(groupId('g'), { out: [], in: [bob], membersMax: 9 }),
      () => grants.removeForGroup('device', 'd', groupId('g')),
    ],
    [
      () => projects.update(projectId('p'), { deviceIds: [d] }, { isOwners: true }),
      () => projects.update(projectId('p'), { deviceIds: [] }, { isOwners: true }),
    ],
    [
      () => projects.update(projectId('p'), { deviceIds: [d] }, { isOwners: true }),
      () => projects.remove(projectId('p')),
    ],
    [
      () => grants.put({ ...grant, scopes: ['devices-data:view'] }),
      async () => {
        // There and back again: the grants ended on the way.
        await devices.update(d, { owner: username('eve') }, noon);
        await devices.update(d, { owner: ana }, noon);
      },
    ],
    [
      () => grants.put({ ...grant, scopes: ['devices-data:view'] }),
      async () => {
        await devices.remove(d);
        await devices.insert(aDevice('d', { owner: ana, visibility: 'private' }));
      },
    ],
    [
      () => grants.put({ ...grant, scopes: ['devices-data:view'] }),
      () => storage.users.remove(userId('id-bob')),
    ],
  ];
  await grants.putForGroup({ ...group, scopes: ['devices-data:view'] });
  await grants.put({ ...grant, kind: 'project', resource: 'p', scopes: ['projects:view'] });
  for (const [index, [give, take]] of paths.entries()) {
    assert.deepEqual(await reach(), [], `before path ${index}`);
    await give();
    assert.deepEqual(await reach(), view, `on path ${index}`);
    await take();
    assert.deepEqual(await reach(), [], `after path ${index}`);
  }
});

test('grants that were read before a change are answered and not kept', async () => {
  const engine = await temporaryStorage();
  const { find } = engine.grants;
  let reading: PromiseWithResolvers<void> | undefined;
  const { storage, feed } = await openServiceStorage({
    ...engine,
    grants: {
      ...engine.grants,
      async find(...asked) {
        const found = await find(...asked);
        await reading?.promise;
        return found;
      },
    },
  });
  for (const name of ['ana', 'bob']) await storage.users.insert(aUser(name), 'hash');
  await storage.devices.insert(aDevice('d', { owner: ana }));
  await storage.grants.put({ ...grant, scopes: ['devices-data:view'] });
  const directory = createGrantDirectory(storage.grants, feed);
  reading = Promise.withResolvers();
  const slow = directory.scopesOn(onDevice, bob);
  await new Promise(setImmediate);
  await storage.grants.remove('device', 'd', bob);
  reading.resolve();
  assert.deepEqual(await slow, view);
  assert.equal(directory.peek(onDevice, bob), undefined);
  assert.deepEqual(await directory.scopesOn(onDevice, bob), []);
});

test('a change forgets what it concerns, and nothing of others', async () => {
  const { storage, directory, reach } = await aDirectory();
  const { devices, groups, projects, grants } = storage;
  await devices.insert(aDevice('other', { owner: ana }));
  await groups.insert(aGroup('strangers', { owner: ana, usernames: [username('eve')] }));
  const strangers = { ...group, groupId: groupId('strangers') };
  const changes: (() => Promise<unknown>)[] = [
    () => groups.changeMembers(groupId('strangers'), { out: 'all', in: [], membersMax: 9 }),
    () => grants.putForGroup({ ...strangers, scopes: view }),
    () =>
      grants.put({
        ...grant,
        username: username('eve'),
        kind: 'project',
        resource: 'p',
        scopes: view,
      }),
    () => projects.update(projectId('p'), { deviceIds: [deviceId('other')] }, { isOwners: true }),
    () => devices.update(deviceId('other'), { owner: bob }, noon),
    () => devices.remove(deviceId('other')),
    () => projects.remove(projectId('p')),
    () => groups.remove(groupId('strangers')),
  ];
  await reach();
  for (const [index, change] of changes.entries()) {
    await change();
    assert.deepEqual(directory.peek(onDevice, bob), [], `after change ${index}`);
  }
});

test('a user who asks about everything pushes out nothing that others asked about', async () => {
  const nothing = { find: async () => [], findIndirect: async () => [] };
  const directory = createGrantDirectory(nothing, { onChange: () => () => undefined });
  await directory.scopesOn(onDevice, bob);
  const last = limits.grantCacheEntriesMax;
  for (let at = 0; at <= last; at += 1) {
    await directory.scopesOn({ ...onDevice, id: `d${at}` }, username('eve'));
  }
  assert.deepEqual(directory.peek(onDevice, bob), []);
  const ofEve = (at: number) => directory.peek({ ...onDevice, id: `d${at}` }, username('eve'));
  assert.deepEqual([ofEve(last), ofEve(last / 2 + 1), ofEve(last / 2)], [[], [], undefined]);
});

test('while the changes of others are not heard, nothing that was read before counts', async () => {
  const { storage } = await aDirectory();
  let trustedFrom = 0;
  const isCurrent = (readAt: number) => readAt >= trustedFrom;
  const changes = { onChange: () => () => undefined, isCurrent };
  const directory = createGrantDirectory(storage.grants, changes);
  await storage.grants.put({ ...grant, scopes: ['devices-data:view'] });
  assert.deepEqual(await directory.scopesOn(onDevice, bob), view);
  await storage.grants.remove('device', 'd', bob);
  assert.deepEqual(await directory.scopesOn(onDevice, bob), view, 'it was told of nothing');
  trustedFrom = performance.now();
  assert.equal(directory.peek(onDevice, bob), undefined);
  assert.deepEqual(await directory.scopesOn(onDevice, bob), []);
  assert.deepEqual(directory.peek(onDevice, bob), [], 'it was read a moment ago');
});
