import assert from 'node:assert/strict';
import { limits } from '../../../src/domain/limits.ts';
import type { TokenBasis } from '../../../src/domain/users/credential-store.ts';
import type { Storage } from '../../../src/storage/storage.ts';
import {
  aKey,
  aLogin,
  aToken,
  aUser,
  byPassword,
  deviceId,
  keyId,
  noon,
  userId,
} from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

async function withAccounts({ users }: Storage): Promise<void> {
  await users.insert(aUser('ana', { isAdmin: true }), 'hash');
  await users.insert(aUser('bob'), 'hash');
}

const keysOf = async ({ listKeys }: Storage['credentials'], id: string) =>
  (await Array.fromAsync(listKeys(userId(id)))).flat();

const promises: Promises = {
  'a token is found by its hash with the account as it is now': async ({ users, credentials }) => {
    const token = aToken('t', 'ana');
    assert.equal(await credentials.insertToken(token, byPassword, noon), 'inserted');
    const bearer = { userId: userId('id-ana'), username: 'ana', isAdmin: true };
    assert.deepEqual(await credentials.findToken('t'), { ...token, bearer });
    await users.update(userId('id-ana'), { isAdmin: false });
    assert.equal((await credentials.findToken('t'))?.bearer.isAdmin, false);
    assert.equal(await credentials.findToken('T'), undefined);
  },

  'a token is removed once': async ({ credentials }) => {
    await credentials.insertToken(aToken('t', 'ana'), byPassword, noon);
    assert.equal(await credentials.removeToken('t'), 'removed');
    assert.equal(await credentials.removeToken('t'), 'missing');
    assert.equal(await credentials.findToken('t'), undefined);
  },

  'inserting a token removes expired ones': async ({ credentials }) => {
    await credentials.insertToken(aToken('old', 'ana', { expiresAt: noon + 1 }), byPassword, noon);
    await credentials.insertToken(aToken('good', 'ana', { expiresAt: noon + 3 }), byPassword, noon);
    assert.equal((await credentials.findToken('old'))?.expiresAt, noon + 1);
    await credentials.insertToken(aToken('new', 'bob'), byPassword, noon + 2);
    assert.equal(await credentials.findToken('old'), undefined);
    assert.equal((await credentials.findToken('good'))?.hash, 'good');
  },

  'an account keeps its newest tokens up to the limit': async ({ credentials }) => {
    await credentials.insertToken(aToken('of bob', 'bob'), byPassword, noon);
    const hashes = Array.from({ length: limits.tokensPerUserMax + 1 }, (_, index) => `t${index}`);
    await Promise.all(
      hashes.map((hash) => credentials.insertToken(aToken(hash, 'ana'), byPassword, noon)),
    );
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
    assert.deepEqual(await credentials.findKeyOf(userId('id-bob'), keyId('narrow')), narrow);
    assert.equal(await credentials.findKeyOf(userId('id-ana'), keyId('narrow')), undefined);
    assert.deepEqual(await keysOf(credentials, 'id-bob'), [wide, narrow]);
    assert.deepEqual(await keysOf(credentials, 'id-ana'), []);
  },

  'keys are listed few at a time, whichever are removed meanwhile': async ({ credentials }) => {
    const keys = Array.from({ length: 25 }, (_, n) => aKey(`k${n}`, 'bob'));
    for (const key of keys) assert.equal(await credentials.insertKey(key), 'inserted');
    const listed: string[] = [];
    for await (const step of credentials.listKeys(userId('id-bob'))) {
      assert.ok(step.length <= 10, `${step.length} keys at once`);
      listed.push(...step.map(({ id }) => id));
      const last = step.at(-1);
      if (last !== undefined) await credentials.removeKey(userId('id-bob'), last.id);
    }
    assert.deepEqual(
      listed,
      keys.map(({ id }) => id),
    );
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

  'a token is inserted only while what it rests on stands': async ({ users, credentials }) => {
    const renewing = { kind: 'token', hash: 't1' } as const;
    const insert = (hash: string, basis: TokenBasis, owner = 'bob') =>
      credentials.insertToken(aToken(hash, owner), basis, noon);
    assert.equal(await insert('t1', byPassword), 'inserted');
    assert.equal(await insert('t2', renewing), 'inserted');
    assert.equal(await insert('t3', renewing, 'ana'), 'gone', 'a token of another account');
    assert.equal(await insert('t3', { kind: 'token', hash: 'no such' }), 'gone');
    await credentials.removeToken('t1');
    assert.equal(await insert('t3', renewing), 'gone');
    await insert('t1', byPassword);
    // All at once, in this order: what comes after the new password rests on what is gone.
    const [before, , ...after] = await Promise.all([
      insert('t4', renewing),
      users.setPassword(userId('id-bob'), 'new hash'),
      insert('t5', renewing),
      insert('t6', byPassword),
      insert('t7', { kind: 'password', passwordHash: 'new hash' }),
    ]);
    assert.deepEqual([before, ...after], ['inserted', 'gone', 'gone', 'inserted']);
    for (const hash of ['t1', 't2', 't3', 't4', 't5', 't6']) {
      assert.equal(await credentials.findToken(hash), undefined, hash);
    }
    assert.equal((await credentials.findToken('t7'))?.hash, 't7');
  },

  'a browser login is found by its cookie, and by the one before': async ({ credentials }) => {
    const login = aLogin('l', 'bob');
    assert.equal(await credentials.insertSession(login, byPassword, noon), 'inserted');
    assert.deepEqual(await credentials.findSession('hash-l'), login);
    const renewal = { hash: 'next', address: '::1', lastUsedAt: noon + 5, expiresAt: noon + 99 };
    assert.equal(await credentials.renewSession('hash-l', renewal), 'renewed');
    assert.equal(await credentials.renewSession('hash-l', renewal), 'gone', 'only the newest');
    const renewed = { ...login, ...renewal, replaced: { hash: 'hash-l', at: noon + 5 } };
    assert.deepEqual(await credentials.findSession('next'), renewed);
    assert.deepEqual(await credentials.findSession('hash-l'), renewed);
    assert.equal(await credentials.findSession('other'), undefined);
    assert.deepEqual(await credentials.listSessions(userId('id-bob')), [renewed]);
    assert.deepEqual(await credentials.listSessions(userId('id-ana')), []);
  },

  'a token ends with the browser login that it came from': async ({ credentials }) => {
    const session = { kind: 'session', id: 'l' } as const;
    const insert = (hash: string, owner = 'bob') =>
      credentials.insertToken(aToken(hash, owner, { sessionId: 'l' }), session, noon);
    assert.equal(await insert('t'), 'gone');
    await credentials.insertSession(aLogin('l', 'bob'), byPassword, noon);
    assert.equal(await insert('t', 'ana'), 'gone', 'a login of another account');
    assert.equal(await insert('t'), 'inserted');
    assert.equal((await credentials.findToken('t'))?.sessionId, 'l');
    assert.equal(await credentials.removeSession(userId('id-ana'), 'l'), 'missing');
    assert.equal(await credentials.removeSession(userId('id-bob'), 'l'), 'removed');
    assert.equal(await credentials.removeSession(userId('id-bob'), 'l'), 'missing');
    assert.equal(await credentials.findToken('t'), undefined);
    assert.equal(await insert('t'), 'gone');
  },

  'a new password ends all browser logins but the one that is kept': async ({
    users,
    credentials,
  }) => {
    for (const id of ['one', 'two']) {
      await credentials.insertSession(aLogin(id, 'bob'), byPassword, noon);
    }
    await credentials.insertSession(aLogin('of ana', 'ana'), byPassword, noon);
    const ids = async () => (await credentials.listSessions(userId('id-bob'))).map(({ id }) => id);
    await users.setPassword(userId('id-bob'), 'second', { exceptSession: 'two' });
    assert.deepEqual(await ids(), ['two']);
    const late = aLogin('late', 'bob');
    assert.equal(await credentials.insertSession(late, byPassword, noon), 'gone');
    await users.setPassword(userId('id-bob'), 'third');
    assert.deepEqual(await ids(), []);
    assert.equal((await credentials.findSession('hash-of ana'))?.id, 'of ana');
    await users.update(userId('id-ana'), { isDisabled: true });
    assert.equal(await credentials.findSession('hash-of ana'), undefined);
  },

  'an account keeps the browser logins used last, up to the limit': async ({ credentials }) => {
    const count = limits.sessionsPerUserMax + 2;
    for (let index = 0; index < count; index += 1) {
      const times = { lastUsedAt: noon + index, expiresAt: noon + 1_000 };
      await credentials.insertSession(aLogin(`l${index}`, 'bob', times), byPassword, noon);
    }
    const left = await credentials.listSessions(userId('id-bob'));
    assert.equal(left.length, limits.sessionsPerUserMax);
    assert.equal(left[0]?.id, `l${count - 1}`, 'used last, listed first');
    assert.equal(await credentials.findSession('hash-l1'), undefined);
    await credentials.insertSession(aLogin('new', 'bob'), byPassword, noon + 1_000);
    const ids = (await credentials.listSessions(userId('id-bob'))).map(({ id }) => id);
    assert.deepEqual(ids, ['new'], 'those that expired went');
  },

  'disabling an account ends its credentials for good, and it gets no new ones': async ({
    users,
    credentials,
  }) => {
    await credentials.insertKey(aKey('k', 'bob'));
    await credentials.insertKey(aKey('of ana', 'ana'));
    await credentials.insertToken(aToken('t', 'bob'), byPassword, noon);
    await users.update(userId('id-bob'), { isDisabled: true });
    assert.equal(await credentials.insertToken(aToken('t2', 'bob'), byPassword, noon), 'gone');
    assert.equal(await credentials.insertKey(aKey('k2', 'bob')), 'gone');
    await users.update(userId('id-bob'), { isDisabled: false });
    for (const key of ['k', 'k2'])
      assert.equal(await credentials.findKey(`hash-${key}`), undefined);
    for (const token of ['t', 't2']) assert.equal(await credentials.findToken(token), undefined);
    assert.deepEqual(await keysOf(credentials, 'id-bob'), []);
    assert.equal((await credentials.findKey('hash-of ana'))?.id, 'of ana');
  },

  'credentials of an account that ended meanwhile are never found': async ({
    users,
    credentials,
  }) => {
    await users.remove(userId('id-bob'));
    assert.equal(await credentials.insertToken(aToken('t', 'bob'), byPassword, noon), 'gone');
    assert.equal(await credentials.insertKey(aKey('k', 'bob')), 'gone');
    await users.insert(aUser('bob'), 'hash');
    assert.equal(await credentials.findToken('t'), undefined);
    assert.equal(await credentials.findKey('hash-k'), undefined);
  },
};

/** What every engine promises of tokens and access keys. */
export function credentialsContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, withAccounts);
}
