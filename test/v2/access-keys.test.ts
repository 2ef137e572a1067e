import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { connect } from '../mqtt/mqtt-clients.ts';
import { type Call, passwordOf, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const start = Date.parse('2026-03-01T08:00:00.000Z');
const hour = 60 * 60 * 1_000;
const clock = createManualClock(start);
// Tokens outlive the hours by which these tests move the clock.
const environment = { KIPIMO_TOKEN_TTL_S: '864000' };
let service: Service;

before(async () => {
  service = await startService({ clock, environment });
  for (const id of ['field-1', 'field-2']) await createDevice('ama', id);
});

after(() => service[Symbol.asyncDispose]());

interface CreatedKey {
  readonly id: string;
  readonly name: string;
  readonly key: string;
  readonly expires?: string;
}

test('a key that may push to a device hears what its actuators are set to', async () => {
  const as = service.as('esi');
  const json = { id: 'kit', visibility: 'private', sensors: [{ id: 'T' }] };
  assertDone(await as({ method: 'POST', path: '/devices', json }));
  const pump = { id: 'pump', value_type: 'bool' };
  assertDone(await as({ method: 'POST', path: '/devices/kit/actuators', json: pump }));
  const narrowed = { devices: ['kit'], scopes: ['devices-data:create'] };
  const { key: token } = await createKey('esi', narrowed);
  await using board = await connect(service, { username: 'board', password: token });
  await board.subscribe('#');
  await board.subscribe('$share/boards/devices/+/sensors/+/value');
  // Of all that follows only the setting of the own device is for it.
  await createDevice('esi', 'other');
  assertDone(await as({ method: 'POST', path: '/devices/other/actuators', json: pump }));
  assertDone(await as({ method: 'PUT', path: '/devices/other/actuators/pump/value', json: true }));
  assertDone(
    await as({ method: 'POST', path: '/devices/kit/sensors/T/value', json: { value: 1 } }),
  );
  await using owner = await connect(service, { as: 'esi' });
  for (const topic of ['sensors/T/value', 'actuators/pump/more', 'chat']) {
    await owner.publish(`devices/kit/${topic}`, '2', { qos: 1, retain: true });
  }
  assertDone(await as({ method: 'PUT', path: '/devices/kit/actuators/pump/value', json: true }));
  await board.got(1);
  assert.deepEqual(board.texts, ['devices/kit/actuators/pump/value true']);
  await using late = await connect(service, { username: 'late', password: token });
  await late.subscribe('#');
  assertDone(await as({ method: 'PUT', path: '/devices/kit/actuators/pump/value', json: false }));
  await late.got(1);
  assert.deepEqual(late.texts, ['devices/kit/actuators/pump/value false']);
  for (const path of ['', '/pump', '/pump/value']) {
    const { status } = await service.call({ path: `/devices/kit/actuators${path}`, token });
    assert.equal(status, 200, path);
  }
  const closed = ['kit', 'kit/sensors', 'kit/sensors/T/values', 'other/actuators'];
  for (const path of closed) {
    assertRefused(await service.call({ path: `/devices/${path}`, token }), 403);
  }
  // A key is never wider than its account: who may only push sees no settings.
  const grant = { method: 'PUT', path: '/devices/kit/grants/yaw', json: ['devices-data:create'] };
  await service.tokenOf('yaw');
  assertDone(await as(grant));
  const { key: other } = await createKey('yaw', narrowed);
  const value = { path: '/devices/kit/actuators/pump/value', token: other };
  assertRefused(await service.call(value), 403);
});

const postKey = (username: string, json: unknown) =>
  service.as(username)({ method: 'POST', path: '/auth/keys', json });

async function createKey(username: string, narrowed: object = {}): Promise<CreatedKey> {
  const reply = await postKey(username, { name: 'roof gateway', ...narrowed });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as CreatedKey;
}

async function createDevice(username: string, id: string): Promise<void> {
  const json = { id, visibility: 'private', sensors: [{ id: 'TC1' }] };
  assertDone(await service.as(username)({ method: 'POST', path: '/devices', json }));
}

const statusOf = async (token: string, request: Omit<Call, 'token'>) =>
  (await service.call({ ...request, token })).status;

const pathOf = (id: string) => `/devices/${id}`;
const valuesOf = (id: string) => `/devices/${id}/sensors/TC1/values`;

/** What each scope opens on a device, gentle things first. */
const deeds = (id: string): Readonly<Record<string, Omit<Call, 'token'>>> => ({
  'devices:view': { path: pathOf(id) },
  'devices:update': { method: 'PUT', path: `${pathOf(id)}/name`, body: 'Field' },
  'devices-data:create': { method: 'POST', path: valuesOf(id), json: { value: 25 } },
  'devices-data:view': { path: valuesOf(id) },
  'devices:delete': { method: 'DELETE', path: pathOf(id) },
});

const isDone = (status: number) => status === 200 || status === 204;

async function keysOf(username: string): Promise<readonly Record<string, unknown>[]> {
  const reply = await service.as(username)({ path: '/auth/keys' });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as readonly Record<string, unknown>[];
}

test('a key is shown once, and the list names it without its secret', async () => {
  const narrowed = {
    scopes: ['devices-data:create'],
    devices: ['field-1'],
    expires: '2026-04-01T00:00:00.000Z',
  };
  const { key, ...created } = await createKey('ama', narrowed);
  assert.match(key, /^\S{20,}$/);
  const { id, ...told } = created as Record<string, unknown>;
  assert.deepEqual(told, {
    name: 'roof gateway',
    ...narrowed,
    date_created: '2026-03-01T08:00:00.000Z',
  });
  const listed = (await keysOf('ama')).find((known) => known['id'] === id);
  assert.deepEqual(listed, created);
  const text = (await service.as('ama')({ path: '/auth/keys' })).text;
  assert.ok(!text.includes(key));
});

test('a key is a bearer token that does not end after ten minutes', async () => {
  const { key } = await createKey('ama');
  assert.equal(await statusOf(key, { path: pathOf('field-1') }), 200);
  clock.advance(100 * hour);
  assert.equal(await statusOf(key, { path: pathOf('field-1') }), 200);
  assert.equal(await statusOf(`${key}x`, { path: pathOf('field-1') }), 401);
});

test('keys are listed to their owner alone, and only the owner deletes them', async () => {
  const { id, key } = await createKey('kofi');
  const remove = (by: string, id: string) =>
    service.as(by)({ method: 'DELETE', path: `/auth/keys/${id}` });
  assert.ok(!(await keysOf('ama')).some((known) => known['id'] === id));
  assertRefused(await remove('ama', id), 404);
  assertRefused(await remove('guest', id), 403);
  assert.equal(await statusOf(key, { path: '/devices' }), 200);
  assertDone(await remove('kofi', id));
  assert.equal(await statusOf(key, { path: '/devices' }), 401);
  assertRefused(await remove('kofi', id), 404);
  assert.deepEqual(await keysOf('kofi'), []);
});

test('a key ends exactly when it expires', async () => {
  const end = clock.now() + hour;
  const { key } = await createKey('ama', { expires: new Date(end).toISOString() });
  clock.set(end - 1);
  assert.equal(await statusOf(key, { path: pathOf('field-1') }), 200);
  clock.set(end);
  assert.equal(await statusOf(key, { path: pathOf('field-1') }), 401);
});

test('a key that ends on a day holds to the end of that day', async () => {
  const { expires } = await createKey('ama', { expires: '2031-04-01' });
  assert.equal(expires, '2031-04-01T23:59:59.999Z');
});

test('a key that would be of no use or makes no sense is refused', async () => {
  const wrong = [
    {},
    { name: 7 },
    { name: 'x', scopes: ['devices:fly'] },
    { name: 'x', scopes: 'devices:view' },
    { name: 'x', devices: ['a b'] },
    { name: 'x', expires: 'tomorrow' },
    { name: 'x', expires: new Date(clock.now()).toISOString() },
    [],
  ];
  const known = (await keysOf('ama')).length;
  for (const json of wrong) {
    assertRefused(await postKey('ama', json), 400, { of: JSON.stringify(json) });
  }
  assertRefused(await postKey('guest', { name: 'x' }), 403);
  assert.equal((await keysOf('ama')).length, known);
});

test('a key has a name that can be shown and read', async () => {
  for (const name of ['', ' \n', '\ud800', 'a\udfff']) {
    const reply = await service.as('ama')({ method: 'POST', path: '/auth/keys', json: { name } });
    assertRefused(reply, 400, { saying: /^name must/ });
    const { code, params } = reply.json as { code: string; params: { field?: string } };
    assert.deepEqual([code, params.field], ['field_wrong', 'name']);
  }
});

test('each scope of a key opens its own deed and no other', async () => {
  for (const scope of Object.keys(deeds(''))) {
    const id = `scoped-${scope.replace(':', '-')}`;
    await createDevice('ama', id);
    const { key } = await createKey('ama', { scopes: [scope] });
    for (const [needed, request] of Object.entries(deeds(id))) {
      const status = await statusOf(key, request);
      if (needed === scope) assert.ok(isDone(status), `${scope}: ${status}`);
      else assert.equal(status, 403, `${scope} asks for ${needed}`);
    }
  }
});

test('rights are understood in the singular too', async () => {
  const { key } = await createKey('ama', { scopes: ['device:view'] });
  assert.equal(await statusOf(key, { path: pathOf('field-1') }), 200);
  assert.equal(await statusOf(key, { path: valuesOf('field-1') }), 403);
});

test('a key with an empty list may do nothing, unlike one without the list', async () => {
  for (const narrowed of [{ scopes: [] }, { devices: [] }]) {
    const { key } = await createKey('ama', narrowed);
    for (const [needed, request] of Object.entries(deeds('field-1'))) {
      const of = `${JSON.stringify(narrowed)} ${needed}`;
      assert.equal(await statusOf(key, request), 403, of);
    }
    const reply = await service.call({ path: '/devices', token: key });
    assert.deepEqual(reply.json, []);
  }
});

test('a key for some devices sees and touches no other', async () => {
  const { key } = await createKey('ama', { devices: ['field-1'] });
  for (const [needed, request] of Object.entries(deeds('field-2'))) {
    assert.equal(await statusOf(key, request), 403, needed);
  }
  assert.ok(isDone(await statusOf(key, { method: 'POST', path: valuesOf('field-1'), body: '1' })));
  const idsAt = async (path: string, field: string) => {
    const reply = await service.call({ path, token: key });
    return (reply.json as readonly Record<string, unknown>[]).map((entry) => entry[field]);
  };
  assert.deepEqual(await idsAt('/devices', 'id'), ['field-1']);
  assert.deepEqual(await idsAt('/auth/permissions/devices', 'resource'), ['field-1']);
});

test('a key may create devices only within its limits', async () => {
  const create = async (narrowed: object, id: string) => {
    const { key } = await createKey('ama', narrowed);
    return statusOf(key, { method: 'POST', path: '/devices', json: { id } });
  };
  assert.equal(await create({ scopes: ['devices-data:create'] }, 'made-1'), 403);
  assert.equal(await create({ devices: ['made-2'] }, 'made-1'), 403);
  assert.equal(await create({ devices: ['made-2'] }, 'made-2'), 204);
  assert.equal(await create({}, 'made-1'), 204);
  const made = await service.as('ama')({ path: pathOf('made-1') });
  assert.equal((made.json as { owner: string }).owner, 'ama');
});

test('the permissions a key is told are those it has', async () => {
  const { key } = await createKey('ama', { scopes: ['devices-data:create'], devices: ['field-1'] });
  const reply = await service.call({ path: '/auth/permissions/devices', token: key });
  assert.deepEqual(reply.json, [{ resource: 'field-1', scopes: ['devices-data:create'] }]);
});

test('a key is never wider than its owner, whose lost grant it loses too', async () => {
  await service.tokenOf('kofi');
  const path = `${pathOf('field-2')}/grants/kofi`;
  const push: Call = { method: 'POST', path: valuesOf('field-2'), json: { value: 1 } };
  const { key } = await createKey('kofi', { scopes: ['devices-data:create'] });
  assert.equal(await statusOf(key, push), 403);
  const grant = (json: readonly string[]) => service.as('ama')({ method: 'PUT', path, json });
  assertDone(await grant(['devices:view']));
  assert.equal(await statusOf(key, push), 403);
  assertDone(await grant(['devices-data:create']));
  assert.equal(await statusOf(key, push), 204);
  assertDone(await service.as('ama')({ method: 'DELETE', path }));
  assert.equal(await statusOf(key, push), 403);
});

test('a key of an administrator that is narrowed in any way has a user\u2019s rights', async () => {
  const json = { id: 'secret-1', visibility: 'private', sensors: [{ id: 's' }] };
  await service.as('ama')({ method: 'POST', path: '/devices', json });
  const all = ['devices:view', 'devices:update', 'devices-data:view', 'devices-data:create'];
  const narrows = [{ scopes: all }, { scopes: [] }, { devices: ['secret-1'] }];
  const paths = ['/admin/usage', '/admin/service', '/admin/settings', '/devices/secret-1'];
  for (const narrowed of narrows) {
    const { key } = await createKey('admin', narrowed);
    for (const path of paths) assert.equal(await statusOf(key, { path }), 403, path);
    assert.equal(
      (await service.call({ path: '/devices', token: key })).text.includes('secret-1'),
      false,
    );
    const push = { method: 'POST', path: '/devices/secret-1/sensors/s/value', body: '1' };
    const headers = { 'kipimo-import': 'true' };
    assert.equal(await statusOf(key, { ...push, headers }), 403);
    const metrics = await fetch(new URL('/metrics', service.url), {
      headers: { authorization: `Bearer ${key}` },
    });
    assert.equal(metrics.status, 403);
    await using client = await connect(service, { username: 'admin', password: key });
    await assert.rejects(client.subscribe('$SYS/#'), /Not authorized/);
  }
  const { key } = await createKey('admin');
  assert.equal(await statusOf(key, { path: '/admin/usage' }), 200);
  assert.equal(await statusOf(key, { path: '/devices/secret-1' }), 200);
});

test('keys, even those of admins, manage no accounts, keys or sharing', async () => {
  for (const username of ['ama', 'admin']) {
    const { key, id } = await createKey(username);
    const me = await service.as(username)({ path: '/users/me' });
    const user = `/users/${(me.json as { id: string }).id}`;
    const grants = `${pathOf('field-1')}/grants`;
    const json = { username: 'made-by-key', password: 'long enough' };
    const requests: readonly Call[] = [
      { method: 'POST', path: '/users', json },
      { method: 'PUT', path: '/users/me', json: { firstName: 'Key' } },
      { method: 'PUT', path: user, json: { firstName: 'Key' } },
      { method: 'PUT', path: `${user}/password`, body: 'set by a key' },
      { method: 'PUT', path: `${user}/sms_credit`, body: '5' },
      { method: 'DELETE', path: user },
      { method: 'POST', path: '/auth/keys', json: { name: 'offspring' } },
      { path: '/auth/keys' },
      { method: 'DELETE', path: `/auth/keys/${id}` },
      { method: 'POST', path: '/auth/renew' },
      { path: grants },
      { method: 'PUT', path: `${grants}/kofi`, json: ['devices:view'] },
      { method: 'DELETE', path: `${grants}/kofi` },
      { method: 'PUT', path: `${pathOf('field-1')}/owner`, body: username },
    ];
    for (const request of requests) {
      const reply = await service.call({ ...request, token: key });
      assertRefused(reply, 403, { of: `${username}: ${request.method} ${request.path}` });
    }
    assert.equal(await statusOf(key, { path: pathOf('field-1') }), 200, 'the key still works');
  }
});

test('a key survives a change of the password', async () => {
  const { key } = await createKey('esi');
  const me = await service.as('esi')({ path: '/users/me' });
  const path = `/users/${(me.json as { id: string }).id}/password`;
  const json = { password: 'another password', old_password: passwordOf('esi') };
  assertDone(await service.as('esi')({ method: 'PUT', path, json }));
  assert.equal(await statusOf(key, { path: '/devices' }), 200);
});

test('a key in a field shows nobody the contact details of its owner', async () => {
  const contact = { email: 'yaa@example.org', phone: ['+233200000001'], address: ['Ho'] };
  for (const username of ['yaa', 'admin']) {
    const as = service.as(username);
    assertDone(await as({ method: 'PUT', path: '/users/me', json: contact }));
    const { id } = (await as({ path: '/users/me' })).json as { id: string };
    const { key } = await createKey(username);
    for (const path of [`/users/${id}`, '/users']) {
      assert.ok((await as({ path })).text.includes('yaa@example.org'));
      const reply = await service.call({ path, token: key });
      assert.equal(reply.status, 200, reply.text);
      assert.doesNotMatch(reply.text, /yaa@|\+2332|"Ho"/);
    }
  }
});
