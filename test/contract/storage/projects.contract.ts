import assert from 'node:assert/strict';
import type { VisibleTo } from '../../../src/domain/access/viewer.ts';
import { guestUsername } from '../../../src/domain/ids.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  aProject,
  aUser,
  deviceId,
  gatewayId,
  projectId,
  userId,
  username,
  visibleToUser,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const byOwner = { isOwners: true };
const everything: VisibleTo = { who: 'everything' };

async function idsVisibleTo({ projects }: Storage, visibleTo: VisibleTo): Promise<string[]> {
  const listing = await projects.list({ visibleTo, limit: 1_000, offset: 0 });
  assert.equal(listing.total, listing.projects.length);
  return listing.projects.map(({ id }) => id);
}

const promises: Promises = {
  'a project is found as it was inserted, and its id is taken': async ({ projects }) => {
    const deviceIds = ['b', 'a', '__proto__'].map(deviceId);
    const full = aProject('p', { name: 'Farm \udfff', deviceIds, gatewayIds: [gatewayId('g')] });
    assert.equal(await projects.insert(full), 'inserted');
    assert.equal(await projects.insert(aProject('p', { name: 'other' })), 'duplicate');
    assert.equal(await projects.insert(aProject('P')), 'inserted');
    assert.deepEqual(await projects.find(projectId('p')), full);
    assert.deepEqual(await projects.find(projectId('P')), aProject('P'));
    assert.equal(await projects.find(projectId('constructor')), undefined);
  },

  'an update sets, keeps and removes fields': async ({ projects }) => {
    const id = projectId('p');
    const deviceIds = [deviceId('d')];
    await projects.insert(aProject('p', { name: 'n', deviceIds }));
    const gatewayIds = ['h', 'g'].map(gatewayId);
    assert.equal(await projects.update(id, { name: undefined, gatewayIds }, byOwner), 'updated');
    assert.deepEqual(await projects.find(id), aProject('p', { deviceIds, gatewayIds }));
    await Promise.all([
      projects.update(id, { name: 'm' }, byOwner),
      projects.update(id, { deviceIds: [] }, byOwner),
    ]);
    assert.deepEqual(await projects.find(id), aProject('p', { name: 'm', gatewayIds }));
    assert.equal(await projects.update(projectId('q'), { name: 'x' }, byOwner), 'missing');
  },

  'projects are listed in order of creation, in pages, to nobody but theirs': async (opened) => {
    const { projects, users, grants } = opened;
    for (const name of ['alice', 'bob']) await users.insert(aUser(name), 'hash');
    const bob = username('bob');
    await projects.insert(aProject('private'));
    await projects.insert(aProject('granted'));
    await projects.insert(aProject('bobs', { owner: bob }));
    await projects.insert(aProject('guests', { owner: guestUsername }));
    const grant = { kind: 'project', resource: 'granted', username: bob } as const;
    await grants.put({ ...grant, scopes: ['projects:update'] });

    const all = ['private', 'granted', 'bobs', 'guests'];
    assert.deepEqual(await idsVisibleTo(opened, everything), all);
    assert.deepEqual(await idsVisibleTo(opened, { who: 'public' }), ['guests']);
    const ofBob = await visibleToUser(opened, 'project', 'BOB');
    assert.deepEqual(await idsVisibleTo(opened, ofBob), ['granted', 'bobs', 'guests']);
    const only = new Set(['private', 'bobs']);
    assert.deepEqual(await idsVisibleTo(opened, { ...ofBob, only }), ['bobs']);
    const page = await projects.list({ visibleTo: ofBob, limit: 1, offset: 1 });
    assert.deepEqual([page.total, ...page.projects.map(({ id }) => id)], [3, 'bobs']);
    await grants.remove('project', 'granted', bob);
    const less = await visibleToUser(opened, 'project', 'BOB');
    assert.deepEqual(await idsVisibleTo(opened, less), ['bobs', 'guests']);
  },

  'projects are counted by owner, removed once, and go with their owner': async (opened) => {
    const { projects, users } = opened;
    for (const name of ['alice', 'bob']) await users.insert(aUser(name), 'hash');
    for (const id of ['a', 'b']) await projects.insert(aProject(id));
    await projects.insert(aProject('c', { owner: username('bob') }));
    assert.equal(await projects.countOwnedBy(username('Alice')), 2);
    assert.equal(await projects.remove(projectId('a')), 'removed');
    assert.equal(await projects.remove(projectId('a')), 'missing');
    await users.remove(userId('id-alice'));
    assert.deepEqual(await idsVisibleTo(opened, everything), ['c']);
    assert.equal(await projects.countOwnedBy(username('alice')), 0);
  },
};

/** What every engine promises of projects. */
export function projectsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage);
}
