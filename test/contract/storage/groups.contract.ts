import assert from 'node:assert/strict';
import type { Storage } from '../../../src/storage/storage.ts';
import { aGroup, aUser, groupId, userId, username } from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const names = (...texts: string[]) => texts.map(username);
const membersMax = 10;

async function withAccounts({ users }: Storage): Promise<void> {
  for (const name of ['alice', 'bob', 'Carl', 'dora']) await users.insert(aUser(name), 'hash');
}

async function membersOf({ groups }: Storage, id = 'g'): Promise<readonly string[] | undefined> {
  return (await groups.find(groupId(id)))?.usernames;
}

const promises: Promises = {
  'a group is found with its members as their accounts are written': async ({ groups }) => {
    const group = aGroup('g', { name: 'Class 4B \udfff', usernames: names('CARL', 'bob') });
    assert.equal(await groups.insert(group), 'inserted');
    const found = { ...group, usernames: names('bob', 'Carl') };
    assert.deepEqual(await groups.find(groupId('g')), found);
    assert.equal(await groups.find(groupId('constructor')), undefined);
  },

  'nobody without an account comes into a group, and all are told at once': async (storage) => {
    const { groups } = storage;
    const missing = names('eve', 'finn');
    const group = aGroup('g', { usernames: names('bob', 'eve', 'finn') });
    assert.deepEqual(await groups.insert(group), { missing });
    assert.equal(await membersOf(storage), undefined);
    await groups.insert(aGroup('g', { usernames: names('bob') }));
    const change = { out: 'all', in: names('Carl', 'eve', 'finn'), membersMax } as const;
    assert.deepEqual(await groups.changeMembers(groupId('g'), change), { missing });
    assert.deepEqual(await membersOf(storage), ['bob']);
  },

  'members come and go, once each, up to an end': async (storage) => {
    const { groups } = storage;
    const change = (out: 'all' | string[], coming: string[], max = membersMax) =>
      groups.changeMembers(groupId('g'), {
        out: out === 'all' ? out : names(...out),
        in: names(...coming),
        membersMax: max,
      });
    assert.equal(await change([], []), 'missing');
    await groups.insert(aGroup('g', { usernames: names('bob') }));
    assert.equal(await change([], ['BOB', 'Carl']), 'updated');
    assert.deepEqual(await membersOf(storage), ['bob', 'Carl']);
    assert.equal(await change(['carl', 'nobody'], ['dora']), 'updated');
    assert.deepEqual(await membersOf(storage), ['bob', 'dora']);
    assert.equal(await change(['bob'], ['alice', 'Carl'], 2), 'too_many');
    assert.deepEqual(await membersOf(storage), ['bob', 'dora']);
    assert.equal(await change('all', ['alice', 'Carl'], 2), 'updated');
    assert.deepEqual(await membersOf(storage), ['alice', 'Carl']);
  },

  'groups are listed by owner in order of creation, renamed, and removed once': async (storage) => {
    const { groups } = storage;
    for (const id of ['b', 'a']) await groups.insert(aGroup(id));
    await groups.insert(aGroup('c', { owner: username('bob') }));
    const idsOf = async (owner?: string, page = { limit: 10, offset: 0 }) => {
      const filter = owner === undefined ? {} : { owner: username(owner) };
      const { groups: listed, total } = await groups.list({ ...page, ...filter });
      return [total, ...listed.map(({ id }) => id)];
    };
    assert.deepEqual(await idsOf('ALICE'), [2, 'b', 'a']);
    assert.deepEqual(await idsOf('alice', { limit: 1, offset: 1 }), [2, 'a']);
    assert.deepEqual(await idsOf(), [3, 'b', 'a', 'c']);
    assert.equal(await groups.countOwnedBy(username('alice')), 2);
    assert.equal(await groups.rename(groupId('a'), 'new'), 'updated');
    assert.equal((await groups.find(groupId('a')))?.name, 'new');
    assert.equal(await groups.rename(groupId('x'), 'new'), 'missing');
    assert.equal(await groups.remove(groupId('b')), 'removed');
    assert.equal(await groups.remove(groupId('b')), 'missing');
    assert.deepEqual(await idsOf('alice'), [1, 'a']);
  },

  'members go with their accounts, and groups with their owner': async (storage) => {
    const { groups, users } = storage;
    await groups.insert(aGroup('g', { usernames: names('bob', 'Carl') }));
    await groups.insert(aGroup('h', { owner: username('bob'), usernames: names('Carl') }));
    await users.remove(userId('id-bob'));
    assert.deepEqual(await membersOf(storage), ['Carl']);
    assert.equal(await membersOf(storage, 'h'), undefined);
    await users.insert(aUser('bob'), 'hash');
    assert.deepEqual(await membersOf(storage), ['Carl']);
    assert.equal(await groups.countOwnedBy(username('bob')), 0);
  },
};

/** What every engine promises of groups. */
export function groupsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, withAccounts);
}
