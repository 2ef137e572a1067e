import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashPassword } from '../../lib/password-hash.ts';
import { createLogins } from './logins.ts';
import type { User } from './user.ts';

const cheap = { memoryKibibytes: 64, passes: 1 };

test('a right password is hashed once for clients that come back, until it changes', async () => {
  const user = { id: 'u1', username: 'ama', isDisabled: false, profile: {} } as unknown as User;
  let passwordHash = await hashPassword('the first password', cheap);
  let hashed = 0;
  const limiter = {
    blockedForMs: () => 0,
    hasFailed: () => false,
    recordFailure() {},
    forgive() {},
  };
  const logins = createLogins({
    users: {
      findLogin: async () => ({ user, passwordHash }),
      knowsNetwork: async () => true,
      rememberNetwork: async () => undefined,
    },
    work: {
      nobodysHash: async () => passwordHash,
      sequential: (_place: unknown, task: () => Promise<unknown>) => {
        hashed += 1;
        return task();
      },
    },
    deviceCookies: { recognise: () => undefined },
    failures: { of: () => limiter, told: async () => undefined },
    clock: { now: () => 0 },
    reporter: { loginFailed() {}, loginSucceeded() {} },
  } as unknown as Parameters<typeof createLogins>[0]);
  const logIn = (password: string, comesBack: boolean) =>
    logins.logIn({
      ...{ username: 'ama', password, address: '192.0.2.1' },
      ...(comesBack && { comesBack }),
    });
  await logIn('the first password', true);
  await logIn('the first password', true);
  assert.equal(hashed, 1);
  await logIn('the first password', false);
  assert.equal(hashed, 2, 'a person is checked each time');
  await assert.rejects(logIn('a wrong password', true));
  assert.equal(hashed, 3, 'a wrong one costs a hash');
  passwordHash = await hashPassword('the second password', cheap);
  await assert.rejects(logIn('the first password', true));
  await logIn('the second password', true);
  assert.equal(hashed, 5);
});
