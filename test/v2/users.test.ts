import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { engine } from '../engine.ts';
import { type Call, passwordOf, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

const signUp = (json: unknown, by = 'guest') =>
  as(by)({ method: 'POST', path: '/users', json: json as object });

const logIn = (username: string, password = passwordOf(username)) =>
  service.call({ method: 'POST', path: '/auth/token', json: { username, password } });

async function signedUp(username: string, profile: object = {}): Promise<string> {
  const reply = await signUp({ username, password: passwordOf(username), ...profile });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as string;
}

type Message = Readonly<Record<string, unknown>>;

async function read(id: string, by: string): Promise<Message> {
  const reply = await as(by)({ path: `/users/${id}` });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Message;
}

const put = (by: string, id: string, json: object) =>
  as(by)({ method: 'PUT', path: `/users/${id}`, json });

const profile = {
  firstName: 'Ama',
  lastName: 'Mensah',
  email: 'ama@example.org',
  phone: ['+233201234567', '+233207654321'],
  address: ['Accra, Ghana'],
  facebook: ['ama.mensah'],
  twitter: ['amamensah'],
  webhook: ['https://farm.example.org/hook?key=1'],
};

test('a webhook of a profile is for its user and admins to see, and must be a URL', async () => {
  const webhook = ['https://farm.example.org/hook?key=secret'];
  const id = await signedUp('hooked', { webhook: webhook[0] });
  assert.deepEqual((await read(id, 'hooked'))['webhook'], webhook);
  assert.deepEqual((await read(id, 'admin'))['webhook'], webhook);
  assert.equal((await read(id, 'ama-curious'))['webhook'], undefined);
  for (const bad of ['no url', 'ftp://example.org/', 'javascript:alert(1)', '']) {
    assertRefused(await put('hooked', id, { webhook: bad }), 400, {
      saying: /webhook must be a URL/,
    });
  }
});

test('a sign-up answers the id, and every field is read back', async () => {
  const id = await signedUp('ama', profile);
  assert.ok(id.length > 0);
  const { createdTime, ...user } = await read(id, 'ama');
  assert.deepEqual(user, { id, username: 'ama', ...profile });
  assert.ok(
    Number.isSafeInteger(createdTime) && (createdTime as number) > 1.7e12,
    `${createdTime}`,
  );
  const me = await as('ama')({ path: '/users/me' });
  const { storage, ...self } = me.json as { storage: { used: number; quota: number } };
  assert.deepEqual(self, { createdTime, ...user });
  assert.equal(storage.used, 0);
  // A part of the disk, whatever its size; other engines know none.
  if (engine === 'sqlite') assert.ok(storage.quota > 0, `${storage.quota}`);
  else assert.equal(storage.quota, undefined);
});

test('a sign-up may be in snake_case, with plain strings for the array fields', async () => {
  const id = await signedUp('kofi', {
    first_name: 'Kofi',
    last_name: 'Boateng',
    phone: '+233209999999',
    address: 'Kumasi',
    facebook: 'kofi.b',
    twitter: 'kofib',
  });
  const { createdTime, ...user } = await read(id, 'kofi');
  assert.deepEqual(user, {
    id,
    username: 'kofi',
    firstName: 'Kofi',
    lastName: 'Boateng',
    phone: ['+233209999999'],
    address: ['Kumasi'],
    facebook: ['kofi.b'],
    twitter: ['kofib'],
  });
});

test('a sign-up cannot choose its id, its rights or its credit', async () => {
  const wishes = { id: 'mine', createdTime: 1, admin: true, isAdmin: true, sms_credit: 5 };
  const id = await signedUp('bold', wishes);
  assert.notEqual(id, 'mine');
  const user = await read(id, 'admin');
  assert.deepEqual(Object.keys(user).sort(), ['createdTime', 'devices', 'id', 'username']);
  assert.notEqual(user['createdTime'], 1);
  assertRefused(await put('bold', id, { disabled: true }), 403);
});

test('a username that is taken is 422, in any case of letters', async () => {
  await signedUp('Taken');
  for (const username of ['Taken', 'taken', 'TAKEN', 'admin', 'Admin']) {
    const reply = await signUp({ username, password: 'long enough' });
    assertRefused(reply, 422, { of: username });
  }
});

test('a password needs eight characters', async () => {
  const username = 'short';
  for (const password of ['', '1234567']) {
    assertRefused(await signUp({ username, password }), 400, { saying: /password/ });
  }
  assert.equal((await signUp({ username, password: '12345678' })).status, 200);
});

test('names that mislead, and messages that are no account, are refused', async () => {
  const names = [
    'guest',
    'Guest',
    'GUEST',
    '',
    ' ',
    'a b',
    ' ama2',
    'a/b',
    'a\nb',
    'x'.repeat(300),
  ];
  const password = 'long enough';
  for (const username of names) {
    const reply = await signUp({ username, password });
    assertRefused(reply, 400, { of: JSON.stringify(username) });
  }
  const messages = [{ username: 'fine' }, { password }, [], 'fine', { username: 7, password }];
  for (const message of messages) {
    assertRefused(await signUp(message), 400, { of: JSON.stringify(message) });
  }
});

test('where sign-up is closed, only an admin creates accounts', async () => {
  await using service = await startService({ environment: { KIPIMO_SIGNUP: 'closed' } });
  const request: Call = {
    method: 'POST',
    path: '/users',
    json: { username: 'ama', password: passwordOf('ama') },
  };
  assertRefused(await service.call(request), 403);
  assert.equal((await service.as('admin')(request)).status, 200);
  const json = { username: 'kofi', password: passwordOf('kofi') };
  assertRefused(await service.as('ama')({ ...request, json }), 403);
});

test('the list is paged in order of creation, with the total and links', async () => {
  await using service = await startService();
  const names = ['admin', 'u1', 'u2', 'u3', 'u4'];
  for (const name of names.slice(1)) await service.tokenOf(name);
  const page = async (query: string) => {
    const reply = await service.call({ path: `/users${query}` });
    assert.equal(reply.status, 200, reply.text);
    const users = reply.json as readonly { username: string }[];
    return { reply, names: users.map(({ username }) => username) };
  };
  assert.deepEqual((await page('')).names, names);
  assert.deepEqual((await page('?limit=5000')).names, names);
  const first = await page('?limit=2');
  assert.deepEqual(first.names, ['admin', 'u1']);
  assert.equal(first.reply.headers.get('x-total-count'), '5');
  const next = /<([^>]+)>; rel="next"/.exec(first.reply.headers.get('link') ?? '')?.[1];
  assert.match(next ?? '', /\/users\?/);
  assert.deepEqual((await page('?limit=2&offset=2')).names, ['u2', 'u3']);
  const last = await page('?limit=2&offset=4');
  assert.deepEqual(last.names, ['u4']);
  assert.doesNotMatch(last.reply.headers.get('link') ?? '', /rel="next"/);
  assert.deepEqual((await page('?limit=0')).names, []);
  for (const query of ['?limit=x', '?limit=-1', '?offset=-1', '?offset=1.5']) {
    assertRefused(await service.call({ path: `/users${query}` }), 400, { of: query });
  }
});

test('username= narrows the list to that user', async () => {
  const list = async (username: string) => {
    const reply = await service.call({ path: `/users?username=${username}` });
    const users = reply.json as readonly { username: string }[];
    return [reply.headers.get('x-total-count'), users.map(({ username }) => username)];
  };
  assert.deepEqual(await list('kofi'), ['1', ['kofi']]);
  assert.deepEqual(await list('kof'), ['0', []]);
});

test('an unknown user is 404 for whoever asks', async () => {
  for (const by of ['guest', 'ama', 'admin']) {
    assertRefused(await as(by)({ path: '/users/no-such-id' }), 404, { of: by });
  }
  assertRefused(await put('admin', 'no-such-id', { firstName: 'X' }), 404);
  assertRefused(await as('admin')({ method: 'DELETE', path: '/users/no-such-id' }), 404);
});

test('contact details are shown to that user and to admins only', async () => {
  const id = await signedUp('private-one', profile);
  const { email, phone, address, webhook, ...known } = profile;
  for (const by of ['guest', 'kofi']) {
    const { createdTime, ...user } = await read(id, by);
    assert.deepEqual(user, { id, username: 'private-one', ...known }, by);
  }
  for (const by of ['private-one', 'admin']) {
    const user = await read(id, by);
    const { email: mail, phone: phones, address: homes, webhook: hooks } = user;
    assert.deepEqual([mail, phones, homes, hooks], [email, phone, address, webhook], by);
  }
  const listed = async (by: string) => {
    const reply = await as(by)({ path: '/users?username=private-one' });
    return Object.keys((reply.json as readonly Message[])[0] ?? {});
  };
  for (const by of ['guest', 'kofi']) {
    const contact = ['email', 'phone', 'address', 'webhook'];
    const shown = (await listed(by)).filter((key) => contact.includes(key));
    assert.deepEqual(shown, [], by);
  }
  for (const by of ['private-one', 'admin']) assert.ok((await listed(by)).includes('email'), by);
});

test('what admins know of an account stays with them and its owner', async () => {
  const id = await signedUp('credited', {});
  const path = `/users/${id}/sms_credit`;
  assertDone(await as('admin')({ method: 'PUT', path, body: '7' }));
  assert.equal((await read(id, 'credited'))['sms_credit'], 7);
  assert.deepEqual(Object.keys(await read(id, 'kofi')).sort(), ['createdTime', 'id', 'username']);
});

test('a user changes its own profile, and fields not mentioned stay', async () => {
  const id = await signedUp('changing', profile);
  const json = {
    first_name: 'Akua',
    phone: '+233201234',
    id: 'other',
    username: 'other',
    createdTime: 1,
  };
  assertDone(await as('changing')({ method: 'PUT', path: '/users/me', json }));
  const { createdTime, ...user } = await read(id, 'changing');
  const expected = { ...profile, firstName: 'Akua', phone: ['+233201234'] };
  assert.deepEqual(user, { id, username: 'changing', ...expected });
  assert.notEqual(createdTime, 1);
  assertDone(await put('changing', id, { lastName: 'Owusu' }));
  assert.equal((await read(id, 'guest'))['lastName'], 'Owusu');
  assertRefused(await put('changing', id, { phone: [7] }), 400);
  assertRefused(await service.call({ method: 'PUT', path: '/users/me', json }), 403);
});

test('an account is changed by its user and by admins, by nobody else', async () => {
  const id = await signedUp('guarded', { firstName: 'First' });
  for (const by of ['guest', 'kofi']) {
    assertRefused(await put(by, id, { firstName: 'Hacked' }), 403, { of: by });
    const password = { method: 'PUT', path: `/users/${id}/password`, body: 'a new password' };
    assertRefused(await as(by)(password), 403, { of: by });
    assertRefused(await as(by)({ method: 'DELETE', path: `/users/${id}` }), 403, { of: by });
  }
  assert.equal((await read(id, 'guest'))['firstName'], 'First');
  assertDone(await put('admin', id, { firstName: 'Mended' }));
  assert.equal((await read(id, 'guest'))['firstName'], 'Mended');
});

test('a new password is as strong as the first, and takes effect', async () => {
  const id = await signedUp('forgetful');
  const path = `/users/${id}/password`;
  assertRefused(await as('forgetful')({ method: 'PUT', path, body: 'short' }), 400);
  assert.equal((await logIn('forgetful')).status, 200);
  assertDone(await as('admin')({ method: 'PUT', path, body: 'from the admin' }));
  assertRefused(await logIn('forgetful'), 401);
  assert.equal((await logIn('forgetful', 'from the admin')).status, 200);
});

test('who changes their own password gives the old one, by id or as me', async () => {
  for (const username of ['borrowed', 'admin']) {
    const { id } = (await as(username)({ path: '/users/me' })).json as { id: string };
    for (const path of [`/users/${id}/password`, '/users/me/password']) {
      const put = (json: unknown) => as(username)({ method: 'PUT', path, json });
      for (const json of [
        'a new password',
        { password: 'a new password' },
        { password: 'a new password', old_password: 'wrong password' },
        { password: 'a new password', old_password: null },
        { password: 'a new password', old_password: '' },
        { password: 'a new password', old_password: 'x'.repeat(5_000) },
      ]) {
        assertRefused(await put(json), 403, { of: JSON.stringify(json), saying: /old_password/ });
      }
      assertRefused(await put({ password: 'a new password', old_password: 5 }), 400);
    }
  }
  const change = { password: 'quite another', old_password: passwordOf('borrowed') };
  const put = { method: 'PUT', path: '/users/me/password', json: change };
  assertDone(await as('borrowed')(put));
  assert.equal((await logIn('borrowed', 'quite another')).status, 200);
});

test('guessing the old password with a borrowed token is slow', async () => {
  const put = (old_password: string) => {
    const json = { password: 'a new password', old_password };
    return as('lent')({ method: 'PUT', path: '/users/me/password', json });
  };
  for (let failure = 1; failure <= 10; failure += 1) assertRefused(await put('wrong'), 403);
  assertRefused(await put(passwordOf('lent')), 429);
  assert.equal((await logIn('lent')).status, 200, 'the owner can log in meanwhile');
});
