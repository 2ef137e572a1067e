import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/domain/limits.ts';
import { temporaryDirectory } from '../contract/storage/temporary-directory.ts';
import { createManualClock } from '../manual-clock.ts';
import { type Service, type ServiceOptions, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const noon = Date.UTC(2026, 10, 22, 12);

const startByHand = (options: ServiceOptions = {}) =>
  startService({ isStartedByHand: true, ...options });

const follow = (service: Service, secret: string | undefined, more: object = {}) =>
  service.call({ method: 'POST', path: '/auth/first', json: { secret, ...more } });

const logIn = (service: Service, password: string) =>
  service.call({ method: 'POST', path: '/auth/token', json: { username: 'admin', password } });

test('the link of a first start logs the administrator in, once', async () => {
  await using service = await startByHand();
  const secret = service.app.firstLoginSecret;
  assert.match(secret ?? '', /^[\w-]{43}$/);
  const replies = await Promise.all([1, 2, 3].map(() => follow(service, secret)));
  const [done, ...others] = replies.sort((left, right) => left.status - right.status);
  assert.equal(done?.status, 200);
  assert.equal(done.headers.get('cache-control'), 'no-store');
  assert.equal(done.headers.get('content-encoding'), null);
  for (const other of others) assertRefused(other, 401);
  const me = await service.call({ path: '/users/me', token: done.text });
  const { username, admin } = me.json as { username: string; admin: boolean };
  assert.deepEqual({ username, admin }, { username: 'admin', admin: true });
});

test('the link sets a password once, which is checked before the link is spent', async () => {
  await using service = await startByHand();
  const secret = service.app.firstLoginSecret;
  assertRefused(await follow(service, secret, { password: 'short' }), 400);
  const reply = await follow(service, secret, { password: 'a password of hers' });
  assert.equal(reply.status, 200);
  assert.equal((await service.call({ path: '/users/me', token: reply.text })).status, 200);
  assert.equal((await logIn(service, 'a password of hers')).status, 200);
  assertRefused(await follow(service, secret, { password: 'another of hers' }), 401);
  assertRefused(await logIn(service, 'another of hers'), 401);
});

test('the link is good for an hour', async () => {
  for (const [ageMs, status] of [
    [limits.firstLoginMs - 1, 200],
    [limits.firstLoginMs, 401],
  ] as const) {
    const clock = createManualClock(noon);
    await using service = await startByHand({ clock });
    clock.advance(ageMs);
    assert.equal((await follow(service, service.app.firstLoginSecret)).status, status, `${ageMs}`);
  }
  assert.equal(limits.firstLoginMs, 3_600_000);
});

test('the link is good after a restart, which makes no other', async (context) => {
  const directory = temporaryDirectory(context);
  let secret: string | undefined;
  {
    await using service = await startByHand({ directory });
    secret = service.app.firstLoginSecret;
  }
  await using service = await startByHand({ directory });
  assert.equal(service.app.firstLoginSecret, undefined);
  assert.equal((await follow(service, secret)).status, 200);
  assertRefused(await follow(service, secret), 401);
});

test('the link ends when the password is changed', async () => {
  await using service = await startByHand();
  const old = service.generatedPassword ?? '';
  const { text: token } = await logIn(service, old);
  const { id } = (await service.call({ path: '/users/me', token })).json as { id: string };
  const json = { password: 'a password of hers', old_password: old };
  const path = `/users/${id}/password`;
  assertDone(await service.call({ method: 'PUT', path, token, json }));
  assertRefused(await follow(service, service.app.firstLoginSecret), 401);
  assert.equal((await logIn(service, json.password)).status, 200);
});

test('a wrong secret is refused, and many are too many, for one network alone', async () => {
  const environment = { KIPIMO_TRUSTED_PROXIES: '127.0.0.1' };
  const clock = createManualClock(noon);
  await using service = await startByHand({ environment, clock });
  const secret = service.app.firstLoginSecret;
  const from = (address: string, sent: string | undefined) =>
    service.call({
      ...{ method: 'POST', path: '/auth/first', json: { secret: sent } },
      headers: { 'x-forwarded-for': address },
    });
  for (const wrong of ['', 'x'.repeat(43), secret?.toUpperCase()]) {
    assertRefused(await from('192.0.2.1', wrong), 401);
  }
  for (let count = 3; count < limits.loginFailuresPerAddress; count += 1) {
    assertRefused(await from('192.0.2.1', 'wrong'), 401);
  }
  assertRefused(await from('192.0.2.1', secret), 429);
  clock.advance(limits.loginFailureWindowMs);
  assert.equal((await from('192.0.2.1', secret)).status, 200);
});

test('no other start makes a link, and the secret is no code for a new password', async () => {
  {
    await using service = await startService();
    assert.equal(service.app.firstLoginSecret, undefined);
  }
  await using service = await startByHand();
  const json = {
    ...{ username: 'admin', password: 'of a stranger' },
    code: service.app.firstLoginSecret,
  };
  assertRefused(await service.call({ method: 'POST', path: '/auth/reset/confirm', json }), 401);
});
