import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Call, passwordOf, type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const second = 1_000;
const day = 24 * 60 * 60 * second;
const clock = createManualClock(Date.parse('2026-03-01T08:00:00.000Z'));
const agent =
  'Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 Chrome/126.0 Mobile Safari/537.36';
let service: Service;

before(async () => {
  service = await startService({ clock });
});

after(() => service[Symbol.asyncDispose]());

/** One browser with its cookie, on a page of the service. */
function aBrowser(username: string, origin = service.url) {
  let cookie = '';
  const send = async (request: Call, sent = cookie): Promise<Reply> => {
    const headers = { origin, 'user-agent': agent, ...(sent !== '' && { cookie: sent }) };
    const reply = await service.call({ ...request, headers });
    const set = reply.headers.getSetCookie().find((text) => text.startsWith('kipimo_session='));
    if (set !== undefined) cookie = set.split(';', 1)[0] ?? '';
    return reply;
  };
  return {
    get cookie() {
      return cookie;
    },
    send,
    logIn: (remember = true) => {
      const json = { username, password: passwordOf(username), remember };
      return send({ method: 'POST', path: '/auth/token', json });
    },
    renew: (sent?: string) => send({ method: 'POST', path: '/auth/renew' }, sent),
    sessions: async (token: string) =>
      (await send({ path: '/auth/sessions', token })).json as { id: string; name: string }[],
  };
}

const isGood = async (token: string) =>
  (await service.call({ path: '/users/me', token })).status === 200;

async function remembered(username: string) {
  await service.tokenOf(username);
  const browser = aBrowser(username);
  const login = await browser.logIn();
  assert.equal(login.status, 200, login.text);
  return { browser, login, token: login.text };
}

test('a browser that is remembered gets a cookie for renewal alone', async () => {
  const { login } = await remembered('ama');
  const set = login.headers.getSetCookie().find((text) => text.startsWith('kipimo_session='));
  assert.match(set ?? '', /^kipimo_session=[\w-]{43}; /);
  for (const flag of [
    'HttpOnly',
    'SameSite=Strict',
    'Path=/api/v2/auth/renew',
    'Max-Age=2592000',
  ]) {
    assert.ok(set?.split('; ').includes(flag), `${flag} in ${set}`);
  }
  assert.ok(!set?.includes('Secure'), 'plain HTTP would never send it back');
  const plain = aBrowser('ama');
  assert.equal((await plain.logIn(false)).status, 200);
  assert.equal(plain.cookie, '');
  const foreign = aBrowser('ama', 'https://evil.example.org');
  assert.equal((await foreign.logIn()).status, 200);
  assert.equal(foreign.cookie, '');
});

test('the cookie renews for thirty days of no use, replaced each time', async () => {
  const { browser } = await remembered('kofi');
  for (let renewal = 0; renewal < 3; renewal += 1) {
    clock.advance(29 * day);
    const before = browser.cookie;
    const reply = await browser.renew();
    assert.equal(reply.status, 200, reply.text);
    assert.ok(await isGood(reply.text));
    assert.notEqual(browser.cookie, before);
  }
  clock.advance(30 * day);
  assertRefused(await browser.renew(), 401);
});

test('a cookie that was replaced works a minute more, and gives no other', async () => {
  const { browser } = await remembered('esi');
  const first = browser.cookie;
  await browser.renew();
  const second = browser.cookie;
  clock.advance(59_000);
  const late = await browser.renew(first);
  assert.equal(late.status, 200);
  assert.deepEqual(late.headers.getSetCookie(), []);
  clock.advance(1_000);
  assertRefused(await browser.renew(first), 401);
  assert.equal((await browser.renew(second)).status, 200);
});

test('tabs that renew at once all go on', async () => {
  const { browser } = await remembered('yaw');
  const first = browser.cookie;
  const replies = await Promise.all(Array.from({ length: 8 }, () => browser.renew(first)));
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  const set = replies.flatMap(({ headers }) => headers.getSetCookie());
  assert.equal(set.length, 1, 'one successor');
  assert.equal((await browser.renew(set[0]?.split(';', 1)[0])).status, 200);
});

test('no other page renews by the cookie, and nothing else reads it', async () => {
  const { browser } = await remembered('abena');
  const { cookie } = browser;
  const port = new URL(service.url).port;
  for (const origin of [
    'https://evil.example.org',
    'null',
    '',
    `http://evil.example.org:${port}`,
    'http://127.0.0.1',
  ]) {
    const headers = { cookie, ...(origin !== '' && { origin }) };
    assertRefused(await service.call({ method: 'POST', path: '/auth/renew', headers }), 401, {
      of: origin,
    });
  }
  const headers = { cookie, origin: service.url };
  assertRefused(await service.call({ path: '/users/me', headers }), 403, { of: 'a guest' });
  const doubled = { ...headers, authorization: 'Bearer no-such-token' };
  const renew = { method: 'POST', path: '/auth/renew', headers: doubled };
  assertRefused(await service.call(renew), 401);
  assert.equal((await browser.renew()).status, 200);
});

test('one sees where one stays logged in, and logs a lost phone out', async () => {
  const { browser, token } = await remembered('efua');
  const { browser: phone, token: ofPhone } = await remembered('efua');
  const { token: stranger } = await remembered('kwame');
  clock.advance(1_000);
  await phone.renew();
  const list = await browser.sessions(token);
  assert.equal(list.length, 2);
  assert.deepEqual(Object.keys(list[0] ?? {}), ['id', 'name', 'last_used', 'address']);
  assert.equal(list[0]?.name, 'Chrome on Android');
  const remove = (by: string) =>
    service.call({ method: 'DELETE', path: `/auth/sessions/${list[0]?.id}`, token: by });
  assertRefused(await remove(stranger), 404);
  assertDone(await remove(token));
  assertRefused(await remove(token), 404);
  assertRefused(await phone.renew(), 401);
  assert.equal(await isGood(ofPhone), false, 'its tokens end as well');
  assert.equal((await browser.renew()).status, 200);
});

test('logging out ends the cookie, in the browser and here', async () => {
  const { browser, token } = await remembered('adwoa');
  const { cookie } = browser;
  const out = await browser.send({ method: 'DELETE', path: '/auth/token', token });
  assertDone(out);
  assert.match(out.headers.getSetCookie()[0] ?? '', /^kipimo_session=; .*Max-Age=0/);
  assertRefused(await browser.renew(cookie), 401);
});

test('a new password ends all other browsers, a reset by an administrator every one', async () => {
  const { browser, token } = await remembered('nana');
  const { browser: other } = await remembered('nana');
  const path = '/users/me/password';
  const json = { password: 'nana, anew', old_password: passwordOf('nana') };
  assertDone(await service.call({ method: 'PUT', path, json, token }));
  assert.equal(await isGood(token), false);
  assertRefused(await other.renew(), 401);
  const renewed = await browser.renew();
  assert.equal(renewed.status, 200);
  const me = (await service.call({ path: '/users/me', token: renewed.text })).json;
  const { id } = me as { id: string };
  const change = { method: 'PUT', path: `/users/${id}/password`, body: 'from the admin' };
  assertDone(await service.as('admin')(change));
  assertRefused(await browser.renew(), 401);
});
