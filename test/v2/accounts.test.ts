import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { passwordOf, type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

const logIn = (username: string) => {
  const json = { username, password: passwordOf(username) };
  return service.call({ method: 'POST', path: '/auth/token', json });
};

/** Creates the account if need be. */
async function idOf(username: string): Promise<string> {
  const reply = await as(username)({ path: '/users/me' });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { id: string }).id;
}

async function keyOf(username: string): Promise<string> {
  const reply = await as(username)({ method: 'POST', path: '/auth/keys', json: { name: 'a key' } });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { key: string }).key;
}

const put = (by: string, id: string, json: object) =>
  as(by)({ method: 'PUT', path: `/users/${id}`, json });

const remove = (by: string, id: string) => as(by)({ method: 'DELETE', path: `/users/${id}` });

const createDevice = (by: string, id: string, visibility = 'private') =>
  as(by)({ method: 'POST', path: '/devices', json: { id, visibility, sensors: [{ id: 'TC1' }] } });

const share = (by: string, device: string, username: string, rights = ['devices:view']) =>
  as(by)({ method: 'PUT', path: `/devices/${device}/grants/${username}`, json: rights });

const bodyOf = (reply: Reply) => {
  assert.equal(reply.status, 200, reply.text);
  return reply.json;
};

test('only admins make admins', async () => {
  const id = await idOf('rising');
  const refused = await put('rising', id, { admin: true, firstName: 'Applied' });
  assertRefused(refused, 403);
  const me = { method: 'PUT', path: '/users/me', json: { admin: true } };
  assertRefused(await as('rising')(me), 403);
  const user = bodyOf(await as('admin')({ path: `/users/${id}` })) as Record<string, unknown>;
  assert.equal(user['firstName'], undefined, 'nothing of a refused change is kept');
  const other = await idOf('someone');
  assertRefused(await put('rising', other, { firstName: 'X' }), 403);
  assertDone(await put('admin', id, { admin: true }));
  assertDone(await put('rising', other, { firstName: 'X' }));
  assertDone(await put('admin', id, { admin: false }));
  assertRefused(await put('rising', other, { firstName: 'Y' }), 403);
});

test('keys and tokens of a disabled account do not work again when it is enabled', async () => {
  const id = await idOf('banned');
  const [token, key] = [await service.tokenOf('banned'), await keyOf('banned')];
  assertRefused(await put('banned', id, { disabled: true }), 403);
  assertDone(await put('admin', id, { disabled: true }));
  assertRefused(await service.call({ path: '/devices', token }), 401);
  assertRefused(await service.call({ path: '/devices', token: key }), 401);
  const refused = await logIn('banned');
  assertRefused(refused, 401);
  assert.equal(refused.text, (await logIn('nobody-of-that-name')).text);
  assertDone(await put('admin', id, { disabled: false }));
  assert.equal((await logIn('banned')).status, 200);
  assertRefused(await service.call({ path: '/devices', token }), 401);
  assertRefused(await service.call({ path: '/devices', token: key }), 401);
});

test('no token outlives a new password, were it on its way while it was set', async () => {
  let reached = 0;
  const gate = Promise.withResolvers<void>();
  let isShut = false;
  const slowed = await startService({
    wrapStorage: (storage) => ({
      ...storage,
      credentials: {
        ...storage.credentials,
        // Holds every token back that is about to be written.
        async insertToken(...token) {
          reached += 1;
          if (isShut) await gate.promise;
          return storage.credentials.insertToken(...token);
        },
      },
    }),
  });
  await using _ = slowed;
  const token = await slowed.tokenOf('hasty');
  const me = (await slowed.call({ path: '/users/me', token })).json as { id: string };
  const json = { username: 'hasty', password: passwordOf('hasty') };
  await slowed.tokenOf('admin');
  [isShut, reached] = [true, 0];
  const onTheirWay = [
    slowed.call({ method: 'POST', path: '/auth/renew', token }),
    slowed.call({ method: 'POST', path: '/auth/token', json }),
  ];
  while (reached < onTheirWay.length) await new Promise((resolve) => setImmediate(resolve));
  const change = { method: 'PUT', path: `/users/${me.id}/password`, body: 'a new password' };
  assertDone(
    await slowed
      .as('admin')(change)
      .catch(() => assert.fail('the admin must log in')),
  );
  gate.resolve();
  for (const reply of await Promise.all(onTheirWay)) assertRefused(reply, 401);
});

test('a disabled account keeps its devices', async () => {
  const id = await idOf('resting');
  assertDone(await createDevice('resting', 'resting-1'));
  assertDone(await put('admin', id, { disabled: true }));
  bodyOf(await as('admin')({ path: '/devices/resting-1' }));
});

