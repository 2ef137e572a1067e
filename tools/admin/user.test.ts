import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isProven } from '../../src/domain/users/address-proofs.ts';
import type { UserStore } from '../../src/domain/users/user.ts';
import { verifyPassword } from '../../src/lib/password-hash.ts';
import { createManualClock } from '../../test/manual-clock.ts';
import { addAccount, allAccounts, replacePassword } from './account-work.ts';
import { openAccounts } from './open-for-commands.ts';
import { importAccounts, parseImport } from './user-import.ts';

const clock = createManualClock(Date.parse('2026-01-02T03:04:05Z'));

async function withUsers(work: (users: UserStore) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-user-'));
  const accounts = await openAccounts(
    { kind: 'sqlite', directory },
    { makes: true, textOf: String },
  );
  try {
    await work(accounts.users);
  } finally {
    await accounts.close();
    rmSync(directory, { recursive: true });
  }
}

const ama = { username: 'ama', password: 'long enough', isAdmin: false, profile: {} };

function importAll(users: UserStore, entries: readonly unknown[]) {
  const progress: number[] = [];
  const onProgress = (done: number) => progress.push(done);
  return importAccounts({ entries, users, clock, onProgress }).then((report) => ({
    ...report,
    progress,
  }));
}

test('an added account can log in and has what was said about it', () =>
  withUsers(async (users) => {
    await addAccount({ users, clock }, { ...ama, isAdmin: true, profile: { email: 'a@b.c' } });
    const [login] = await users.findByEmail('a@b.c');
    assert.ok(login !== undefined);
    assert.ok(await verifyPassword('long enough', login.passwordHash));
    assert.equal(login.user.isAdmin, true);
    assert.equal(login.user.createdAt, clock.now());
    assert.ok(isProven(login.user, 'email', 'A@b.c'), 'an administrator gave it');
  }));

test('a taken, reserved or malformed username and a short password are refused', () =>
  withUsers(async (users) => {
    await addAccount({ users, clock }, ama);
    const add = (changes: object) => addAccount({ users, clock }, { ...ama, ...changes });
    await assert.rejects(add({ username: 'AMA' }), { code: 'conflict' });
    await assert.rejects(add({ username: 'guest' }), { code: 'invalid' });
    await assert.rejects(add({ username: 'a b' }), { code: 'invalid' });
    await assert.rejects(add({ username: 'kofi', password: 'short' }), { code: 'invalid' });
    assert.equal((await users.list({ limit: 10, offset: 0 })).total, 1);
  }));

test('a new password replaces the old one; an unknown user is refused', () =>
  withUsers(async (users) => {
    await addAccount({ users, clock }, ama);
    await replacePassword({ users }, { username: 'ama', password: 'even longer' });
    const login = await users.findLogin('ama');
    assert.ok(await verifyPassword('even longer', login?.passwordHash ?? ''));
    assert.ok(!(await verifyPassword('long enough', login?.passwordHash ?? '')));
    await assert.rejects(
      replacePassword({ users }, { username: 'kofi', password: 'long enough' }),
      {
        code: 'not_found',
      },
    );
  }));

test('an import keeps ids, profiles in both spellings, admins and weak passwords', () =>
  withUsers(async (users) => {
    const report = await importAll(users, [
      { id: 'id-1', username: 'ama', password: '1', first_name: 'Ama', phone: '+233 20-123-4567' },
      { username: 'kofi', password: '2', admin: true, lastName: 'K', twitter: ['k'] },
      { username: 'esi', password: '3' },
    ]);
    assert.deepEqual(report, { added: 3, refused: [], progress: [3] });
    const names: string[] = [];
    for await (const user of allAccounts(users)) names.push(user.username);
    assert.deepEqual(names, ['ama', 'kofi', 'esi'], 'in the order of the file');
    const first = await users.findLogin('ama');
    assert.equal(first?.user.id, 'id-1');
    assert.deepEqual(first?.user.profile, { firstName: 'Ama', phone: ['+233201234567'] });
    assert.ok(await verifyPassword('1', first?.passwordHash ?? ''));
    const second = await users.findByUsername('kofi');
    assert.deepEqual([second?.isAdmin, second?.profile.twitter], [true, ['k']]);
  }));

test('an entry that cannot be added is told with its reason and does not stop the others', () =>
  withUsers(async (users) => {
    await addAccount({ users, clock }, ama);
    const { added, refused } = await importAll(users, [
      { username: 'ama', password: 'x' },
      { id: 'id-2', username: 'kofi', password: 'x' },
      { id: 'id-2', username: 'esi', password: 'x' },
      { username: 'Kofi', password: 'x' },
      { username: 'yaw' },
      { username: 'yaw', password: '' },
      { username: 'yaw', password: 'x', admin: 'yes' },
      { username: 'yaw', password: 'x', email: 5 },
      { username: 'guest', password: 'x' },
      { username: 'yaw', password: 'x', id: 'a b' },
      { username: 'yaw', password: 'x', id: 'me' },
      { password: 'x' },
      'yaw',
      null,
      { username: 'abena', password: 'x' },
    ]);
    assert.equal(added, 2);
    assert.deepEqual(
      refused.map(({ entry }) => entry),
      [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14],
    );
    assert.deepEqual(refused[0], {
      entry: 1,
      username: 'ama',
      reason: 'the username ama is taken',
    });
    assert.match(refused[1]?.reason ?? '', /id id-2 is taken/);
    assert.match(refused[2]?.reason ?? '', /username Kofi is taken/);
    assert.match(refused[5]?.reason ?? '', /admin must be true or false/);
    assert.match(refused[12]?.reason ?? '', /must be an object/);
  }));

test('a file that is no JSON array is refused as a whole', () => {
  assert.throws(() => parseImport('{"username":"ama"}'), /must hold a JSON array/);
  assert.throws(() => parseImport('[{'), /is not JSON/);
  assert.deepEqual(parseImport('[]'), []);
});
