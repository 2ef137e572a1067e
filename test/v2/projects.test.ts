import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
  for (const username of ['ama', 'kofi']) await service.tokenOf(username);
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

const post = (json: unknown, by = 'ama') => as(by)({ method: 'POST', path: '/projects', json });

async function aProject(fields: object = {}, by = 'ama'): Promise<string> {
  const reply = await post(fields, by);
  assert.equal(reply.status, 200, reply.text);
  return `/projects/${reply.text}`;
}

async function read(path: string, by = 'ama'): Promise<Record<string, unknown>> {
  const reply = await as(by)({ path });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Record<string, unknown>;
}

const put = (path: string, body: string, by = 'ama', type = 'application/json') =>
  as(by)({ method: 'PUT', path, body, type });

test('a new project answers its id as a bare string, made up when none is given', async () => {
  const raw = await post({ name: 'Irrigation' });
  assert.match(raw.text, /^[0-9a-f-]{36}$/);
  assert.match(raw.headers.get('content-type') ?? '', /^text\/plain/);
  const path = `/projects/${raw.text}`;
  const empty = { device_ids: [], gateway_ids: [] };
  assert.deepEqual(await read(path), { id: raw.text, name: 'Irrigation', owner: 'ama', ...empty });
  const headers = { accept: 'application/json' };
  const given = { method: 'POST', path: '/projects', json: { id: 'farm' }, headers };
  assert.equal((await as('ama')(given)).text, '"farm"');
  assert.deepEqual(await read('/projects/farm'), { id: 'farm', owner: 'ama', ...empty });
});

test('a project keeps its lists in order, each id once, be the things there or not', async () => {
  const lists = { device_ids: ['b', 'a', 'b'], gateway_ids: ['none'] };
  const path = await aProject({ ...lists, owner: 'kofi' });
  const { device_ids, gateway_ids, owner } = await read(path);
  assert.deepEqual([device_ids, gateway_ids, owner], [['b', 'a'], ['none'], 'ama']);
});

test('a project that cannot be is refused, and a taken id is 422', async () => {
  await aProject({ id: 'taken' });
  for (const by of ['ama', 'kofi', 'guest']) assertRefused(await post({ id: 'taken' }, by), 422);
  const many = Array.from({ length: 1_001 }, (_, index) => `d${index}`);
  const wrong = [{ id: 'a b' }, { id: 7 }, { name: [] }, { device_ids: 'd' }, { gateway_ids: {} }];
  const bad = [{ device_ids: [7] }, { device_ids: ['a/b'] }, { gateway_ids: [''] }, [], 'x'];
  for (const json of [...wrong, ...bad, { device_ids: many }, { gateway_ids: many }]) {
    assertRefused(await post(json), 400, { of: JSON.stringify(json).slice(0, 40) });
  }
  await aProject({ id: 'large', device_ids: many.slice(1) });
});

test('every field of a project is set and removed by itself', async () => {
  const path = await aProject();
  assertDone(await put(`${path}/name`, 'Farm', 'ama', 'text/plain'));
  assertDone(await put(`${path}/device_ids`, '["d","e"]'));
  assertDone(await put(`${path}/gateway_ids`, '["g"]', 'ama', 'text/plain'));
  const { name, device_ids, gateway_ids } = await read(path);
  assert.deepEqual([name, device_ids, gateway_ids], ['Farm', ['d', 'e'], ['g']]);
  for (const field of ['name', 'device_ids', 'gateway_ids']) {
    assertDone(await put(`${path}/${field}`, 'null'));
  }
  const id = path.replace('/projects/', '');
  assert.deepEqual(await read(path), { id, owner: 'ama', device_ids: [], gateway_ids: [] });
  for (const body of ['"d"', '{}', '1', '[1]', '["a b"]', '[[]]', 'd']) {
    assertRefused(await put(`${path}/device_ids`, body), 400, { of: body });
    assertRefused(await put(`${path}/gateway_ids`, body), 400, { of: body });
    assertRefused(await put('/projects/nowhere/device_ids', '[]'), 404);
  }
  assertRefused(await put(`${path}/owner`, 'kofi'), 404);
});

test('full adds the devices and gateways that exist and that the caller may view', async () => {
  for (const visibility of ['public', 'private']) {
    const json = { id: `d-${visibility}`, visibility, sensors: [{ id: 'TC1' }] };
    assertDone(await as('ama')({ method: 'POST', path: '/devices', json }));
    const value = { method: 'POST', path: `/devices/${json.id}/sensors/TC1/value`, body: '7' };
    assertDone(await as('ama')(value));
    const gateway = { id: `g-${visibility}`, visibility };
    const declared = await as('ama')({ method: 'POST', path: '/gateways', json: gateway });
    assert.equal(declared.status, 200);
  }
  const device_ids = ['none', 'd-private', 'd-public'];
  const gateway_ids = ['g-private', 'none', 'g-public'];
  const path = await aProject({ device_ids, gateway_ids });
  const share = { method: 'PUT', path: `${path}/grants/kofi`, json: ['projects:view'] };
  assertDone(await as('ama')(share));
  const [open, hidden] = [await read('/devices/d-public'), await read('/devices/d-private')];
  const [near, far] = [await read('/gateways/g-public'), await read('/gateways/g-private')];
  const project = await read(path);
  assert.deepEqual(project['device_ids'], device_ids);
  const ofAma = { ...project, devices: [open, hidden], gateways: [near, far] };
  assert.deepEqual(await read(`${path}?full=true`), ofAma);
  // Sharing a project shares what is in it.
  assert.deepEqual(await read(`${path}?full=true`, 'kofi'), ofAma);
  await service.tokenOf('esi');
  for (const hiddenFromAma of ['d-private', 'g-private']) {
    const [kind] = hiddenFromAma.startsWith('d') ? ['devices'] : ['gateways'];
    const handOver = { method: 'PUT', path: `/${kind}/${hiddenFromAma}/owner`, body: 'esi' };
    assertDone(await as('ama')(handOver));
    assertDone(await as('esi')({ method: 'PUT', path: `/${kind}/${hiddenFromAma}/accept` }));
  }
  const ofKofi = { ...project, devices: [open], gateways: [near] };
  assert.deepEqual(await read(`${path}?full=true`, 'kofi'), ofKofi);
  const empty = await read(`${await aProject()}?full=true`);
  assert.deepEqual([empty['devices'], empty['gateways']], [[], []]);
  assertRefused(await as('ama')({ path: `${path}?full=yes` }), 400);
});

