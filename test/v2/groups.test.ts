import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
let created = 0;

before(async () => {
  service = await startService();
  for (const username of ['ama', 'kofi', 'esi', 'yaw']) await service.tokenOf(username);
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

/** A new private device of ama's with a value. */
async function aDevice(by = 'ama'): Promise<string> {
  created += 1;
  const id = `grouped-${created}`;
  const json = { id, visibility: 'private', name: 'Garden', sensors: [{ id: 'TC1' }] };
  assertDone(await as(by)({ method: 'POST', path: '/devices', json }));
  const path = `/devices/${id}/sensors/TC1/value`;
  assertDone(await as(by)({ method: 'POST', path, json: { value: 4711 } }));
  return id;
}

async function aGroup(usernames: readonly string[], by = 'ama'): Promise<string> {
  const json = { name: 'Class 4B', usernames };
  const reply = await as(by)({ method: 'POST', path: '/groups', json });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

async function aProject(fields: object): Promise<string> {
  const reply = await as('ama')({ method: 'POST', path: '/projects', json: fields });
  assert.equal(reply.status, 200, reply.text);
  return reply.text;
}

const put = (path: string, json: unknown, by = 'ama') => as(by)({ method: 'PUT', path, json });

/** The status of reading the device, its values, renaming it, and pushing to it. */
async function mayDo(by: string, id: string): Promise<readonly number[]> {
  const [read, values] = await Promise.all([
    as(by)({ path: `/devices/${id}` }),
    as(by)({ path: `/devices/${id}/sensors/TC1/values` }),
  ]);
  const rename = await as(by)({ method: 'PUT', path: `/devices/${id}/name`, body: 'Garden' });
  const path = `/devices/${id}/sensors/TC1/value`;
  const push = await as(by)({ method: 'POST', path, json: { value: 1 } });
  return [read, values, rename, push].map(({ status }) => status);
}

const nothing = [403, 403, 403, 403];

async function permissionOn(by: string, kind: string, id: string): Promise<unknown> {
  const reply = await as(by)({ path: `/auth/permissions/${kind}` });
  const told = reply.json as readonly { resource: string; scopes: readonly string[] }[];
  return told.find(({ resource }) => resource === id)?.scopes;
}

test('a group is made, read, renamed and deleted by its owner alone', async () => {
  const id = await aGroup(['KOFI', 'esi', 'kofi']);
  const group = { id, name: 'Class 4B', owner: 'ama', usernames: ['esi', 'kofi'] };
  assert.deepEqual((await as('ama')({ path: `/groups/${id}` })).json, group);
  const listed = await as('ama')({ path: '/groups' });
  assert.deepEqual(listed.json, [group]);
  assert.equal(listed.headers.get('x-total-count'), '1');
  assertDone(await as('ama')({ method: 'PUT', path: `/groups/${id}/name`, body: 'Class 5B' }));
  for (const by of ['kofi', 'yaw']) {
    assertRefused(await as(by)({ path: `/groups/${id}` }), 404, { of: by });
    assertRefused(await put(`/groups/${id}/usernames`, [], by), 404, { of: by });
    assertRefused(await as(by)({ method: 'DELETE', path: `/groups/${id}` }), 404, { of: by });
    assert.deepEqual((await as(by)({ path: '/groups' })).json, [], by);
  }
  assertRefused(await as('guest')({ path: '/groups' }), 403);
  const seen = (await as('admin')({ path: `/groups/${id}` })).json;
  assert.deepEqual(seen, { ...group, name: 'Class 5B' });
  assertDone(await as('ama')({ method: 'DELETE', path: `/groups/${id}` }));
  assertRefused(await as('ama')({ path: `/groups/${id}` }), 404);
});

test('unknown usernames are told all at once, and change nothing', async () => {
  const json = { name: 'Class', usernames: ['kofi', 'nobody-1', 'nobody-2'] };
  const reply = await as('ama')({ method: 'POST', path: '/groups', json });
  assertRefused(reply, 404);
  assert.match(reply.text, /nobody-1, nobody-2/);
  const id = await aGroup(['kofi']);
  assertRefused(await put(`/groups/${id}/usernames`, ['esi', 'nobody-1']), 404);
  assertRefused(await put(`/groups/${id}/usernames/nobody-1`, undefined), 404);
  const group = (await as('ama')({ path: `/groups/${id}` })).json;
  assert.deepEqual((group as { usernames: unknown }).usernames, ['kofi']);
  for (const wrong of [{}, 'kofi', [7], ['a b'], [null]]) {
    assertRefused(await put(`/groups/${id}/usernames`, wrong), 400, { of: JSON.stringify(wrong) });
  }
  for (const wrong of [{}, { name: '' }, { name: '  ' }, { name: 7 }, [], { usernames: [] }]) {
    const sent = { method: 'POST', path: '/groups', json: wrong };
    assertRefused(await as('ama')(sent), 400, { of: JSON.stringify(wrong) });
  }
});

test('what is shared with a group follows its members at once', async () => {
  const [device, group] = [await aDevice(), await aGroup(['kofi'])];
  const path = `/devices/${device}/grants/groups/${group}`;
  assertDone(await put(path, ['devices:view', 'device-data:view']));
  assert.deepEqual(await mayDo('kofi', device), [200, 200, 403, 403]);
  assert.deepEqual(await mayDo('esi', device), nothing);
  assertDone(await put(`/groups/${group}/usernames/esi`, undefined));
  assert.deepEqual(await mayDo('esi', device), [200, 200, 403, 403]);
  const leave = { method: 'DELETE', path: `/groups/${group}/usernames/kofi` };
  assertRefused(await as('yaw')(leave), 404);
  assertRefused(await as('esi')(leave), 404);
  assertDone(await as('kofi')(leave));
  assert.deepEqual(await mayDo('kofi', device), nothing);
  assertDone(await put(path, ['devices:update']));
  assert.deepEqual(await mayDo('esi', device), [200, 403, 204, 403]);
  assertDone(await put(path, []));
  assert.deepEqual(await mayDo('esi', device), nothing);
});

test('grants of groups are listed beside those of users, for both sides', async () => {
  const [device, group] = [await aDevice(), await aGroup(['yaw'])];
  assertDone(await put(`/devices/${device}/grants/kofi`, ['devices:view']));
  assertDone(await put(`/devices/${device}/grants/groups/${group}`, ['devices:view']));
  const scopes = ['devices:view'];
  const entry = { group, name: 'Class 4B', scopes };
  assert.deepEqual((await as('ama')({ path: `/devices/${device}/grants` })).json, [
    { username: 'kofi', scopes },
    entry,
  ]);
  const mine = async (by: string) =>
    (await as(by)({ path: '/users/me/grants' })).json as Record<string, readonly object[]>;
  const about = { kind: 'device', resource: device };
  const given = (await mine('ama'))['given']?.filter((grant) => 'group' in grant);
  assert.deepEqual(given?.at(-1), { ...about, ...entry });
  assert.deepEqual((await mine('yaw'))['received'], [{ ...about, owner: 'ama', ...entry }]);
});

test('one shares with groups of one’s own, and what is one’s own', async () => {
  const [device, others] = [await aDevice(), await aGroup(['yaw'], 'kofi')];
  const rights = ['devices:view'];
  assertRefused(await put(`/devices/${device}/grants/groups/${others}`, rights), 404);
  assertRefused(await put(`/devices/${device}/grants/groups/none`, rights), 404);
  assertRefused(await put(`/devices/${device}/grants/groups/${others}`, rights, 'kofi'), 403);
  const mine = await aGroup(['yaw']);
  assertRefused(await put(`/devices/${device}/grants/groups/${mine}`, ['gateways:view']), 400);
  assertDone(await put(`/devices/${device}/grants/groups/${mine}`, rights, 'admin'));
  assertDone(await as('ama')({ method: 'PUT', path: `/devices/${device}/owner`, body: 'esi' }));
  assertDone(await as('esi')({ method: 'PUT', path: `/devices/${device}/accept` }));
  assert.deepEqual(await mayDo('yaw', device), nothing);
});

test('sharing a project shares the devices and gateways in it, with the same rights', async () => {
  const device = await aDevice();
  const json = { id: `${device}-gateway`, visibility: 'private' };
  assert.equal((await as('ama')({ method: 'POST', path: '/gateways', json })).status, 200);
  const project = await aProject({ device_ids: [device], gateway_ids: [json.id] });
  const path = `/projects/${project}/grants/kofi`;
  const gateway = async () => (await as('kofi')({ path: `/gateways/${json.id}` })).status;
  assertDone(await put(path, ['projects:view']));
  assert.deepEqual(await mayDo('kofi', device), [200, 200, 403, 403]);
  assert.equal(await gateway(), 200);
  assert.deepEqual(await permissionOn('kofi', 'devices', device), [
    ...['devices:view', 'devices-data:view'],
  ]);
  assert.deepEqual(await permissionOn('kofi', 'gateways', json.id), ['gateways:view']);
  const shown = (await as('kofi')({ path: '/devices' })).text;
  assert.match(shown, new RegExp(`"${device}".*4711`));
  const full = (await as('kofi')({ path: `/projects/${project}?full=true` })).json;
  assert.equal((full as { devices: readonly unknown[] }).devices.length, 1);

  assertDone(await put(path, ['projects:update', 'devices-data:create']));
  assert.deepEqual(await mayDo('kofi', device), [200, 403, 204, 204]);
  assert.deepEqual(await permissionOn('kofi', 'gateways', json.id), [
    ...['gateways:update', 'gateways:view'],
  ]);
  const remove = { method: 'DELETE', path: `/devices/${device}` };
  assertRefused(await as('kofi')(remove), 403);
  assertDone(await put(path, []));
  assert.deepEqual(await mayDo('kofi', device), nothing);
  assert.equal(await gateway(), 403);
  assertDone(await put(path, ['projects:delete']));
  assertDone(await as('kofi')(remove));
});

test('a project reaches what its owner owns, while it is listed', async () => {
  const [listed, other, foreign] = [await aDevice(), await aDevice(), await aDevice('esi')];
  const later = `${listed}-later`;
  const project = await aProject({ device_ids: [listed, foreign, later] });
  assertDone(await put(`/projects/${project}/grants/kofi`, ['projects:view']));
  assert.deepEqual(await mayDo('kofi', foreign), nothing);
  assert.deepEqual(await mayDo('kofi', other), nothing);
  const json = { id: later, visibility: 'private', sensors: [{ id: 'TC1' }] };
  assertDone(await as('ama')({ method: 'POST', path: '/devices', json }));
  assert.deepEqual(await mayDo('kofi', later), [200, 200, 403, 403]);
  assertDone(await as('ama')({ method: 'PUT', path: `/devices/${listed}/owner`, body: 'esi' }));
  assertDone(await as('esi')({ method: 'PUT', path: `/devices/${listed}/accept` }));
  assert.deepEqual(await mayDo('kofi', listed), nothing);
  assertDone(await put(`/projects/${project}/device_ids`, [other]));
  assert.deepEqual(await mayDo('kofi', later), nothing);
  assert.deepEqual(await mayDo('kofi', other), [200, 200, 403, 403]);
  assertDone(await as('ama')({ method: 'DELETE', path: `/projects/${project}` }));
  assert.deepEqual(await mayDo('kofi', other), nothing);
});

test('who may change a shared project does not come to the owner’s other devices', async () => {
  const [listed, secret] = [await aDevice(), await aDevice()];
  const project = await aProject({ device_ids: [listed] });
  assertDone(await put(`/projects/${project}/grants/kofi`, ['projects:view', 'projects:update']));
  const list = (by: string) => put(`/projects/${project}/device_ids`, [listed, secret], by);
  const unshared = async (by: string) => {
    const reply = await as(by)({ path: `/projects/${project}` });
    return (reply.json as { unshared?: unknown }).unshared;
  };
  assertDone(await list('kofi'));
  assert.deepEqual(await mayDo('kofi', secret), nothing);
  assert.deepEqual(await mayDo('kofi', listed), [200, 200, 204, 403]);
  assert.deepEqual(await unshared('ama'), { device_ids: [secret], gateway_ids: [] });
  assert.equal(await unshared('kofi'), undefined);
  const key = await as('ama')({ method: 'POST', path: '/auth/keys', json: { name: 'k' } });
  const token = (key.json as { key: string }).key;
  const json = [listed, secret];
  const path = `/projects/${project}/device_ids`;
  assertDone(await service.call({ method: 'PUT', path, json, token }));
  assert.deepEqual(await mayDo('kofi', secret), nothing);
  assertDone(await list('ama'));
  assert.deepEqual(await mayDo('kofi', secret), [200, 200, 204, 403]);
  assert.equal(await unshared('ama'), undefined);
});

test('a project shared with a group reaches whoever is in it', async () => {
  const [device, group] = [await aDevice(), await aGroup(['kofi', 'esi'])];
  const project = await aProject({ device_ids: [device] });
  assertDone(await put(`/projects/${project}/grants/groups/${group}`, ['projects:view']));
  for (const pupil of ['kofi', 'esi']) {
    assert.deepEqual(await mayDo(pupil, device), [200, 200, 403, 403], pupil);
  }
  const path = `/groups/${group}/usernames/kofi`;
  assertDone(await as('ama')({ method: 'DELETE', path }));
  assert.deepEqual(await mayDo('kofi', device), nothing);
  assert.deepEqual(await mayDo('esi', device), [200, 200, 403, 403]);
  assertDone(await as('ama')({ method: 'DELETE', path: `/groups/${group}` }));
  assert.deepEqual(await mayDo('esi', device), nothing);
});

test('a group has an end, and so has their number', async () => {
  const many = Array.from({ length: 1_001 }, (_, index) => `pupil-${index}`);
  const json = { name: 'Everybody', usernames: many };
  assertRefused(await as('ama')({ method: 'POST', path: '/groups', json }), 400);
  const yaw = as('yaw');
  for (let count = 0; count < 200; count += 1) await aGroup([], 'yaw');
  const refused = await yaw({ method: 'POST', path: '/groups', json: { name: 'One more' } });
  assert.equal(refused.status, 403);
  assert.match(refused.text, /limit_reached.*delete one/);
});
