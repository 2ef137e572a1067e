import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const value = 4711.25;
let service: Service;
let created = 0;

before(async () => {
  service = await startService();
  for (const username of ['ama', 'kofi', 'esi']) await service.tokenOf(username);
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

/** A new device of `username` with a value in its sensor TC1. */
async function aDevice(username = 'ama', visibility = 'private'): Promise<string> {
  created += 1;
  const id = `shared-${created}`;
  const json = { id, visibility, name: 'Secret garden', sensors: [{ id: 'TC1', name: 'Well' }] };
  assertDone(await as(username)({ method: 'POST', path: '/devices', json }));
  const path = `/devices/${id}/sensors/TC1/value`;
  assertDone(await as(username)({ method: 'POST', path, json: { value } }));
  return id;
}

const grantsPath = (id: string, username: string) => `/devices/${id}/grants/${username}`;

const share = (id: string, username: string, rights: unknown, by = 'ama') =>
  as(by)({ method: 'PUT', path: grantsPath(id, username), json: rights });

async function grantsOn(id: string, by = 'ama'): Promise<unknown> {
  const reply = await as(by)({ path: `/devices/${id}/grants` });
  assert.equal(reply.status, 200, reply.text);
  return reply.json;
}

const read = (by: string, id: string) => as(by)({ path: `/devices/${id}` });

const setName = (by: string, id: string) =>
  as(by)({ method: 'PUT', path: `/devices/${id}/name`, body: `named by ${by}` });

const allScopes = [
  'devices:update',
  'devices:view',
  'devices:delete',
  'devices-data:create',
  'devices-data:view',
];

async function permissionOn(id: string, by: string): Promise<unknown> {
  const reply = await as(by)({ path: '/auth/permissions/devices' });
  assert.equal(reply.status, 200, reply.text);
  const entries = reply.json as readonly { resource: string; scopes: readonly string[] }[];
  return entries.find(({ resource }) => resource === id)?.scopes;
}

test('rights are granted in either spelling, listed, replaced and revoked', async () => {
  const id = await aDevice();
  assert.deepEqual(await grantsOn(id), []);
  assertDone(await share(id, 'kofi', ['device-data:view', 'device:view']));
  assertDone(await share(id, 'esi', ['devices:update', 'device:update']));
  assert.deepEqual(await grantsOn(id), [
    { username: 'esi', scopes: ['devices:update'] },
    { username: 'kofi', scopes: ['devices:view', 'devices-data:view'] },
  ]);
  assertDone(await share(id, 'kofi', ['devices:delete']));
  assertDone(await share(id, 'esi', []));
  assert.deepEqual(await grantsOn(id), [{ username: 'kofi', scopes: ['devices:delete'] }]);
  assertDone(await as('ama')({ method: 'DELETE', path: grantsPath(id, 'kofi') }));
  assert.deepEqual(await grantsOn(id), []);
});

test('unknown users, rights and devices cannot be shared', async () => {
  const id = await aDevice();
  assertRefused(await share(id, 'no-such-user', ['devices:view']), 404);
  assertRefused(await share('no-such-device', 'kofi', ['devices:view']), 404);
  const wrong = [['devices:fly'], ['gateways:view'], ['view'], [7], 'devices:view', {}, [null]];
  for (const rights of wrong) {
    assertRefused(await share(id, 'kofi', rights), 400, { of: JSON.stringify(rights) });
  }
  assert.deepEqual(await grantsOn(id), []);
});

test('only the owner and admins share, whatever was granted to others', async () => {
  const id = await aDevice();
  assertDone(await share(id, 'kofi', allScopes));
  for (const by of ['guest', 'esi', 'kofi']) {
    assertRefused(await share(id, 'esi', ['devices:view'], by), 403, { of: by });
    assertRefused(await as(by)({ path: `/devices/${id}/grants` }), 403, { of: by });
    const revoke = { method: 'DELETE', path: grantsPath(id, 'kofi') };
    assertRefused(await as(by)(revoke), 403, { of: by });
    const handOver = { method: 'PUT', path: `/devices/${id}/owner`, body: 'esi' };
    assertRefused(await as(by)(handOver), 403, { of: by });
  }
  assertDone(await share(id, 'kofi', ['devices:view'], 'admin'));
  assert.deepEqual(await grantsOn(id, 'admin'), [{ username: 'kofi', scopes: ['devices:view'] }]);
});

test('a grant is effective at once, and so is its end', async () => {
  const id = await aDevice();
  assertRefused(await setName('kofi', id), 403);
  assertDone(await share(id, 'kofi', ['devices:update']));
  assertDone(await setName('kofi', id));
  assertDone(await share(id, 'kofi', []));
  assertRefused(await setName('kofi', id), 403);
  assertRefused(await read('kofi', id), 403);
});

test('any grant lets its holder see the device, and one view no more than that', async () => {
  for (const right of allScopes) {
    const id = await aDevice();
    assertDone(await share(id, 'kofi', [right]));
    assert.equal((await read('kofi', id)).status, 200, right);
    const expected = allScopes.filter((scope) => scope === right || scope === 'devices:view');
    assert.deepEqual(await permissionOn(id, 'kofi'), expected);
  }
});

test('last values are hidden from those who may not view the data', async () => {
  const id = await aDevice();
  assertDone(await share(id, 'kofi', ['devices:view', 'devices:update', 'devices-data:create']));
  const answers = (by: string) =>
    Promise.all(
      [
        `/devices/${id}`,
        `/devices/${id}/sensors`,
        `/devices/${id}/sensors/TC1`,
        `/devices?q=id==${id}`,
      ].map((path) => as(by)({ path })),
    );
  for (const { status, text } of await answers('kofi')) {
    assert.equal(status, 200);
    assert.doesNotMatch(text, /last_value|"value"|4711/);
    assert.match(text, /TC1/);
  }
  assertRefused(await as('kofi')({ path: `/devices/${id}/sensors/TC1/values` }), 403);
  assertDone(await share(id, 'kofi', ['devices-data:view']));
  for (const { status, text } of await answers('kofi')) {
    assert.equal(status, 200);
    assert.match(text, /"last_value":\{"value":4711\.25/);
  }
});

test('a filter on last values does not tell what may not be viewed', async () => {
  const id = await aDevice();
  assertDone(await share(id, 'kofi', ['devices:view']));
  const found = async (by: string, q: string) => {
    const reply = await as(by)({ path: `/devices?limit=1000&q=${encodeURIComponent(q)}` });
    assert.equal(reply.status, 200, reply.text);
    const ids = (reply.json as readonly { id: string }[]).map((device) => device.id);
    assert.equal(reply.headers.get('x-total-count'), String(ids.length));
    return ids.includes(id);
  };
  const telling = [`TC1==${value}`, 'TC1>4711', 'TC1<4712', 'TC1!=0', 'TC1~=^4711', 'TC1==0..9999'];
  for (const q of telling.map((filter) => `id==${id};${filter}`)) {
    assert.equal(await found('ama', q), true, `the owner asks ${q}`);
    assert.equal(await found('kofi', q), false, q);
    assert.equal(await found('guest', q), false, q);
  }
  assert.equal(await found('kofi', `id==${id}`), true);
});

test('each side finds its grants under /users/me/grants', async () => {
  const [giver, taker] = ['giver', 'taker'];
  for (const username of [giver, taker]) await service.tokenOf(username);
  const id = await aDevice(giver);
  assertDone(await share(id, taker, ['devices-data:view', 'devices:update'], giver));
  const scopes = ['devices:update', 'devices-data:view'];
  const mine = async (by: string) => (await as(by)({ path: '/users/me/grants' })).json;
  assert.deepEqual(await mine(giver), {
    given: [{ kind: 'device', resource: id, username: taker, scopes }],
    received: [],
  });
  assert.deepEqual(await mine(taker), {
    given: [],
    received: [{ kind: 'device', resource: id, owner: giver, scopes }],
  });
  assertRefused(await as('guest')({ path: '/users/me/grants' }), 403);
});

test('permissions name every device on which one has a right, and no other', async () => {
  const hidden = await aDevice();
  const open = await aDevice('ama', 'public');
  const publicScopes = ['devices:view', 'devices-data:create', 'devices-data:view'];
  for (const by of ['ama', 'admin']) {
    assert.deepEqual(await permissionOn(hidden, by), allScopes, by);
    assert.deepEqual(await permissionOn(open, by), allScopes, by);
  }
  for (const by of ['guest', 'esi']) {
    assert.equal(await permissionOn(hidden, by), undefined, by);
    assert.deepEqual(await permissionOn(open, by), publicScopes, by);
  }
  assertDone(await share(open, 'kofi', ['devices:delete']));
  const expected = ['devices:view', 'devices:delete', 'devices-data:create', 'devices-data:view'];
  assert.deepEqual(await permissionOn(open, 'kofi'), expected);
});

test('the refusal for a private device says nothing about the device', async () => {
  const id = await aDevice();
  const paths = ['', '/sensors', '/sensors/TC1', '/sensors/TC1/values', '/grants', '/sensors/none'];
  for (const by of ['guest', 'esi']) {
    for (const path of paths) {
      const reply = await as(by)({ path: `/devices/${id}${path}` });
      assertRefused(reply, 403, { of: `${by} ${path}` });
      assert.doesNotMatch(reply.text, /ama|secret garden|TC1|well|4711|private/i);
      assert.equal(reply.headers.get('x-total-count'), null);
    }
  }
});

test('a device handed over is the new owner’s and no longer the old one’s', async () => {
  const id = await aDevice();
  const handOver = async (by: string, to: string) => {
    const given = await as(by)({ method: 'PUT', path: `/devices/${id}/owner`, body: to });
    if (given.status !== 204 || by === 'admin') return given;
    return as(to)({ method: 'PUT', path: `/devices/${id}/accept` });
  };
  assertRefused(await handOver('ama', 'no-such-user'), 404);
  assertDone(await handOver('ama', 'kofi'));
  assertRefused(await read('ama', id), 403);
  assertRefused(await setName('ama', id), 403);
  assertRefused(await share(id, 'esi', ['devices:view']), 403);
  assert.equal(((await read('kofi', id)).json as { owner: string }).owner, 'kofi');
  assertDone(await setName('kofi', id));
  assertDone(await handOver('admin', 'esi'));
  assertRefused(await read('kofi', id), 403);
  assert.equal((await read('esi', id)).status, 200);
});

test('who owned a device after holding a grant keeps nothing when it goes on', async () => {
  const id = await aDevice();
  assertDone(await share(id, 'kofi', ['devices:view', 'devices:update']));
  const handOver = async (by: string, to: string) => {
    const given = await as(by)({ method: 'PUT', path: `/devices/${id}/owner`, body: to });
    if (given.status !== 204 || by === 'admin') return given;
    return as(to)({ method: 'PUT', path: `/devices/${id}/accept` });
  };
  assertDone(await handOver('ama', 'kofi'));
  assert.deepEqual(await grantsOn(id, 'kofi'), []);
  assertDone(await handOver('kofi', 'esi'));
  assertRefused(await read('kofi', id), 403);
});

test('a device made anew under an old id inherits no grants', async () => {
  const id = await aDevice();
  assertDone(await share(id, 'kofi', ['devices:view']));
  assertDone(await as('ama')({ method: 'DELETE', path: `/devices/${id}` }));
  const json = { id, visibility: 'private' };
  assertDone(await as('ama')({ method: 'POST', path: '/devices', json }));
  assertRefused(await read('kofi', id), 403);
  assert.deepEqual(await grantsOn(id), []);
});

test('a device made without a token is public and everybody may change it', async () => {
  const id = await aDevice('guest', 'private');
  const device = (await read('esi', id)).json as { owner: string; visibility: string };
  assert.deepEqual([device.owner, device.visibility], ['guest', 'public']);
  for (const by of ['guest', 'kofi', 'admin']) assertDone(await setName(by, id));
  const hide = { method: 'PUT', path: `/devices/${id}/visibility`, body: 'private' };
  for (const by of ['guest', 'kofi', 'admin']) assertRefused(await as(by)(hide), 400, { of: by });
  assert.equal((await read('guest', id)).status, 200);
  assert.deepEqual(await permissionOn(id, 'guest'), allScopes);
  assertDone(await as('esi')({ method: 'DELETE', path: `/devices/${id}` }));
});

test('a device without an owner is claimed first and shared then', async () => {
  const id = await aDevice('guest', 'public');
  for (const by of ['guest', 'kofi', 'admin']) {
    assertRefused(await share(id, 'esi', ['devices:view'], by), 403, { of: by });
  }
  assertDone(await as('kofi')({ method: 'PUT', path: `/devices/${id}/owner`, body: 'kofi' }));
  assertRefused(await setName('guest', id), 403);
  assertRefused(await setName('ama', id), 403);
  const hide = { method: 'PUT', path: `/devices/${id}/visibility`, body: 'private' };
  assertDone(await as('kofi')(hide));
  assertRefused(await read('guest', id), 403);
  assertDone(await share(id, 'esi', ['devices:view'], 'kofi'));
  assert.equal((await read('esi', id)).status, 200);
});
