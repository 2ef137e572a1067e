import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aKey, aUser, keyId, noon, userId } from '../../../test/contract/storage/builders.ts';
import { createManualClock } from '../../../test/manual-clock.ts';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { hashPassword } from '../../lib/password-hash.ts';
import { hashSecret } from '../../lib/secret-token.ts';
import { DomainError } from '../errors.ts';
import { limits } from '../limits.ts';
import { silentReporter } from '../reporter.ts';
import { createAuthenticateClient } from './client-authentication.ts';
import { createFailureLimiters } from './failure-limiters.ts';
import { createDeviceCookies, createLogins } from './logins.ts';
import { createPasswordWork } from './password-work.ts';
import { createSessions } from './sessions.ts';

const anaId = userId('id-ana');
const address = '192.0.2.1';
const secret = `kpk_${'k'.repeat(43)}`;

async function aDoor() {
  const { storage, feed } = await openServiceStorage();
  const { users, credentials, failures: store } = storage;
  const clock = createManualClock(noon);
  await users.insert(
    aUser('ana', { profile: { email: 'ana@x.org' } }),
    await hashPassword('right'),
  );
  await credentials.insertKey({ ...aKey('k1', 'ana'), hash: hashSecret(secret) });
  const sessions = createSessions({ credentials, clock, changes: feed });
  const logins = createLogins({
    ...{ users, clock, reporter: silentReporter },
    work: createPasswordWork(),
    deviceCookies: createDeviceCookies('secret'),
    failures: createFailureLimiters({ clock, store }),
  });
  const admit = createAuthenticateClient({ users, logins, sessions });
  const as = (username: string, password: string) => admit({ username, password, address });
  return { users, credentials, clock, sessions, logins, admit, as };
}

const refused = (code: string) => (error: unknown) =>
  error instanceof DomainError && error.code === code;

test('nobody and guest are the guest at that address, for ever', async () => {
  const { admit, as } = await aDoor();
  const ways = [admit({ address }), as('guest', 'guest'), as('guest', ''), as('', '')];
  const guest = { kind: 'guest', address };
  for (const { actor, recheck } of await Promise.all(ways)) {
    assert.deepEqual([actor, await recheck()], [guest, guest]);
  }
  await assert.rejects(as('guest', 'other'), refused('unauthenticated'));
});

test('a password admits by username or e-mail until it changes or the account ends', async () => {
  const { users, as } = await aDoor();
  const ana = { kind: 'user', userId: anaId, username: 'ana' };
  assert.deepEqual((await as('ANA', 'right')).actor, ana);
  const admission = await as('ana@x.org', 'right');
  assert.deepEqual(admission.actor, ana);
  await users.update(anaId, { isAdmin: true });
  assert.deepEqual(await admission.recheck(), { ...ana, kind: 'admin' });
  await users.setPassword(anaId, await hashPassword('new'));
  assert.equal(await admission.recheck(), undefined);
  const second = await as('ana', 'new');
  await users.update(anaId, { isDisabled: true });
  assert.equal(await second.recheck(), undefined);
  await users.update(anaId, { isDisabled: false });
  await users.remove(anaId);
  assert.equal(await second.recheck(), undefined);
});

test('an access key admits with any username until it is deleted', async () => {
  const { credentials, as } = await aDoor();
  for (const username of ['', 'ana', 'my device']) {
    const { actor } = await as(username, secret);
    assert.equal(actor.kind === 'user' && actor.key?.keyId, 'k1');
  }
  const admission = await as('', secret);
  await credentials.removeKey(anaId, keyId('k1'));
  assert.equal(await admission.recheck(), undefined);
  await assert.rejects(as('ana', secret), refused('unauthenticated'));
});

test('a token admits until it expires', async () => {
  const { clock, sessions, logins, as } = await aDoor();
  const token = await sessions.open(
    await logins.logIn({ username: 'ana', password: 'right', address }),
    600,
  );
  const admission = await as('', token);
  assert.equal(admission.actor.kind, 'user');
  clock.advance(599_000);
  assert.equal((await admission.recheck())?.kind, 'user');
  clock.advance(1_000);
  assert.equal(await admission.recheck(), undefined);
  await assert.rejects(as('', token), refused('unauthenticated'));
});

test('a password that looks like a token is a password', async () => {
  const { users, as } = await aDoor();
  const password = 'p'.repeat(43);
  await users.setPassword(anaId, await hashPassword(password));
  assert.equal((await as('ana', password)).actor.kind, 'user');
  await assert.rejects(as('', password), refused('unauthenticated'));
});

test('wrong passwords count, and too many are refused whatever comes then', async () => {
  const { as } = await aDoor();
  for (let failure = 0; failure < limits.loginFailuresPerUser; failure += 1) {
    await assert.rejects(as('ana', 'wrong'), refused('unauthenticated'));
  }
  await assert.rejects(as('ana', 'right'), refused('rate_limited'));
  assert.equal((await as('ana', secret)).actor.kind, 'user');
});

test('half of a login is refused', async () => {
  const { as } = await aDoor();
  await assert.rejects(as('ana', ''), refused('unauthenticated'));
  await assert.rejects(as('', 'right'), refused('unauthenticated'));
});