test('the last admin can be neither deleted, disabled nor made a plain user', async () => {
  const id = await idOf('admin');
  const assertStays = async (of: string) => {
    assertRefused(await remove('admin', id), 400, { of });
    assertRefused(await put('admin', id, { disabled: true }), 400, { of });
    assertRefused(await put('admin', id, { admin: false }), 400, { of });
  };
  await assertStays('the only admin');
  const second = await idOf('second-admin');
  assertDone(await put('admin', second, { admin: true, disabled: true }));
  await assertStays('the only admin that can log in');
  assertDone(await put('admin', second, { disabled: false }));
  assert.equal((await logIn('second-admin')).status, 200);
  assertDone(await put('admin', second, { admin: false }));
  assertDone(await put('admin', second, { admin: true, disabled: true }));
  assertDone(await remove('admin', second));
});

test('two admins cannot end each other at once and leave none', async () => {
  await using service = await startService();
  const idOf = async (username: string) =>
    ((await service.as(username)({ path: '/users/me' })).json as { id: string }).id;
  const [first, second] = [await idOf('admin'), await idOf('second')];
  const demote = (by: string, id: string) =>
    service.as(by)({ method: 'PUT', path: `/users/${id}`, json: { admin: false } });
  const promote = { method: 'PUT', path: `/users/${second}`, json: { admin: true } };
  assertDone(await service.as('admin')(promote));
  // Opens a connection for each, so that the two requests meet.
  await Promise.all([service.call({ path: '/users' }), service.call({ path: '/users' })]);
  const replies = await Promise.all([demote('admin', second), demote('second', first)]);
  const demoted = replies.filter(({ status }) => status === 204).length;
  assert.equal(demoted, 1, replies.map(({ status }) => status).join());
});

test('the credit for messages is for admins to set', async () => {
  const id = await idOf('sender');
  const set = (by: string, body: string) =>
    as(by)({ method: 'PUT', path: `/users/${id}/sms_credit`, body });
  for (const by of ['guest', 'sender', 'someone'])
    assertRefused(await set(by, '5'), 403, { of: by });
  assertRefused(await put('someone', id, { sms_credit: 5 }), 403);
  for (const body of ['-1', '1.5', 'many', '']) {
    assertRefused(await set('admin', body), 400, { of: body });
  }
  const credit = async () => bodyOf(await as('sender')({ path: '/users/me' })) as object;
  assert.ok(!('sms_credit' in (await credit())), 'without limit at first');
  for (const body of ['0', '5']) {
    assertDone(await set('admin', body));
    assert.deepEqual({ sms_credit: Number(body) }, pick(await credit(), 'sms_credit'));
  }
});

const pick = (message: object, key: string) => ({ [key]: Reflect.get(message, key) });

test('deleting an account takes its devices, keys, tokens and grants', async () => {
  const id = await idOf('leaving');
  const [token, key] = [await service.tokenOf('leaving'), await keyOf('leaving')];
  assertDone(await createDevice('leaving', 'left-1'));
  assertDone(await createDevice('staying', 'stays-1'));
  await idOf('friend');
  assertDone(await share('leaving', 'left-1', 'friend'));
  assertDone(await share('staying', 'stays-1', 'leaving'));
  assertDone(await remove('leaving', id));
  assertRefused(await service.call({ path: `/users/${id}` }), 404);
  assertRefused(await service.call({ path: '/devices', token }), 401);
  assertRefused(await service.call({ path: '/devices', token: key }), 401);
  assertRefused(await logIn('leaving'), 401);
  assertRefused(await as('admin')({ path: '/devices/left-1' }), 404);
  assert.deepEqual(bodyOf(await as('staying')({ path: '/devices/stays-1/grants' })), []);
  const none = { given: [], received: [] };
  assert.deepEqual(bodyOf(await as('friend')({ path: '/users/me/grants' })), none);
  const given = bodyOf(await as('staying')({ path: '/users/me/grants' }));
  assert.deepEqual(given, none);
});

test('an account may delete itself', async () => {
  const id = await idOf('done-here');
  assertDone(await remove('done-here', id));
  assertRefused(await remove('admin', id), 404);
});

test('a username taken anew inherits nothing', async () => {
  const username = 'phoenix';
  const old = await idOf(username);
  const key = await keyOf(username);
  assertDone(await createDevice(username, 'ashes-1'));
  assertDone(await createDevice('staying', 'stays-2'));
  assertDone(await share('staying', 'stays-2', username, ['devices:view', 'devices:update']));
  assertDone(await remove('admin', old));
  const json = { username, password: passwordOf(username) };
  const id = bodyOf(await service.call({ method: 'POST', path: '/users', json }));
  assert.notEqual(id, old);
  const login = await logIn(username);
  const anew = (path: string) => service.call({ path, token: login.text });
  assertRefused(await anew('/devices/stays-2'), 403);
  assertRefused(await anew('/devices/ashes-1'), 404);
  assert.deepEqual(bodyOf(await anew('/users/me/grants')), { given: [], received: [] });
  assert.deepEqual(bodyOf(await anew('/auth/keys')), []);
  assert.deepEqual(bodyOf(await anew(`/devices?q=owner==${username}`)), []);
  assertRefused(await service.call({ path: '/devices', token: key }), 401);
  const device = { method: 'POST', path: '/devices', json: { id: 'ashes-1' } };
  assertDone(await service.call({ ...device, token: login.text }));
});
