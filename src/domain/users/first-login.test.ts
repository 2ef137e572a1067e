import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openServiceStorage } from '../../../test/service-storage.ts';
import { parseUsername } from '../ids.ts';
import { ensureAdmin } from './first-login.ts';

const clock = { now: () => 1_000_000 };
const passwordCost = { memoryKibibytes: 8, passes: 1 };

test('of processes that start at once one makes the first admin, and none complains', async () => {
  const { users } = (await openServiceStorage()).storage;
  const username = parseUsername('admin');
  const starts = [1, 2, 3].map(() => ensureAdmin({ users, clock, username, passwordCost }));
  const told = (await Promise.all(starts)).filter((made) => made.generatedPassword !== undefined);
  assert.equal(told.length, 1);
  assert.equal(await users.countAdmins(), 1);
});

test('where imported data has an admin, a start makes none and says so', async () => {
  const { users } = (await openServiceStorage()).storage;
  const [username, another] = [parseUsername('admin'), parseUsername('root')];
  const made = await ensureAdmin({ users, clock, username: another, password: 'p', passwordCost });
  assert.deepEqual(made, {});
  const outcome = await ensureAdmin({ users, clock, username, password: 'q', passwordCost });
  assert.deepEqual(outcome, { isThere: true });
  assert.equal(await users.findByUsername('admin'), undefined);
});