test('a project is private to its owner, to whom it was granted, and to admins', async () => {
  const path = await aProject({ name: 'Secret plan' });
  for (const by of ['guest', 'kofi']) {
    const reply = await as(by)({ path });
    assertRefused(reply, 403);
    assert.doesNotMatch(reply.text, /secret|ama/i);
    assertRefused(await put(`${path}/name`, 'x', by), 403);
    assertRefused(await as(by)({ method: 'DELETE', path }), 403);
  }
  const share = (json: readonly string[]) =>
    as('ama')({ method: 'PUT', path: `${path}/grants/kofi`, json });
  assertDone(await share(['project:update']));
  assert.equal((await read(path, 'kofi'))['name'], 'Secret plan');
  assertDone(await put(`${path}/name`, 'Shared plan', 'kofi'));
  assertRefused(await as('kofi')({ method: 'DELETE', path }), 403);
  assertRefused(await as('kofi')({ path: `${path}/grants` }), 403);
  assertDone(await share([]));
  assertRefused(await as('kofi')({ path }), 403);
  assert.equal((await read(path, 'admin'))['name'], 'Shared plan');
  assertDone(await as('admin')({ method: 'DELETE', path }));
  assertRefused(await as('ama')({ path }), 404);
  assertRefused(await as('ama')({ method: 'DELETE', path }), 404);
});

test('a project of the guest is everybody’s and cannot be shared', async () => {
  const path = await aProject({ name: 'Ours' }, 'guest');
  assert.equal((await read(path, 'kofi'))['owner'], 'guest');
  assertDone(await put(`${path}/device_ids`, '["d"]', 'guest'));
  const share = { method: 'PUT', path: `${path}/grants/kofi`, json: ['projects:view'] };
  assertRefused(await as('ama')(share), 403, { saying: /of your own/ });
  assertDone(await as('kofi')({ method: 'DELETE', path }));
});

test('the list pages in order of creation and shows each their own', async () => {
  await using other = await startService();
  for (const by of ['ama', 'guest', 'kofi']) {
    for (const word of ['one', 'two']) {
      const json = { id: `${by}-${word}` };
      assert.equal((await other.as(by)({ method: 'POST', path: '/projects', json })).status, 200);
    }
  }
  const list = async (by: string, query = '') => {
    const reply = await other.as(by)({ path: `/projects${query}` });
    assert.equal(reply.status, 200, reply.text);
    const ids = (reply.json as { id: string }[]).map(({ id }) => id);
    return [reply.headers.get('x-total-count'), ...ids];
  };
  const guests = ['guest-one', 'guest-two'];
  assert.deepEqual(await list('guest'), ['2', ...guests]);
  assert.deepEqual(await list('ama'), ['4', 'ama-one', 'ama-two', ...guests]);
  assert.deepEqual(await list('kofi', '?limit=2&offset=1'), ['4', 'guest-two', 'kofi-one']);
  const all = ['ama-one', 'ama-two', ...guests, 'kofi-one', 'kofi-two'];
  assert.deepEqual(await list('admin'), ['6', ...all]);
  assertRefused(await other.call({ path: '/projects?offset=-1' }), 400);
});

test('an account that is deleted takes its gateways and projects with it', async () => {
  const esi = as('esi');
  const { id } = (await esi({ path: '/users/me' })).json as { id: string };
  const project = await aProject({ id: 'esi-project' }, 'esi');
  const json = { id: 'esi-gateway' };
  assert.equal((await esi({ method: 'POST', path: '/gateways', json })).status, 200);
  for (const [path, right] of [
    [project, 'projects:view'],
    ['/gateways/esi-gateway', 'gateways:view'],
  ]) {
    const share = { method: 'PUT', path: `${path}/grants/kofi`, json: [right] };
    assertDone(await esi(share));
  }
  const received = async () =>
    ((await read('/users/me/grants', 'kofi'))['received'] as { owner: string }[]).filter(
      ({ owner }) => owner === 'esi',
    );
  assert.deepEqual(await received(), [
    { kind: 'gateway', resource: 'esi-gateway', owner: 'esi', scopes: ['gateways:view'] },
    { kind: 'project', resource: 'esi-project', owner: 'esi', scopes: ['projects:view'] },
  ]);
  assertDone(await esi({ method: 'DELETE', path: `/users/${id}` }));
  for (const path of [project, '/gateways/esi-gateway']) {
    assertRefused(await as('admin')({ path }), 404);
  }
  assert.deepEqual(await received(), []);
});
