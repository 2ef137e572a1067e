import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { User } from '../../api/types.ts';
import { creditOf, usersThatFit } from './user-words.ts';

const aUser = (username: string, others: Partial<User> = {}): User => ({
  id: username,
  createdTime: 0,
  username,
  ...others,
});

test('a search finds every word in username, names or address, in any case', () => {
  const ama = aUser('ama', { firstName: 'Ama', lastName: 'Mensah', email: 'ama@farm.example' });
  const users = [ama, aUser('kofi', { phone: ['+233201234567'] })];
  assert.deepEqual(usersThatFit(users, ' mensah AMA '), [ama]);
  assert.deepEqual(usersThatFit(users, 'farm'), [ama]);
  assert.deepEqual(usersThatFit(users, '3320'), [users[1]]);
  assert.deepEqual(usersThatFit(users, ''), users);
  assert.deepEqual(usersThatFit(users, 'ama kofi'), []);
});

test('a credit is a whole number, or nothing for no limit', () => {
  assert.equal(creditOf(' 12 '), 12);
  assert.equal(creditOf('0'), 0);
  assert.equal(creditOf(''), 'unlimited');
  for (const text of ['-1', '1.5', 'many', '1e3', '99999999999999999999']) {
    assert.equal(creditOf(text), undefined, text);
  }
});
