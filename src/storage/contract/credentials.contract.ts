import assert from 'node:assert/strict';
import { limits } from '../../domain/limits.ts';
import type { Storage } from '../storage.ts';
import { aKey, aToken, aUser, deviceId, keyId, noon, userId } from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

async function withAccounts({ users }: Storage): Promise<void> {
  await users.insert(aUser('ana', { isAdmin: true }), 'hash');
  await users.insert(aUser('bob'), 'hash');
}

const promises: Promises = {
  'a token is found by its hash with the account as it is now': async ({ users, credentials }) => {
    const token = aToken('t', 'ana');
    await credentials.insertToken(token, noon);
    const bearer = { userId: userId('id-ana'), username: 'ana', isAdmin: true };
    assert.deepEqual(await credentials.findToken('t'), { ...token, bearer });
    await users.update(userId('id-ana'), { isAdmin: false });
    assert.equal((await credentials.findToken('t'))?.bearer.isAdmin, false);
    assert.equal(await credentials.findToken('T'), undefined);
  },

  'a token is removed once': async ({ credentials }) => {
    await credentials.insertToken(aToken('t', 'ana'), noon);
    assert.equal(await credentials.removeToken('t'), 'removed');
    assert.equal(await credentials.removeToken('t'), 'missing');
    assert.equal(await credentials.findToken('t'), undefined);
  },

  'inserting a token removes expired ones': async ({ credentials }) => {
    await credentials.insertToken(aToken('old', 'ana', { expiresAt: noon + 1 }), noon);
    await credentials.insertToken(aToken('good', 'ana', { expiresAt: noon + 3 }), noon);
    assert.equal((await credentials.findToken('old'))?.expiresAt, noon + 1);
    await credentials.insertToken(aToken('new', 'bob'), noon + 2);
    assert.equal(await credentials.findToken('old'), undefined);
    assert.equal((await credentials.findToken('good'))?.hash, 'good');
  },

  'an account keeps its newest tokens up to the limit': async ({ credentials }) => {
    await credentials.insertToken(aToken('of bob', 'bob'), noon);
    const hashes = Array.from({ length: limits.tokensPerUserMax + 1 }, (_, index) => `t${index}`);
    await Promise.all(hashes.map((hash) => credentials.insertToken(aToken(hash, 'ana'), noon)));
    assert.equal(await credentials.findToken('t0'), undefined);
    assert.equal((await credentials.findToken('t1'))?.hash, 't1');
    assert.equal((await credentials.findToken(hashes.at(-1) ?? ''))?.bearer.username, 'ana');
    assert.equal((await credentials.findToken('of bob'))?.hash, 'of bob');
  },

  'a key is found by its hash with everything it was made with': async ({ credentials }) => {
    const wide = aKey('wide', 'bob', { name: 'nul\u0000 \ud800' });
    const narrow = aKey('narrow', 'bob', {
      scopes: ['devices:view'],
      devices: [deviceId('d1'), deviceId('__proto__')],
      expiresAt: noon + 5,
    });
    for (const key of [wide, narrow]) assert.equal(await credentials.insertKey(key), 'inserted');
    const bearer = { userId: userId('id-bob'), username: 'bob', isAdmin: false };
    assert.deepEqual(await credentials.findKey('hash-wide'), { ...wide, bearer });
    assert.deepEqual(await credentials.findKey('hash-narrow'), { ...narrow, bearer });
    assert.equal(await credentials.findKey('hash-other'), undefined);
    assert.deepEqual(await credentials.listKeys(userId('id-bob')), [wide, narrow]);
    assert.deepEqual(await credentials.listKeys(userId('id-ana')), []);
  },

  'a key is removed by its own account only': async ({ credentials }) => {
    await credentials.insertKey(aKey('k', 'bob'));
    assert.equal(await credentials.removeKey(userId('id-ana'), keyId('k')), 'missing');
    assert.equal((await credentials.findKey('hash-k'))?.id, 'k');
    assert.equal(await credentials.removeKey(userId('id-bob'), keyId('k')), 'removed');
    assert.equal(await credentials.removeKey(userId('id-bob'), keyId('k')), 'missing');
    assert.equal(await credentials.findKey('hash-k'), undefined);
  },

  'an account has keys up to the limit': async ({ credentials }) => {
    const inserts = Array.from({ length: limits.accessKeysPerUserMax }, (_, index) =>
      credentials.insertKey(aKey(`k${index}`, 'bob')),
    );
    assert.deepEqual(new Set(await Promise.all(inserts)), new Set(['inserted']));
    assert.equal(await credentials.insertKey(aKey('more', 'bob')), 'too_many');
    assert.equal(await credentials.findKey('hash-more'), undefined);
    assert.equal(await credentials.insertKey(aKey('of ana', 'ana')), 'inserted');
    await credentials.removeKey(userId('id-bob'), keyId('k7'));
    assert.equal(await credentials.insertKey(aKey('more', 'bob')), 'inserted');
  },

  'credentials of a disabled account are not found until it is enabled': async ({
    users,
    credentials,
  }) => {
    await credentials.insertKey(aKey('k', 'bob'));
    await users.update(userId('id-bob'), { isDisabled: true });
    await credentials.insertToken(aToken('t', 'bob'), noon);
    assert.equal(await credentials.findKey('hash-k'), undefined);
    assert.equal(await credentials.findToken('t'), undefined);
    await users.update(userId('id-bob'), { isDisabled: false });
    assert.equal((await credentials.findKey('hash-k'))?.id, 'k');
    assert.equal((await credentials.findToken('t'))?.hash, 't');
  },

  'credentials of an account that ended meanwhile are never found': async ({
    users,
    credentials,
  }) => {
    await users.remove(userId('id-bob'));
    await credentials.insertToken(aToken('t', 'bob'), noon);
    await credentials.insertKey(aKey('k', 'bob'));
    await users.insert(aUser('bob'), 'hash');
    assert.equal(await credentials.findToken('t'), undefined);
    assert.equal(await credentials.findKey('hash-k'), undefined);
  },
};

/** What every engine promises of tokens and access keys. */
export function credentialsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, withAccounts);
}
