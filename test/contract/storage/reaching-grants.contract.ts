import assert from 'node:assert/strict';
import type { GroupGrant } from '../../../src/domain/access/grant.ts';
import type { ResourceKind, Scope } from '../../../src/domain/access/scopes.ts';
import type { VisibleTo } from '../../../src/domain/access/viewer.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  aDevice,
  aGateway,
  aGroup,
  aProject,
  aUser,
  deviceId,
  gatewayId,
  groupId,
  noon,
  projectId,
  userId,
  username,
  visibleToUser,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const [alice, bob] = [username('alice'), username('bob')];
const visibility = 'private';
const group = groupId('g');
const toGroup = (kind: ResourceKind, resource: string, scope: Scope): GroupGrant => ({
  ...{ kind, resource, groupId: group },
  scopes: [scope],
});
const onProject = (scope: Scope = 'projects:view') =>
  ({ kind: 'project', resource: 'p', username: bob, scopes: [scope] }) as const;

/** Alice's devices d1, d2 and gateway gw, dora's d3; a group with bob in it. */
async function withPeopleAndThings({ users, devices, gateways, groups }: Storage): Promise<void> {
  for (const name of ['alice', 'bob', 'dora']) await users.insert(aUser(name), 'hash');
  for (const id of ['d1', 'd2']) await devices.insert(aDevice(id, { visibility }));
  await devices.insert(aDevice('d3', { visibility, owner: username('dora') }));
  await gateways.insert(aGateway('gw', { visibility }));
  await groups.insert(aGroup('g', { name: 'Class', usernames: [bob] }));
}

/** What reaches bob: by asking for each thing, by listing, and in the lists of things; agreeing. */
async function reaching(storage: Storage, kind: 'device' | 'gateway'): Promise<string[]> {
  const { grants, devices, gateways } = storage;
  const visibleTo = await visibleToUser(storage, kind, 'bob');
  const page = { visibleTo, limit: 100, offset: 0 };
  const all = { ...page, visibleTo: { who: 'everything' } } as const;
  const listOf = async (asked: { visibleTo: VisibleTo; limit: number; offset: number }) =>
    kind === 'device' ? (await devices.list(asked)).devices : (await gateways.list(asked)).gateways;
  const asked: string[] = [];
  for (const { id, owner } of await listOf(all)) {
    const scopes = await grants.findIndirect({ kind, id, owner }, username('BOB'));
    if (scopes.length > 0) asked.push(id);
  }
  const listed = (await grants.listReaching(kind, username('BOB'))).map(({ resource }) => resource);
  const shown = (await listOf(page)).map(({ id }) => id);
  assert.deepEqual([...new Set(listed)].toSorted(), asked.toSorted());
  assert.deepEqual(shown.toSorted(), asked.toSorted());
  return asked.toSorted();
}

