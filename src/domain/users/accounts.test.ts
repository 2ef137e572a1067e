import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseUserId, parseUsername } from '../ids.ts';
import { type UserFilter, userMatcher } from './accounts.ts';
import type { Profile, User } from './user.ts';

const day = 86_400_000;

function aUser(username: string, profile: Profile = {}, others: Partial<User> = {}): User {
  const id = parseUserId(`id-${username}`);
  const account = { id, username: parseUsername(username), createdAt: 10 * day, profile };
  return { ...account, isAdmin: false, isDisabled: false, ...others };
}

const users = [
  aUser('ama', { firstName: 'Ama', lastName: 'Mensah', email: 'Ama@farm.example' }),
  aUser('kofi', { phone: ['+233201234567'] }, { isDisabled: true, lastLoginAt: 20 * day }),
  aUser('jose', { firstName: 'José' }, { isAdmin: true, lastLoginAt: 30 * day }),
];

const found = (filter: UserFilter) =>
  users.filter(userMatcher(filter)).map(({ username }) => username);

test('a search finds every word in username, names, address or phone, in any spelling', () => {
  assert.deepEqual(found({ text: ' mensah AMA ' }), ['ama']);
  assert.deepEqual(found({ text: 'farm' }), ['ama']);
  assert.deepEqual(found({ text: '3320' }), ['kofi']);
  assert.deepEqual(found({ text: 'jose' }), ['jose']);
  assert.deepEqual(found({ text: 'JOSÉ' }), ['jose']);
  assert.deepEqual(found({ text: '' }), ['ama', 'kofi', 'jose']);
  assert.deepEqual(found({ text: 'ama kofi' }), []);
  assert.deepEqual(found({ username: 'AMA', text: 'mensah' }), ['ama']);
});

test('a filter shows a role, those who are locked out, or who never logged in', () => {
  assert.deepEqual(found({ role: 'admin' }), ['jose']);
  assert.deepEqual(found({ role: 'user' }), ['ama', 'kofi']);
  assert.deepEqual(found({ isDisabled: true }), ['kofi']);
  assert.deepEqual(found({ isDisabled: false, role: 'user' }), ['ama']);
  assert.deepEqual(found({ hasLoggedIn: false }), ['ama']);
  assert.deepEqual(found({ hasLoggedIn: true, text: 'kofi' }), ['kofi']);
});

test('an account that is older and had no login from a day on is inactive since then', () => {
  assert.deepEqual(found({ inactiveSince: 10 * day }), [], 'made that day');
  assert.deepEqual(found({ inactiveSince: 10 * day + 1 }), ['ama']);
  assert.deepEqual(found({ inactiveSince: 20 * day }), ['ama']);
  assert.deepEqual(found({ inactiveSince: 25 * day }), ['ama', 'kofi']);
});
