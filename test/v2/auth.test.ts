import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { adminPassword, passwordOf, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const start = Date.parse('2026-03-01T08:00:00.000Z');
const second = 1_000;
const day = 24 * 60 * 60 * second;
const clock = createManualClock(start);
let service: Service;

before(async () => {
  service = await startService({ clock });
  const password = passwordOf('ama');
  const account = { username: 'ama', password, email: 'ama@example.org' };
  await service.call({ method: 'POST', path: '/users', json: account });
  await service.tokenOf('kofi');
});

after(() => service[Symbol.asyncDispose]());

const logIn = (username: string, password: string, headers: Record<string, string> = {}) =>
  service.call({ method: 'POST', path: '/auth/token', json: { username, password }, headers });

async function freshToken(username = 'ama', at = service): Promise<string> {
  const json = { username, password: passwordOf(username) };
  const reply = await at.call({ method: 'POST', path: '/auth/token', json });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

const basic = (username: string, password: string) =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** Who the service takes the sender for: a username, 'guest', or a status other than 200. */
async function whoIs(authorization: string | undefined, at = service): Promise<unknown> {
  const headers = authorization === undefined ? {} : { authorization };
  const list = await at.call({ path: '/devices', headers });
  if (list.status !== 200) return list.status;
  const reply = await at.call({ path: '/users/me', headers });
  return reply.status === 403 ? 'guest' : (reply.json as { username: string }).username;
}

test('a username and a password, or an e-mail address and a password, get a token', async () => {
  for (const username of ['ama', 'ama@example.org']) {
    const reply = await logIn(username, passwordOf('ama'));
    assert.equal(reply.status, 200, reply.text);
    assert.match(reply.text, /^\S{20,}$/);
    assert.equal(await whoIs(`Bearer ${reply.text}`), 'ama');
  }
});

test('a token is raw text unless Accept names JSON ahead of text', async () => {
  const raw = ['*/*', 'text/plain', 'text/plain, application/json', 'text/html, */*', 'image/png'];
  raw.push('application/json;q=0.5, text/plain');
  const json = ['application/json', 'application/json, text/plain, */*'];
  json.push('text/plain;q=0.5, application/json');
  for (const accept of [...raw, ...json]) {
    const reply = await logIn('ama', passwordOf('ama'), { accept });
    assert.equal(reply.status, 200, accept);
    const isJson = json.includes(accept);
    assert.equal(reply.text.startsWith('"'), isJson, `${accept}: ${reply.text.slice(0, 3)}…`);
    const type = reply.headers.get('content-type') ?? '';
    assert.match(type, isJson ? /^application\/json/ : /^text\/plain/);
    const token = isJson ? reply.json : reply.text;
    assert.equal(await whoIs(`Bearer ${token}`), 'ama', accept);
  }
});

test('GET /auth/token takes HTTP Basic', async () => {
  const get = (authorization?: string) =>
    service.call({ path: '/auth/token', headers: authorization ? { authorization } : {} });
  const reply = await get(basic('ama', passwordOf('ama')));
  assert.equal(reply.status, 200);
  assert.equal(await whoIs(`Bearer ${reply.text}`), 'ama');
  assertRefused(await get(basic('ama', 'wrong password')), 401);
  assertRefused(await get(), 401);
});

test('a wrong password and an unknown user cannot be told apart', async () => {
  const wrong = await logIn('ama', 'wrong password');
  const unknown = await logIn('nobody-here', 'wrong password');
  assertRefused(wrong, 401);
  assertRefused(unknown, 401);
  assert.equal(wrong.text, unknown.text);
});

test('a login without a username or password is malformed', async () => {
  for (const json of [
    { username: 'ama' },
    { password: 'x' },
    {},
    [],
    { username: 1, password: 2 },
  ]) {
    const reply = await service.call({ method: 'POST', path: '/auth/token', json });
    assertRefused(reply, 400, { of: JSON.stringify(json) });
  }
});

test('no Authorization, an empty one and a bare Bearer are the guest', async () => {
  for (const authorization of [undefined, '', 'Bearer', 'bearer', 'Bearer ']) {
    assert.equal(await whoIs(authorization), 'guest', `header ${authorization}`);
  }
});

test('double quotes around a token are taken off', async () => {
  const token = await freshToken();
  assert.equal(await whoIs(`Bearer "${token}"`), 'ama');
  assert.equal(await whoIs(`bearer ${token}`), 'ama');
});

test('an Authorization header that is present but not valid is 401, never the guest', async () => {
  const token = await freshToken();
  const broken = [
    'Bearer no-such-token',
    `Bearer ${token}x`,
    `Bearer ${token} ${token}`,
    `Token ${token}`,
    token,
    basic('ama', passwordOf('ama')),
    'Bearer kpk_0123456789',
  ];
  for (const authorization of broken) {
    const reply = await service.call({ path: '/devices', headers: { authorization } });
    assertRefused(reply, 401, { of: authorization.slice(0, 20) });
  }
});

test('a token lives exactly ten minutes', async () => {
  clock.set(start);
  const token = await freshToken();
  clock.set(start + 600 * second - 1);
  assert.equal(await whoIs(`Bearer ${token}`), 'ama');
  clock.set(start + 600 * second);
  assert.equal(await whoIs(`Bearer ${token}`), 401);
});

test('a stale token beside the credentials does not hinder the login', async () => {
  const token = await freshToken();
  clock.advance(600 * second);
  const authorization = `Bearer ${token}`;
  const reply = await logIn('ama', passwordOf('ama'), { authorization });
  assert.equal(reply.status, 200);
  assert.equal(await whoIs(`Bearer ${reply.text}`), 'ama');
});

test('a valid token is renewed for a fresh one that lives ten minutes more', async () => {
  const token = await freshToken();
  clock.advance(599 * second);
  const renewed = await service.call({ method: 'POST', path: '/auth/renew', token });
  assert.equal(renewed.status, 200);
  assert.notEqual(renewed.text, token);
  clock.advance(599 * second);
  assert.equal(await whoIs(`Bearer ${renewed.text}`), 'ama');
  assert.equal(await whoIs(`Bearer ${token}`), 401);
  assertRefused(await service.call({ method: 'POST', path: '/auth/renew', token }), 401);
  assertRefused(await service.call({ method: 'POST', path: '/auth/renew' }), 401);
});

test('renewal ends thirty days after the login, however often it was renewed', async () => {
  const clock = createManualClock(start);
  const environment = { KIPIMO_TOKEN_TTL_S: String(20 * 24 * 60 * 60) };
  await using service = await startService({ clock, environment });
  const renew = (token: string) => service.call({ method: 'POST', path: '/auth/renew', token });
  const json = { username: 'admin', password: adminPassword };
  const first = (await service.call({ method: 'POST', path: '/auth/token', json })).text;
  clock.advance(19 * day);
  const second = await renew(first);
  assert.equal(second.status, 200);
  clock.set(start + 30 * day - 1);
  assert.equal((await renew(second.text)).status, 200);
  clock.set(start + 30 * day);
  assertRefused(await renew(second.text), 401);
});

test('DELETE /auth/token ends this token and no other', async () => {
  const [token, other] = [await freshToken(), await freshToken()];
  assertDone(await service.call({ method: 'DELETE', path: '/auth/token', token }));
  assert.equal(await whoIs(`Bearer ${token}`), 401);
  assert.equal(await whoIs(`Bearer ${other}`), 'ama');
  assertRefused(await service.call({ method: 'DELETE', path: '/auth/token', token }), 401);
});

test('ten failed logins make a user wait a minute, and nobody else', async () => {
  clock.advance(day);
  for (let failure = 1; failure <= 10; failure += 1) {
    assertRefused(await logIn('kofi', 'wrong password'), 401, { of: `failure ${failure}` });
  }
  const refused = await logIn('kofi', passwordOf('kofi'));
  assertRefused(refused, 429);
  const waitSeconds = Number(refused.headers.get('retry-after'));
  assert.ok(waitSeconds >= 1 && waitSeconds <= 60, `Retry-After: ${waitSeconds}`);
  const byBasic = { authorization: basic('KOFI', passwordOf('kofi')) };
  assertRefused(await service.call({ path: '/auth/token', headers: byBasic }), 429);
  assert.equal((await logIn('ama', passwordOf('ama'))).status, 200);
  clock.advance(waitSeconds * second);
  assert.equal((await logIn('kofi', passwordOf('kofi'))).status, 200);
});

test('a login that succeeds forgives the failures before it', async () => {
  clock.advance(day);
  for (let round = 1; round <= 2; round += 1) {
    for (let failure = 1; failure <= 9; failure += 1) await logIn('kofi', 'wrong password');
    assert.equal((await logIn('kofi', passwordOf('kofi'))).status, 200, `round ${round}`);
  }
});

test('a changed password ends all tokens of that user, and of nobody else', async () => {
  await service.tokenOf('esi');
  const [one, two] = [await freshToken('esi'), await freshToken('esi')];
  const others = await freshToken('ama');
  const me = await service.call({ path: '/users/me', token: one });
  const path = `/users/${(me.json as { id: string }).id}/password`;
  const json = { password: 'a new password', old_password: passwordOf('esi') };
  assertDone(await service.call({ method: 'PUT', path, token: one, json }));
  assert.equal(await whoIs(`Bearer ${one}`), 401);
  assert.equal(await whoIs(`Bearer ${two}`), 401);
  assert.equal(await whoIs(`Bearer ${others}`), 'ama');
  assertRefused(await logIn('esi', passwordOf('esi')), 401);
  assert.equal((await logIn('esi', 'a new password')).status, 200);
});

test('tokens survive a restart on the same directory', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-restart-'));
  try {
    const before = await startService({ directory });
    const token = await before.tokenOf('ama');
    await before[Symbol.asyncDispose]();
    await using again = await startService({ directory });
    assert.equal(await whoIs(`Bearer ${token}`, again), 'ama');
    assert.equal((await again.call({ path: '/users/me', token: `${token}x` })).status, 401);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