const promises: Promises = {
  'what a group was granted reaches its members while they are in it': async (storage) => {
    const { grants, groups } = storage;
    assert.deepEqual(await reaching(storage, 'device'), []);
    assert.equal(await grants.putForGroup(toGroup('device', 'd1', 'devices:update')), 'put');
    assert.equal(await grants.putForGroup(toGroup('gateway', 'gw', 'gateways:view')), 'put');
    assert.deepEqual(await reaching(storage, 'device'), ['d1']);
    assert.deepEqual(await reaching(storage, 'gateway'), ['gw']);
    const resource = { kind: 'device', id: 'd1', owner: alice } as const;
    assert.deepEqual(await grants.findIndirect(resource, bob), ['devices:update']);
    const change = { out: [bob], in: [], membersMax: 9 };
    await groups.changeMembers(group, change);
    assert.deepEqual(await reaching(storage, 'device'), []);
    await groups.changeMembers(group, { ...change, out: [], in: [bob] });
    assert.deepEqual(await reaching(storage, 'device'), ['d1']);
    await groups.remove(group);
    assert.deepEqual(await reaching(storage, 'device'), []);
  },

  'grants of groups are listed on things, by givers and receivers, and removed': async (
    storage,
  ) => {
    const { grants } = storage;
    const view = toGroup('device', 'd1', 'devices:view');
    await grants.putForGroup(toGroup('device', 'd1', 'devices:update'));
    await grants.putForGroup(view);
    const owned = { ...view, groupName: 'Class', owner: alice };
    assert.deepEqual(await grants.listGroupsOn('device', 'd1'), [owned]);
    assert.deepEqual(await grants.listGroupsGivenBy(username('ALICE')), [owned]);
    assert.deepEqual(await grants.listGroupsReceivedBy(username('BOB')), [owned]);
    assert.deepEqual(await grants.listGroupsReceivedBy(alice), []);
    assert.equal(await grants.removeForGroup('device', 'd2', group), 'missing');
    assert.equal(await grants.removeForGroup('device', 'd1', group), 'removed');
    assert.deepEqual(await grants.listGroupsOn('device', 'd1'), []);
  },

  'nothing is granted to no group or on nothing': async (storage) => {
    const { grants } = storage;
    const nobody = { ...toGroup('device', 'd1', 'devices:view'), groupId: groupId('none') };
    assert.equal(await grants.putForGroup(nobody), 'missing');
    assert.equal(await grants.putForGroup(toGroup('device', 'd9', 'devices:view')), 'missing');
    assert.equal(await grants.putForGroup(toGroup('project', 'p', 'projects:view')), 'missing');
  },

  'grants of groups end with the thing and with its owner': async (storage) => {
    const { grants, devices, gateways, projects } = storage;
    await projects.insert(aProject('p'));
    for (const id of ['d1', 'd2']) {
      await grants.putForGroup(toGroup('device', id, 'devices:view'));
    }
    await grants.putForGroup(toGroup('gateway', 'gw', 'gateways:view'));
    await grants.putForGroup(toGroup('project', 'p', 'projects:view'));
    await devices.remove(deviceId('d1'));
    await devices.insert(aDevice('d1', { visibility }));
    await devices.update(deviceId('d2'), { name: 'renamed' }, noon);
    assert.deepEqual(await reaching(storage, 'device'), ['d2']);
    await devices.update(deviceId('d2'), { owner: username('dora') }, noon);
    await gateways.update(gatewayId('gw'), { owner: username('dora') }, noon);
    await projects.remove(projectId('p'));
    assert.deepEqual(await reaching(storage, 'device'), []);
    assert.deepEqual(await reaching(storage, 'gateway'), []);
    assert.deepEqual(await grants.listGroupsGivenBy(alice), []);
  },

  'a project reaches what it lists of its owner’s, while it lists it': async (storage) => {
    const { grants, projects, devices, users } = storage;
    const deviceIds = ['d1', 'd3', 'd9'].map(deviceId);
    await projects.insert(aProject('p', { deviceIds, gatewayIds: [gatewayId('gw')] }));
    assert.deepEqual(await reaching(storage, 'device'), []);
    await grants.put(onProject());
    assert.deepEqual(await reaching(storage, 'device'), ['d1']);
    assert.deepEqual(await reaching(storage, 'gateway'), ['gw']);
    const resource = { kind: 'device', id: 'd1', owner: alice } as const;
    assert.deepEqual(await grants.findIndirect(resource, bob), ['projects:view']);
    const byOwner = { isOwners: true };
    await projects.update(projectId('p'), { deviceIds: [deviceId('d2')] }, byOwner);
    assert.deepEqual(await reaching(storage, 'device'), ['d2']);
    await devices.update(deviceId('d2'), { owner: username('dora') }, noon);
    assert.deepEqual(await reaching(storage, 'device'), []);
    await devices.update(deviceId('d2'), { owner: alice }, noon);
    assert.deepEqual(await reaching(storage, 'device'), ['d2']);
    await grants.remove('project', 'p', bob);
    assert.deepEqual(await reaching(storage, 'device'), []);
    await grants.put(onProject());
    await users.remove(userId('id-alice'));
    assert.deepEqual(await reaching(storage, 'device'), []);
  },

  'a project granted to a group reaches its members': async (storage) => {
    const { grants, projects, groups } = storage;
    await projects.insert(aProject('p', { deviceIds: [deviceId('d1')] }));
    await grants.putForGroup(toGroup('project', 'p', 'projects:view'));
    assert.deepEqual(await reaching(storage, 'device'), ['d1']);
    const shown = await projects.list({
      ...{ visibleTo: await visibleToUser(storage, 'project', 'bob'), limit: 9, offset: 0 },
    });
    assert.deepEqual(
      shown.projects.map(({ id }) => id),
      ['p'],
    );
    await groups.changeMembers(group, { out: 'all', in: [], membersMax: 9 });
    assert.deepEqual(await reaching(storage, 'device'), []);
  },

  'what others list is not reached until the owner lists it': async (storage) => {
    const { grants, projects } = storage;
    const id = projectId('p');
    const gatewayIds = [gatewayId('gw')];
    await projects.insert(aProject('p', { deviceIds: [deviceId('d1')] }));
    await grants.put(onProject('projects:update'));
    const deviceIds = ['d1', 'd2'].map(deviceId);
    await projects.update(id, { deviceIds, gatewayIds }, { isOwners: false });
    assert.deepEqual(await reaching(storage, 'device'), ['d1']);
    assert.deepEqual(await reaching(storage, 'gateway'), []);
    const d2 = [deviceId('d2')];
    assert.deepEqual(await projects.unshared(id), { deviceIds: d2, gatewayIds });
    await projects.update(id, { name: 'new' }, { isOwners: true });
    assert.deepEqual(await reaching(storage, 'device'), ['d1']);
    await projects.update(id, { deviceIds }, { isOwners: true });
    assert.deepEqual(await reaching(storage, 'device'), ['d1', 'd2']);
    assert.deepEqual(await projects.unshared(id), { deviceIds: [], gatewayIds });
    assert.deepEqual(await projects.unshared(projectId('q')), { deviceIds: [], gatewayIds: [] });
  },
};

/** What every engine promises of what grants, groups and projects reach. */
export function reachingGrantsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, withPeopleAndThings);
}
