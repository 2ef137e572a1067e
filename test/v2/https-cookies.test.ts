import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { passwordOf, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const origin = 'https://kipimo.example.org';

let service: Service;
before(async () => {
  service = await startService({ environment: { KIPIMO_PUBLIC_URL: origin } });
  await service.tokenOf('ama');
});
after(() => service[Symbol.asyncDispose]());

const renew = (cookie: string) =>
  service.call({ method: 'POST', path: '/auth/renew', headers: { origin, cookie } });

async function logIn(cookie = '') {
  const json = { username: 'ama', password: passwordOf('ama'), remember: true };
  const headers = { origin, ...(cookie !== '' && { cookie }) };
  const reply = await service.call({ method: 'POST', path: '/auth/token', json, headers });
  assert.equal(reply.status, 200, reply.text);
  const set = reply.headers.getSetCookie();
  const session = set.find((text) => text.startsWith('__Secure-kipimo_session=')) ?? '';
  return { set, token: reply.text, session, value: session.split(';', 1)[0]?.split('=')[1] ?? '' };
}

test('over HTTPS cookies of logins are Secure, and their names say so', async () => {
  const { set, session, value } = await logIn();
  assert.equal(set.length, 2);
  for (const text of set) assert.match(text, /^__Secure-kipimo_.*; SameSite=Strict; Secure$/);
  assert.match(session, /; Path=\/api\/v2\/auth\/renew; /);
  assert.equal((await renew(`__Secure-kipimo_session=${value}`)).status, 200);
});

test('a cookie from before has its new name after a renewal, and goes on until then', async () => {
  const { value } = await logIn();
  const reply = await renew(`kipimo_session=${value}`);
  assert.equal(reply.status, 200);
  const [fresh = '', ended = ''] = reply.headers.getSetCookie();
  assert.match(fresh, /^__Secure-kipimo_session=[\w-]{43}; /);
  assert.match(ended, /^kipimo_session=; .*Max-Age=0; .*Secure$/);
  const now = fresh.split(';', 1)[0] ?? '';
  // What a page over plain HTTP may have put beside it is not looked at.
  assert.equal((await renew(`kipimo_session=forged; ${now}`)).status, 200);
});

test('logging out ends the cookie under either name', async () => {
  const { token, value } = await logIn();
  const headers = { origin };
  const out = await service.call({ method: 'DELETE', path: '/auth/token', token, headers });
  assertDone(out);
  const names = out.headers.getSetCookie().map((text) => text.split(';', 1)[0]);
  assert.deepEqual(names, ['__Secure-kipimo_session=', 'kipimo_session=']);
  assertRefused(await renew(`__Secure-kipimo_session=${value}`), 401);
});

test('pages say that people come over HTTPS alone where the public URL does', async () => {
  const accept = 'text/html';
  const page = await fetch(`${service.url}/`, { headers: { accept } });
  assert.match(page.headers.get('strict-transport-security') ?? '', /^max-age=31536000$/);
  await using plain = await startService();
  const other = await fetch(`${plain.url}/`, { headers: { accept } });
  assert.equal(other.headers.get('strict-transport-security'), null);
});

test('what is read stays out of caches that several people share', async () => {
  const ama = service.as('ama');
  const json = { id: 'd1', sensors: [{ id: 'S' }] };
  await ama({ method: 'POST', path: '/devices', json });
  await ama({ method: 'POST', path: '/devices/d1/sensors/S/value', json: { value: 1 } });
  for (const path of ['/devices', '/devices/d1', '/devices/d1/sensors/S/values', '/users/me']) {
    const { headers } = await ama({ path });
    assert.equal(headers.get('cache-control'), 'private, no-cache', path);
  }
});
