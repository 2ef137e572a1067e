import assert from 'node:assert/strict';
import { limits } from '../../../src/domain/limits.ts';
import type { PendingReset } from '../../../src/domain/users/password-resets.ts';
import { aUser, noon, userId } from './builders.ts';
import { type OpenEmptyStorage, type Promises, testPromises } from './promises.ts';

const [ana, bob] = [userId('id-ana'), userId('id-bob')];

const aReset = (codeHash: string, changes: Partial<PendingReset> = {}): PendingReset => ({
  ...{ userId: ana, codeHash, expiresAt: noon + 10, provenAt: noon - 10 },
  ...changes,
});

const failed = (key: string, failures: number, endsAt = noon + 10) => ({ key, failures, endsAt });

const promises: Promises = {
  'the secret of the installation is made once': async ({ installation }) => {
    const secret = await installation.secret();
    assert.match(secret, /^[0-9a-f]{64}$/);
    assert.equal(await installation.secret(), secret);
  },

  'an installation without a backup says so': async ({ installation }) => {
    assert.equal(await installation.lastBackupAt(), undefined);
  },

  'settings of the installation are kept until they are taken away': async ({ installation }) => {
    assert.deepEqual(await installation.settings(), {});
    await installation.changeSettings({ signUp: 'closed' });
    await installation.changeSettings({});
    assert.deepEqual(await installation.settings(), { signUp: 'closed' });
    await installation.changeSettings({ signUp: 'open' });
    assert.deepEqual(await installation.settings(), { signUp: 'open' });
    await installation.changeSettings({ signUp: null });
    assert.deepEqual(await installation.settings(), {});
  },

  'a code is found for its account alone, until it expires': async ({ passwordResets }) => {
    await passwordResets.insert(aReset('one'), noon);
    assert.deepEqual(await passwordResets.find(ana, 'one', noon + 9), aReset('one'));
    assert.equal(await passwordResets.find(ana, 'one', noon + 10), undefined);
    assert.equal(await passwordResets.find(ana, 'two', noon), undefined);
    assert.equal(await passwordResets.find(bob, 'one', noon), undefined);
    assert.equal(await passwordResets.take(bob, 'one', noon), undefined);
    assert.equal(await passwordResets.take(ana, 'one', noon + 10), undefined);
  },

  'of those who take a code at once one gets it, and the others of the account are gone': async ({
    passwordResets,
  }) => {
    for (const hash of ['one', 'two']) await passwordResets.insert(aReset(hash), noon);
    await passwordResets.insert(aReset('of bob', { userId: bob }), noon);
    const taken = await Promise.all(
      ['one', 'two', 'one'].map((hash) => passwordResets.take(ana, hash, noon)),
    );
    assert.equal(taken.filter((reset) => reset !== undefined).length, 1);
    for (const hash of ['one', 'two']) {
      assert.equal(await passwordResets.find(ana, hash, noon), undefined);
    }
    assert.equal((await passwordResets.find(bob, 'of bob', noon))?.codeHash, 'of bob');
  },

  'codes go with their account, and none is kept for one that is gone': async ({
    passwordResets,
    users,
  }) => {
    await passwordResets.insert(aReset('one'), noon);
    await users.remove(ana);
    await passwordResets.insert(aReset('two'), noon);
    await users.insert(aUser('ana'), 'hash');
    for (const hash of ['one', 'two']) {
      assert.equal(await passwordResets.find(ana, hash, noon), undefined, hash);
    }
  },

  'more codes than the limit push out those that expire first': async ({ passwordResets }) => {
    await passwordResets.insert(aReset('first', { expiresAt: noon + 1 }), noon - 1);
    await passwordResets.insert(aReset('last', { expiresAt: noon + 3 }), noon - 1);
    for (let count = 0; count < limits.passwordResetsMax - 1; count += 1) {
      const reset = aReset(`${count}`, { userId: bob, expiresAt: noon + 2 });
      void passwordResets.insert(reset, noon - 1);
    }
    await passwordResets.insert(aReset('newest', { expiresAt: noon + 4 }), noon - 1);
    assert.equal(await passwordResets.find(ana, 'first', noon), undefined);
    assert.equal((await passwordResets.find(ana, 'last', noon))?.codeHash, 'last');
  },

  'failures are loaded by the name of their counter, until they end': async ({ failures }) => {
    await failures.save('a', [failed('k', 3), failed('over', 3, noon + 1)], noon);
    await failures.save('b', [failed('k', 7)], noon);
    assert.deepEqual(await failures.load('a', noon + 1), [failed('k', 3)]);
    assert.deepEqual(await failures.load('b', noon), [failed('k', 7)]);
    assert.deepEqual(await failures.load('c', noon), []);
  },

  'what is saved later counts, and what is forgiven is gone': async ({ failures }) => {
    await failures.save('a', [failed('k', 3), failed('kept', 1)], noon);
    await failures.save('a', [failed('k', 4), failed('new', 1)], noon);
    await failures.save('a', [failed('new', 0, 0)], noon);
    const byKey = new Map((await failures.load('a', noon)).map((one) => [one.key, one.failures]));
    assert.deepEqual([...byKey].sort(), [
      ['k', 4],
      ['kept', 1],
    ]);
  },

  'more keys of a counter than the limit push out those that end first': async ({ failures }) => {
    const max = limits.loginFailureEntriesMax;
    await failures.save('a', [failed('first', 1, noon + 1)], noon);
    const others = Array.from({ length: max }, (_, index) => failed(`k${index}`, 1, noon + 2));
    await failures.save('a', others, noon);
    const loaded = await failures.load('a', noon);
    assert.equal(loaded.length, max);
    assert.ok(!loaded.some(({ key }) => key === 'first'));
  },

  'a call is found with its text, and a later text takes its place': async ({ callTexts }) => {
    const text = { callId: 'c', text: '<Maji> \u{1f4a7}', until: noon + 10 };
    await callTexts.put(text, noon);
    assert.deepEqual(await callTexts.find('c'), text);
    assert.equal(await callTexts.find('d'), undefined);
    await callTexts.put({ ...text, text: 'later' }, noon);
    assert.equal((await callTexts.find('c'))?.text, 'later');
  },

  'texts that ended go, and of too many those that end first': async ({ callTexts }) => {
    await callTexts.put({ callId: 'over', text: 'x', until: noon - 1 }, noon - 2);
    await callTexts.put({ callId: 'first', text: 'x', until: noon + 1 }, noon);
    assert.equal(await callTexts.find('over'), undefined);
    const puts = Array.from({ length: limits.callTextsMax }, (_, index) =>
      callTexts.put({ callId: `c${index}`, text: 'x', until: noon + 2 }, noon),
    );
    await Promise.all(puts);
    assert.equal(await callTexts.find('first'), undefined);
    assert.equal((await callTexts.find('c0'))?.until, noon + 2);
  },
};

export function shortLivedContract(openEmptyStorage: OpenEmptyStorage): void {
  testPromises(promises, openEmptyStorage, async ({ users }) => {
    for (const name of ['ana', 'bob']) await users.insert(aUser(name), 'hash');
  });
}
