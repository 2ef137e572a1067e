import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aUser, noon } from '../../../test/contract/storage/builders.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import { findLoginCandidates, findResetTarget } from './logins.ts';
import type { AddressProof } from './user.ts';

const email = 'ana@x.org';
const profile = { email };

/** Accounts in order of creation: name, and how its e-mail address is proven, or has none. */
async function setUp(...accounts: readonly [string, AddressProof['by'] | 'not' | 'none'][]) {
  const { users } = await temporaryStorage();
  for (const [name, by] of accounts) {
    const isProven = by !== 'not' && by !== 'none';
    await users.insert(
      aUser(name, {
        profile: by === 'none' ? {} : profile,
        ...(isProven && { proofs: [{ channel: 'email', address: email, provenAt: noon, by }] }),
      }),
      'hash',
    );
  }
  return {
    candidates: async (text = 'ANA@x.org') =>
      (await findLoginCandidates(users, text)).map(({ user }) => user.username),
    target: async (text = email) => (await findResetTarget(users, text))?.login.user.username,
  };
}

test('a login by e-mail means the account that proved the address', async () => {
  const setup = await setUp(['thief', 'not'], ['ana', 'code'], ['later', 'administrator']);
  assert.deepEqual(await setup.candidates(), ['ana']);
  assert.equal(await setup.target(), 'ana');
  assert.deepEqual(await setup.candidates('thief'), ['thief']);
  assert.equal(await setup.target('thief'), undefined, 'an unproven address gets no mail');
});

test('where nobody proved it, the only account that has the address is meant', async () => {
  const alone = await setUp(['ana', 'not']);
  assert.deepEqual(await alone.candidates(), ['ana']);
  assert.equal(await alone.target(), undefined);
  const two = await setUp(['ana', 'not'], ['thief', 'not']);
  assert.deepEqual(await two.candidates(), []);
});

test('an account older than proofs is not robbed of its address by newcomers', async () => {
  const setup = await setUp(['ana', 'earlier'], ['thief', 'not']);
  assert.deepEqual(await setup.candidates(), ['ana']);
  assert.equal(await setup.target('ana'), 'ana');
  const two = await setUp(['first', 'earlier'], ['second', 'earlier']);
  assert.deepEqual(await two.candidates(), []);
  assert.equal(await two.target('first'), undefined);
});

test('a username that is an address hides nobody who has the address', async () => {
  const proven = await setUp([email, 'none'], ['ana', 'code']);
  assert.deepEqual(await proven.candidates(), ['ana', email]);
  assert.equal(await proven.target(), 'ana');
  const unproven = await setUp([email, 'none'], ['ana', 'not']);
  assert.deepEqual(await unproven.candidates(), [email, 'ana']);
  const own = await setUp([email, 'code']);
  assert.deepEqual(await own.candidates(), [email]);
});
