import assert from 'node:assert/strict';
import type { Grant } from '../../../src/domain/access/grant.ts';
import type { Scope } from '../../../src/domain/access/scopes.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  aDevice,
  aGateway,
  aProject,
  aUser,
  deviceId,
  gatewayId,
  noon,
  projectId,
  userId,
  username,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

function aGrant(resource: string, name: string, scopes: readonly Scope[]): Grant {
  return { kind: 'device', resource, username: username(name), scopes };
}

async function withAccountsAndDevices({ users, devices }: Storage): Promise<void> {
  for (const name of ['alice', 'bob', 'Carl']) await users.insert(aUser(name), 'hash');
  for (const id of ['d1', 'd2']) await devices.insert(aDevice(id));
  await devices.insert(aDevice('b1', { owner: username('bob') }));
}

const promises: Promises = {
  'a grant is found for its user on its resource only': async ({ grants }) => {
    const grant = aGrant('d1', 'bob', ['devices:update', 'devices:view']);
    assert.equal(await grants.put(grant), 'put');
    assert.deepEqual(await grants.find('device', 'd1', username('bob')), grant.scopes);
    assert.deepEqual(await grants.find('device', 'd1', username('BOB')), grant.scopes);
    assert.deepEqual(await grants.find('device', 'd1', username('Carl')), []);
    assert.deepEqual(await grants.find('device', 'd2', username('bob')), []);
    assert.deepEqual(await grants.find('gateway', 'd1', username('bob')), []);
  },

  'a second grant replaces the first': async ({ grants }) => {
    await grants.put(aGrant('d1', 'bob', ['devices:update']));
    assert.equal(await grants.put(aGrant('d1', 'bob', ['devices-data:view'])), 'put');
    assert.deepEqual(await grants.listOn('device', 'd1'), [
      aGrant('d1', 'bob', ['devices-data:view']),
    ]);
  },

  'a grant is removed once': async ({ grants }) => {
    await grants.put(aGrant('d1', 'bob', ['devices:view']));
    assert.equal(await grants.remove('device', 'd2', username('bob')), 'missing');
    assert.equal(await grants.remove('device', 'd1', username('Bob')), 'removed');
    assert.equal(await grants.remove('device', 'd1', username('bob')), 'missing');
    assert.deepEqual(await grants.find('device', 'd1', username('bob')), []);
  },

  'nothing is granted to nobody or on nothing': async ({ grants, users, devices }) => {
    assert.equal(await grants.put(aGrant('d1', 'dora', ['devices:view'])), 'missing');
    assert.equal(await grants.put(aGrant('d3', 'bob', ['devices:view'])), 'missing');
    await users.insert(aUser('dora'), 'hash');
    await devices.insert(aDevice('d3'));
    assert.deepEqual(await grants.listOn('device', 'd1'), []);
    assert.deepEqual(await grants.listOn('device', 'd3'), []);
  },

  'lists name owners in order, and grants end with the owner': async ({ grants, devices }) => {
    const bobs = aGrant('d2', 'bob', ['devices:view']);
    const carls = aGrant('d2', 'Carl', ['devices:delete']);
    const other = aGrant('d1', 'Carl', ['devices:view']);
    const alices = aGrant('b1', 'alice', ['devices:view']);
    for (const grant of [carls, bobs, other, alices]) await grants.put(grant);
    const owner = 'alice';
    assert.deepEqual(await grants.listOn('device', 'd2'), [bobs, carls]);
    assert.deepEqual(await grants.listGivenBy(username('alice')), [
      { ...other, owner },
      { ...bobs, owner },
      { ...carls, owner },
    ]);
    assert.deepEqual(await grants.listReceivedBy(username('carl')), [
      { ...other, owner },
      { ...carls, owner },
    ]);
    await devices.update(deviceId('d2'), { owner: username('bob') }, noon);
    assert.deepEqual(
      (await grants.listGivenBy(username('bob'))).map(({ resource }) => resource),
      ['b1'],
    );
    assert.deepEqual(await grants.listGivenBy(username('Carl')), []);
  },

  'gateways and projects are granted as devices are, each kind by itself': async (opened) => {
    const { grants, gateways, projects, users } = opened;
    const bob = username('bob');
    const onDevice = aGrant('d1', 'bob', ['devices:view']);
    const onGateway = { ...onDevice, kind: 'gateway', scopes: ['gateways:update'] } as const;
    const onProject = { ...onDevice, kind: 'project', scopes: ['projects:delete'] } as const;
    assert.equal(await grants.put(onGateway), 'missing');
    assert.equal(await grants.put(onProject), 'missing');
    await gateways.insert(aGateway('d1'));
    await projects.insert(aProject('d1'));
    for (const grant of [onProject, onGateway, onDevice]) {
      assert.equal(await grants.put(grant), 'put');
      assert.deepEqual(await grants.find(grant.kind, 'd1', bob), grant.scopes);
    }
    const owner = 'alice';
    const all = [onDevice, onGateway, onProject].map((grant) => ({ ...grant, owner }));
    assert.deepEqual(await grants.listGivenBy(username('ALICE')), all);
    assert.deepEqual(await grants.listReceivedBy(username('Bob')), all);
    await gateways.remove(gatewayId('d1'));
    await gateways.insert(aGateway('d1'));
    assert.deepEqual(await grants.listReceivedBy(bob), [all[0], all[2]]);
    await projects.remove(projectId('d1'));
    await projects.insert(aProject('d1'));
    assert.deepEqual(await grants.listReceivedBy(bob), [all[0]]);
    await grants.put(onGateway);
    await grants.put(onProject);
    await users.remove(userId('id-alice'));
    await users.insert(aUser('alice'), 'hash');
    await gateways.insert(aGateway('d1'));
    await projects.insert(aProject('d1'));
    assert.deepEqual(await grants.listReceivedBy(bob), []);
  },

  'grants go with their device and with their user': async ({ grants, devices, users }) => {
    for (const id of ['d1', 'd2']) {
      for (const name of ['bob', 'Carl']) await grants.put(aGrant(id, name, ['devices:view']));
    }
    await devices.remove(deviceId('d1'));
    await devices.insert(aDevice('d1'));
    assert.deepEqual(await grants.listOn('device', 'd1'), []);
    await users.remove(userId('id-Carl'));
    await users.insert(aUser('Carl'), 'hash');
    assert.deepEqual(await grants.listOn('device', 'd2'), [aGrant('d2', 'bob', ['devices:view'])]);
  },
};

/** What every engine promises of grants. */
export function grantsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, withAccountsAndDevices);
}
