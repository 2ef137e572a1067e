import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { noon } from '../contract/storage/builders.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
let now = noon;
let created = 0;

before(async () => {
  service = await startService({ clock: { now: () => now } });
  for (const username of ['ama', 'kofi']) await service.tokenOf(username);
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

const post = (json: unknown, by = 'ama') => as(by)({ method: 'POST', path: '/gateways', json });

async function aGateway(fields: object = {}, by = 'ama'): Promise<string> {
  created += 1;
  const id = `gw-${created}`;
  const reply = await post({ id, ...fields }, by);
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.text, '');
  return `/gateways/${id}`;
}

async function read(path: string, by = 'ama'): Promise<Record<string, unknown>> {
  const reply = await as(by)({ path });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Record<string, unknown>;
}

const put = (path: string, body: string, by = 'ama', type = 'text/plain') =>
  as(by)({ method: 'PUT', path, body, type });

const when = (ms: number) => new Date(ms).toISOString();

test('a gateway is declared with an empty 200 and read as it was given', async () => {
  const dates = { date_created: when(now), date_modified: when(now), connected: false };
  const given = {
    name: 'Water tower',
    visibility: 'private',
    location: { latitude: 5, longitude: -1 },
  };
  const path = await aGateway({ ...given, owner: 'kofi', status: { up: 1 }, connected: true });
  const id = path.replace('/gateways/', '');
  assert.deepEqual(await read(path), { id, owner: 'ama', ...given, ...dates });
  const bare = await aGateway();
  assert.deepEqual(await read(bare), {
    id: bare.replace('/gateways/', ''),
    owner: 'ama',
    ...dates,
  });
});

test('a gateway that cannot be is refused, and a taken id is 422', async () => {
  const path = await aGateway();
  const id = path.replace('/gateways/', '');
  assertRefused(await post({ id }), 422);
  assertRefused(await post({ id }, 'kofi'), 422);
  const wrong: unknown[] = [
    {},
    { id: '' },
    { id: 'a/b' },
    { id: 7 },
    { id: 'x', visibility: 'secret' },
  ];
  for (const json of [...wrong, { id: 'x', location: { latitude: 91, longitude: 0 } }, [], 'x']) {
    assertRefused(await post(json), 400, { of: JSON.stringify(json) });
  }
  assertRefused(await as('ama')({ path: '/gateways/x' }), 404);
});

test('every field of a gateway is set and removed by itself', async () => {
  const path = await aGateway();
  now += 1_000;
  assertDone(await put(`${path}/name`, 'Tower'));
  assertDone(await put(`${path}/visibility`, 'private'));
  assertDone(await put(`${path}/location`, '5.6,-0.2'));
  const { name, visibility, location, date_modified } = await read(path);
  const expected = ['Tower', 'private', { latitude: 5.6, longitude: -0.2 }, when(now)];
  assert.deepEqual([name, visibility, location, date_modified], expected);
  for (const field of ['name', 'location']) {
    assertDone(await put(`${path}/${field}`, 'null', 'ama', 'application/json'));
    assert.equal((await read(path))[field], undefined);
  }
  assertRefused(await put(`${path}/visibility`, 'secret'), 400);
  assertRefused(await put(`${path}/location`, 'north'), 400);
  assertRefused(await put(`${path}/status`, '{}'), 404);
  for (const [field, body] of [
    ['name', 'x'],
    ['visibility', 'public'],
    ['location', '1,2'],
    ['owner', 'kofi'],
  ] as const) {
    assertRefused(await put(`/gateways/nowhere/${field}`, body), 404, { of: field });
  }
});

test('a heartbeat sets last_seen by PUT and POST on both paths, whatever the body', async () => {
  const path = await aGateway();
  const { date_modified } = await read(path);
  const bodies = [undefined, '', 'alive', '[1]', '1', 'null', '{"up":', '"x"', '[{"a":1}]'];
  for (const method of ['PUT', 'POST']) {
    for (const word of ['health', 'heartbeat']) {
      for (const body of bodies) {
        for (const type of ['application/json', 'text/plain', 'application/xml']) {
          now += 1_000;
          const request = { method, path: `${path}/${word}`, type };
          assertDone(await as('ama')(body === undefined ? request : { ...request, body }));
          const { last_seen, status, connected } = await read(path);
          assert.deepEqual([last_seen, status, connected], [when(now), undefined, false]);
        }
      }
    }
  }
  assert.equal((await read(path))['date_modified'], date_modified);
  assertRefused(await as('ama')({ path: `${path}/health` }), 405);
});

test('a JSON object in a heartbeat is kept as the status, until another one comes', async () => {
  const path = await aGateway();
  const beat = (body: string) => as('ama')({ method: 'POST', path: `${path}/health`, body });
  assertDone(await beat('{"uptime":12345678901234567890,"disk":{"free":0.5}}'));
  assertDone(await beat('fine'));
  const { text } = await as('ama')({ path });
  assert.ok(text.includes('"status":{"uptime":12345678901234567890,"disk":{"free":0.5}}'), text);
  assertDone(await beat('{}'));
  assert.deepEqual((await read(path))['status'], {});
  assertRefused(await beat(JSON.stringify({ log: 'x'.repeat(65_536) })), 400, { saying: /65536/ });
  assert.deepEqual((await read(path))['status'], {});
  assertRefused(await beat(`{"log":"${'x'.repeat(1_048_576)}"}`), 413);
});

test('heartbeats are for those who may update, and of an unknown gateway 404', async () => {
  const path = await aGateway({ visibility: 'public' });
  const beat = (by: string, to = path) => as(by)({ method: 'PUT', path: `${to}/heartbeat` });
  assertRefused(await beat('kofi'), 403);
  assertRefused(await beat('guest'), 403);
  assertRefused(await beat('ama', '/gateways/nowhere'), 404);
  const share = { method: 'PUT', path: `${path}/grants/kofi` };
  assertDone(await as('ama')({ ...share, json: ['gateways:update'] }));
  assertDone(await beat('kofi'));
  assertDone(await beat('admin'));
});

test('a gateway of the guest is public and everybody’s, until somebody takes it over', async () => {
  const path = await aGateway({ visibility: 'private' }, 'guest');
  const { owner, visibility } = await read(path, 'kofi');
  assert.deepEqual([owner, visibility], ['guest', 'public']);
  assertDone(await as('guest')({ method: 'POST', path: `${path}/health` }));
  assertDone(await put(`${path}/name`, 'Ours', 'guest'));
  assertRefused(await put(`${path}/visibility`, 'private', 'kofi'), 400, { saying: /owner/ });
  const share = { method: 'PUT', path: `${path}/grants/kofi`, json: ['gateways:update'] };
  assertRefused(await as('ama')(share), 403);
  assertDone(await put(`${path}/owner`, 'ama', 'ama'));
  assertRefused(await put(`${path}/name`, 'Mine', 'guest'), 403);
  assertRefused(await put(`${path}/owner`, 'kofi', 'kofi'), 403);
  assertRefused(await put(`${path}/owner`, 'nobody-at-all', 'ama'), 404);
  assertDone(await put(`${path}/visibility`, 'private', 'ama'));
  assertRefused(await as('guest')({ path }), 403);
});

test('handing over ends the grant of the new owner', async () => {
  const path = await aGateway({ visibility: 'private' });
  const share = { method: 'PUT', path: `${path}/grants/kofi`, json: ['gateways:update'] };
  assertDone(await as('ama')(share));
  assertDone(await put(`${path}/owner`, 'kofi'));
  assertDone(await as('kofi')({ method: 'PUT', path: `${path}/accept` }));
  assertRefused(await as('ama')({ path }), 403);
  assert.deepEqual((await as('kofi')({ path: `${path}/grants` })).json, []);
});

test('full adds the devices with its gateway_id that the caller may view', async () => {
  const id = 'a..b,c';
  assert.equal((await post({ id })).status, 200);
  for (const [name, visibility] of [
    ['seen', 'public'],
    ['hidden', 'private'],
  ]) {
    const json = { id: name, gateway_id: id, visibility, sensors: [{ id: 'TC1' }] };
    assertDone(await as('ama')({ method: 'POST', path: '/devices', json }));
    const value = {
      method: 'POST',
      path: `/devices/${name}/sensors/TC1/value`,
      json: { value: 7 },
    };
    assertDone(await as('ama')(value));
  }
  for (const json of [{ id: 'a' }, { id: 'near', gateway_id: 'a..b' }]) {
    assertDone(await as('ama')({ method: 'POST', path: '/devices', json }));
  }
  const full = (by: string) => read(`/gateways/${id}?full=true`, by);
  const seen = await read('/devices/seen', 'ama');
  const hidden = await read('/devices/hidden', 'ama');
  assert.deepEqual((await full('ama'))['devices'], [seen, hidden]);
  for (const by of ['guest', 'kofi']) assert.deepEqual((await full(by))['devices'], [seen]);
  assert.equal((await read(`/gateways/${id}`))['devices'], undefined);
  assert.equal((await read(`/gateways/${id}?full=false`))['devices'], undefined);
  assertRefused(await as('ama')({ path: `/gateways/${id}?full=1` }), 400);
  assertDone(await as('ama')({ method: 'DELETE', path: `/gateways/${id}` }));
  assert.equal((await read('/devices/seen'))['gateway_id'], id);
});

test('a thousand devices of strangers hide none of the owner', async () => {
  const path = await aGateway();
  const id = path.split('/').at(-1);
  const add = (by: string, ids: readonly string[]) =>
    as(by)({
      method: 'POST',
      path: '/devices',
      json: ids.map((one) => ({ id: one, gateway_id: id })),
    });
  assert.equal(
    (
      await add(
        'kofi',
        Array.from({ length: 1_000 }, (_, at) => `evil-${at}`),
      )
    ).status,
    200,
  );
  assert.equal((await add('ama', ['mine-1', 'mine-2'])).status, 200);
  const idsIn = (gateway: Record<string, unknown>) =>
    (gateway['devices'] as { id: string }[]).map((device) => device.id);
  for (const by of ['ama', 'guest']) {
    const shown = idsIn(await read(`${path}?full=true`, by));
    assert.deepEqual([shown.length, ...shown.slice(-2)], [1_000, 'mine-1', 'mine-2'], by);
  }
  const listed = (await as('ama')({ path: '/gateways?full=true&limit=1000' })).json;
  const [found] = (listed as { id: string }[]).filter((one) => one.id === id);
  assert.deepEqual(idsIn(found as Record<string, unknown> & { id: string }).slice(-1), ['mine-2']);
});

test('the list pages in order of creation and leaves out what is hidden', async () => {
  await using other = await startService();
  for (const by of ['ama', 'kofi']) {
    for (const visibility of ['public', 'private']) {
      const json = { id: `${by}-${visibility}`, visibility };
      assert.equal((await other.as(by)({ method: 'POST', path: '/gateways', json })).status, 200);
    }
  }
  const list = async (by: string, query = '') => {
    const reply = await other.as(by)({ path: `/gateways${query}` });
    assert.equal(reply.status, 200, reply.text);
    const ids = (reply.json as { id: string }[]).map(({ id }) => id);
    return { ids, total: reply.headers.get('x-total-count'), link: reply.headers.get('link') };
  };
  const all = ['ama-public', 'ama-private', 'kofi-public', 'kofi-private'];
  assert.deepEqual(await list('admin'), { ids: all, total: '4', link: null });
  assert.deepEqual((await list('guest')).ids, ['ama-public', 'kofi-public']);
  assert.deepEqual((await list('kofi')).ids, ['ama-public', 'kofi-public', 'kofi-private']);
  const page = await list('kofi', '?limit=1&offset=1');
  assert.deepEqual([page.ids, page.total], [['kofi-public'], '3']);
  assert.match(page.link ?? '', /offset=2>; rel="next"/);
  assert.deepEqual((await list('kofi', '?limit=0')).ids, []);
  assertRefused(await other.call({ path: '/gateways?limit=-1' }), 400);
});

test('a gateway that is deleted is gone with its grants', async () => {
  const path = await aGateway({ visibility: 'private' });
  const id = path.replace('/gateways/', '');
  const share = { method: 'PUT', path: `${path}/grants/kofi`, json: ['gateways:delete'] };
  assertDone(await as('ama')(share));
  assertDone(await as('kofi')({ method: 'DELETE', path }));
  assertRefused(await as('ama')({ method: 'DELETE', path }), 404);
  assertRefused(await as('ama')({ path }), 404);
  assert.equal((await post({ id, visibility: 'private' })).status, 200);
  assertRefused(await as('kofi')({ path }), 403);
});
