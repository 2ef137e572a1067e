import assert from 'node:assert/strict';
import { singleBatch } from '../../../src/domain/datapoints/column-batch.ts';
import { limits } from '../../../src/domain/limits.ts';
import {
  aDevice,
  aGateway,
  aKey,
  aLogin,
  aSensor,
  aToken,
  aUser,
  byPassword,
  deviceId,
  noon,
  userId,
  username,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const awkwardTexts = ['\ud800', 'nul\u0000nul', 'Jürgen 山田 👩‍🌾', '', "'; drop table users; --"];

const promises: Promises = {
  'a password that somebody else chose is initial until it is set again': async ({ users }) => {
    await users.insert(aUser('zoe', { isPasswordInitial: true }), 'hash');
    const { id } = aUser('zoe');
    assert.equal((await users.find(id))?.isPasswordInitial, true);
    await users.update(id, { profile: { firstName: 'Zoe' } });
    assert.equal((await users.find(id))?.isPasswordInitial, true);
    await users.setPassword(id, 'other hash');
    assert.equal((await users.find(id))?.isPasswordInitial, undefined);
    await users.setPassword(id, 'a hash of somebody else', { isInitial: true });
    assert.equal((await users.find(id))?.isPasswordInitial, true);
  },

  'the last login is kept, of a browser that stays logged in once a day': async (storage) => {
    const { users, credentials } = storage;
    const { id } = aUser('zoe');
    await users.insert(aUser('zoe'), 'hash');
    const last = async () => (await users.find(id))?.lastLoginAt;
    assert.equal(await last(), undefined);
    await users.rememberNetwork(id, '10.0.0.0/8', noon);
    assert.equal(await last(), noon);
    await users.rememberNetwork(id, '11.0.0.0/8', noon - 5);
    assert.equal(await last(), noon, 'another process said it later');
    await credentials.insertSession(aLogin('l', 'zoe'), byPassword, noon);
    const use = (from: string, hash: string, lastUsedAt: number) =>
      credentials.renewSession(from, { hash, address: '::1', lastUsedAt, expiresAt: lastUsedAt });
    await use('hash-l', 'next', noon + limits.knownNetworkMs);
    assert.equal(await last(), noon, 'it was kept within a day');
    await use('next', 'newest', noon + limits.knownNetworkMs + 1);
    assert.equal(await last(), noon + limits.knownNetworkMs + 1);
    await use('next', 'other', noon + 3 * limits.knownNetworkMs);
    assert.equal(await last(), noon + limits.knownNetworkMs + 1, 'no longer its cookie');
  },

  'an account is found as it was inserted': async ({ users }) => {
    const profile = { firstName: 'Ana', email: 'Ana@x.org', phone: ['+1', '+2'], twitter: [] };
    const ana = aUser('ana', { profile, isAdmin: true, smsCredit: 0 });
    assert.equal(await users.insert(ana, 'hash'), 'inserted');
    assert.deepEqual(await users.find(ana.id), ana);
    assert.equal(await users.find(userId('id-bob')), undefined);
  },

  'some accounts are found at once, in order of creation': async ({ users }) => {
    const [zoe, ana, bob] = [aUser('zoe'), aUser('ana'), aUser('bob')];
    for (const user of [zoe, ana, bob]) await users.insert(user, 'hash');
    assert.deepEqual(await users.some([bob.id, userId('gone'), zoe.id, bob.id]), [zoe, bob]);
    assert.deepEqual(await users.some([]), []);
  },

  'profile texts come back whole, whatever they hold': async ({ users }) => {
    for (const [index, text] of awkwardTexts.entries()) {
      const user = aUser(`u${index}`, { profile: { firstName: text, address: [text, text] } });
      await users.insert(user, text === '\ud800' ? 'hash' : 'other');
      assert.deepEqual(await users.find(user.id), user);
    }
  },

  'a username is unique and found without regard to case': async ({ users }) => {
    await users.insert(aUser('Ana'), 'hash');
    assert.equal(await users.insert(aUser('aNA', { id: userId('2') }), 'hash'), 'duplicate');
    assert.equal(await users.insert(aUser('bob', { id: userId('id-Ana') }), 'hash'), 'duplicate');
    assert.equal((await users.findByUsername('ANA'))?.username, 'Ana');
    assert.equal(await users.findByUsername('bob'), undefined);
    assert.equal((await users.list({ limit: 10, offset: 0 })).total, 1);
  },

  'names that objects know are names like others': async ({ users }) => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      assert.equal(await users.findByUsername(name), undefined);
      assert.equal(await users.find(userId(name)), undefined);
      await users.insert(aUser(name, { id: userId(name) }), 'hash');
      assert.equal((await users.findByUsername(name))?.id, name);
      assert.equal((await users.find(userId(name)))?.username, name);
    }
  },

  'a login is found by username, and by e-mail the best proven and oldest first': async ({
    users,
  }) => {
    const profile = { email: 'ärzte@X.org' };
    for (const name of ['old', 'new', 'third']) {
      await users.insert(aUser(name, { profile }), `hash-${name}`);
    }
    await users.insert(aUser('ceo@x.org'), 'hash-name');
    const hashes = async (email: string) =>
      (await users.findByEmail(email)).map(({ passwordHash }) => passwordHash);
    assert.equal((await users.findLogin('NEW'))?.passwordHash, 'hash-new');
    assert.equal((await users.findLogin('ceo@x.org'))?.passwordHash, 'hash-name');
    for (const name of ['nobody', 'ärzte@x.org']) {
      assert.equal(await users.findLogin(name), undefined);
    }
    assert.deepEqual(await hashes('ÄRZTE@x.org'), ['hash-old', 'hash-new']);
    assert.deepEqual(await hashes('ceo@x.org'), []);
    assert.deepEqual(await hashes(''), []);
    const proof = { channel: 'email', address: 'Ärzte@x.org', provenAt: noon } as const;
    await users.update(userId('id-new'), { proofs: [{ ...proof, by: 'earlier' }] });
    assert.deepEqual(await hashes('ärzte@x.org'), ['hash-new', 'hash-old']);
    await users.update(userId('id-third'), { proofs: [{ ...proof, by: 'code' }] });
    assert.deepEqual(await hashes('ärzte@x.org'), ['hash-third', 'hash-new']);
    await users.update(userId('id-third'), { profile: { email: undefined } });
    assert.deepEqual(await hashes('ärzte@x.org'), ['hash-new', 'hash-old']);
  },

  'a proof stays while its address is in the profile, and goes with it': async ({ users }) => {
    const email = { channel: 'email', address: 'ana@x.org', provenAt: noon, by: 'code' } as const;
    const phone = { ...email, channel: 'phone', address: '+1 (2) 3-4', by: 'earlier' } as const;
    const profile = { email: 'Ana@x.org', phone: ['+1234', '+99'] };
    await users.insert(aUser('ana', { profile, proofs: [email] }), 'hash');
    const proofs = async () => (await users.find(userId('id-ana')))?.proofs;
    assert.deepEqual(await proofs(), [email]);
    await users.update(userId('id-ana'), { proofs: [phone, { ...email, address: 'b@x.org' }] });
    assert.deepEqual(await proofs(), [email, phone]);
    await users.update(userId('id-ana'), { isAdmin: true, proofs: [{ ...email, provenAt: 5 }] });
    assert.deepEqual(await proofs(), [{ ...email, provenAt: 5 }, phone]);
    await users.update(userId('id-ana'), { profile: { email: 'c@x.org' } });
    assert.deepEqual(await proofs(), [phone]);
    await users.update(userId('id-ana'), { profile: { email: 'ana@x.org', phone: ['+99'] } });
    assert.equal(await proofs(), undefined, 'an address that comes back has to be proven anew');
  },

  'accounts are listed in order of creation, in pages': async ({ users }) => {
    for (const name of ['c', 'a', 'b']) await users.insert(aUser(name), 'hash');
    const page = await users.list({ limit: 2, offset: 1 });
    assert.deepEqual(
      page.users.map((user) => user.username),
      ['a', 'b'],
    );
    assert.equal(page.total, 3);
    assert.deepEqual(await users.list({ limit: 2, offset: 3 }), { users: [], total: 3 });
    const named = await users.list({ username: 'A', limit: 2, offset: 0 });
    assert.deepEqual(
      named.users.map((user) => user.username),
      ['a'],
    );
    assert.equal(named.total, 1);
    assert.deepEqual(await users.list({ username: 'A', limit: 2, offset: 1 }), {
      users: [],
      total: 1,
    });
    assert.equal((await users.list({ username: 'x', limit: 2, offset: 0 })).total, 0);
  },

  'an update changes what it names and removes what it sets to undefined': async ({ users }) => {
    const profile = { firstName: 'Ana', lastName: 'Li', phone: ['+1'] };
    const ana = aUser('ana', { profile, smsCredit: 3 });
    await users.insert(ana, 'hash');
    const changes = { profile: { firstName: undefined, lastName: 'Lu' }, isAdmin: true };
    assert.equal(await users.update(ana.id, changes), 'updated');
    assert.deepEqual(await users.find(ana.id), {
      ...ana,
      profile: { lastName: 'Lu', phone: ['+1'] },
      isAdmin: true,
    });
    await users.update(ana.id, { smsCredit: 0 });
    assert.equal((await users.find(ana.id))?.smsCredit, 0);
    await users.update(ana.id, { smsCredit: 'unlimited' });
    assert.equal('smsCredit' in ((await users.find(ana.id)) ?? {}), false);
    assert.equal(await users.update(userId('nobody'), { isAdmin: true }), 'missing');
  },

  'a new password or disabling ends all tokens of that account only': async ({
    users,
    credentials,
  }) => {
    for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
    const ends = [
      () => users.update(userId('id-ana'), { isDisabled: true }),
      () => users.setPassword(userId('id-ana'), 'new hash'),
    ];
    for (const end of ends) {
      await credentials.insertToken(aToken('t1', 'ana'), byPassword, noon);
      await credentials.insertToken(aToken('t2', 'bob'), byPassword, noon);
      assert.notEqual(await end(), 'missing');
      await users.update(userId('id-ana'), { isDisabled: false });
      assert.equal(await credentials.findToken('t1'), undefined);
      assert.equal((await credentials.findToken('t2'))?.bearer.username, 'bob');
      await credentials.removeToken('t2');
    }
    assert.equal((await users.findLogin('ana'))?.passwordHash, 'new hash');
    assert.equal(await users.setPassword(userId('nobody'), 'hash'), 'missing');
  },

  'a new password can end the keys made before a time': async ({ users, credentials }) => {
    for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
    for (const [id, owner, createdAt] of [
      ['old', 'ana', noon - 1],
      ['new', 'ana', noon],
      ['of bob', 'bob', noon - 1],
    ] as const) {
      await credentials.insertKey(aKey(id, owner, { createdAt }));
    }
    const ana = userId('id-ana');
    assert.deepEqual(await users.setPassword(ana, 'second'), { endedKeys: [] });
    assert.equal((await credentials.findKey('hash-old'))?.id, 'old');
    const ended = await users.setPassword(ana, 'third', { keysMadeBefore: noon });
    assert.deepEqual(ended, { endedKeys: ['old'] });
    assert.equal(await credentials.findKey('hash-old'), undefined);
    assert.equal((await credentials.findKey('hash-new'))?.id, 'new');
    assert.equal((await credentials.findKey('hash-of bob'))?.id, 'of bob');
  },

  'an account knows the networks it was logged in to from, the newest of them': async ({
    users,
  }) => {
    for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
    const ana = userId('id-ana');
    assert.equal(await users.knowsNetwork(ana, '10.0.0.1'), false);
    await users.rememberNetwork(ana, '10.0.0.1', noon);
    assert.equal(await users.knowsNetwork(ana, '10.0.0.1'), true);
    assert.equal(await users.knowsNetwork(userId('id-bob'), '10.0.0.1'), false);
    for (let index = 1; index < limits.knownNetworksPerUserMax; index += 1) {
      await users.rememberNetwork(ana, `192.0.2.${index}`, noon + index);
    }
    await users.rememberNetwork(ana, '10.0.0.1', noon + 100);
    await users.rememberNetwork(ana, '203.0.113.7', noon + 101);
    assert.equal(await users.knowsNetwork(ana, '10.0.0.1'), true);
    assert.equal(await users.knowsNetwork(ana, '203.0.113.7'), true);
    assert.equal(await users.knowsNetwork(ana, '192.0.2.1'), false, 'the oldest went');
    await users.rememberNetwork(userId('nobody'), '10.0.0.1', noon);
    await users.remove(ana);
    await users.insert(aUser('ana'), 'hash');
    assert.equal(await users.knowsNetwork(ana, '10.0.0.1'), false);
  },

  'removing an account removes all that is its own and nothing else': async (all) => {
    const { users, credentials, grants, devices, gateways, datapoints } = all;
    for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
    await credentials.insertToken(aToken('t', 'ana'), byPassword, noon);
    await credentials.insertKey(aKey('k', 'ana'));
    const sensors = [aSensor('s')];
    for (const id of ['a1', 'a2'])
      await devices.insert(aDevice(id, { owner: username('ana'), sensors }));
    await devices.insert(aDevice('b1', { owner: username('bob') }));
    await gateways.insert(aGateway('g1', { owner: username('ana') }));
    const scopes = ['devices:view'] as const;
    await grants.put({ kind: 'device', resource: 'a1', username: username('bob'), scopes });
    await grants.put({ kind: 'device', resource: 'b1', username: username('ana'), scopes });
    const sensor = { deviceId: deviceId('a1'), sensorId: aSensor('s').id };
    await datapoints.append([{ ...sensor, batch: singleBatch(1, undefined, noon) }]);

    const gone = { devices: ['a1', 'a2'], gateways: ['g1'] };
    assert.deepEqual(await users.remove(userId('id-ana')), gone);
    assert.equal(await users.remove(userId('id-ana')), 'missing');
    await users.insert(aUser('ana'), 'hash');
    await devices.insert(aDevice('a1', { owner: username('ana'), sensors }));
    assert.equal(await credentials.findToken('t'), undefined);
    assert.equal(await credentials.findKey('hash-k'), undefined);
    assert.equal(await devices.find(deviceId('a2')), undefined);
    assert.deepEqual(await grants.listOn('device', 'a1'), []);
    assert.deepEqual(await grants.listOn('device', 'b1'), []);
    assert.equal(await datapoints.count(sensor, {}), 0);
    assert.equal((await devices.find(deviceId('b1')))?.owner, 'bob');
  },

  'admins who can log in are counted': async ({ users }) => {
    assert.equal(await users.countAdmins(), 0);
    await users.insert(aUser('ana', { isAdmin: true }), 'hash');
    await users.insert(aUser('bob'), 'hash');
    assert.equal(await users.countAdmins(), 1);
    await users.update(userId('id-bob'), { isAdmin: true });
    assert.equal(await users.countAdmins(), 2);
    await users.update(userId('id-bob'), { isDisabled: true });
    assert.equal(await users.countAdmins(), 1);
  },
};

/** What every engine promises of accounts. */
export function usersContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage);
}
