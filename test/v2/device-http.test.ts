import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
  const json = { id: 'D', sensors: [{ id: 'TC1' }] };
  assertDone(await service.call({ method: 'POST', path: '/devices', json }));
  const values = '/devices/D/sensors/TC1/values';
  assertDone(await service.call({ method: 'POST', path: values, json: { value: 20.5 } }));
});

after(() => service[Symbol.asyncDispose]());

const readable = [
  '/devices',
  '/devices/D',
  '/devices/D/sensors',
  '/devices/D/sensors/TC1',
  '/devices/D/sensors/TC1/values',
  '/devices?limit=1&q=TC1>1',
];

test('a trailing slash and doubled slashes lead to the same place', async () => {
  for (const path of readable) {
    const { text } = await service.call({ path });
    const slashed = path.includes('?') ? path.replace('?', '/?') : `${path}/`;
    assert.equal((await service.call({ path: slashed })).text, text, slashed);
    const doubled = `//api//v2${path.replaceAll('/', '//')}`;
    assert.equal((await service.call({ path: doubled })).text, text, doubled);
  }
  assertDone(await service.call({ method: 'POST', path: '/devices/', json: { id: 'Slashed' } }));
  assertDone(await service.call({ method: 'PUT', path: '/devices/Slashed/name/', body: 'n' }));
  assertDone(await service.call({ method: 'DELETE', path: '//api//v2//devices//Slashed' }));
});

test('a DELETE below a thing never deletes the thing itself', async () => {
  const owner = service.as('careful');
  const json = { id: 'Kept', sensors: [{ id: 'S' }] };
  assertDone(await owner({ method: 'POST', path: '/devices', json }));
  // What the client sends of these is /devices/Kept/, or /devices/Kept/grants/groups/.
  const paths = [
    '/devices/Kept/grants/..',
    '/devices/Kept/grants/%2e%2E',
    '/devices/Kept/grants/..?full=true',
    '/devices/Kept/sensors/..',
    '/devices/Kept/actuators/..',
    '/devices/Kept/grants/groups/.',
  ];
  for (const path of paths) {
    const reply = await owner({ method: 'DELETE', path });
    assertRefused(reply, 400);
    assert.match(reply.text, /slash/, path);
  }
  assert.equal((await owner({ path: '/devices/Kept' })).status, 200);
  assertDone(await owner({ method: 'DELETE', path: '/devices/Kept/sensors/S/' }));
  assertDone(await owner({ method: 'DELETE', path: '/devices/Kept' }));
});

test('gateways, projects and groups stay when something below them is to be ended', async () => {
  const owner = service.as('careful');
  for (const kind of ['gateways', 'projects', 'groups']) {
    const json = kind === 'gateways' ? { id: 'Kept-gateway' } : { name: 'kept' };
    const { text } = await owner({ method: 'POST', path: `/${kind}`, json });
    const path = `/${kind}/${kind === 'gateways' ? 'Kept-gateway' : text.replaceAll('"', '')}`;
    assert.equal((await owner({ path })).status, 200, `${path}: ${text}`);
    const below = kind === 'groups' ? 'usernames' : 'grants';
    assertRefused(await owner({ method: 'DELETE', path: `${path}/${below}/..` }), 400);
    assert.equal((await owner({ path })).status, 200, path);
    assertDone(await owner({ method: 'DELETE', path }));
  }
});

test('HEAD answers like GET, without the body', async () => {
  for (const path of [...readable, '/users', '//healthz']) {
    const get = await service.call({ path });
    const head = await service.call({ method: 'HEAD', path });
    assert.equal(head.status, 200, path);
    assert.equal(head.text, '');
    for (const name of ['content-type', 'x-total-count', 'link', 'access-control-allow-origin']) {
      assert.equal(head.headers.get(name), get.headers.get(name), `${name} of ${path}`);
    }
  }
  assert.equal((await service.call({ method: 'HEAD', path: '/devices/none' })).status, 404);
});

test('a method that a path does not know is 405 and Allow names those it does', async () => {
  const wrong = [
    ['DELETE', '/devices', ['GET', 'HEAD', 'POST', 'OPTIONS']],
    ['PUT', '/devices', ['GET', 'HEAD', 'POST', 'OPTIONS']],
    ['POST', '/devices/D', ['GET', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS']],
    ['PUT', '/devices/D', ['GET', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS']],
    ['PATCH', '/devices', ['GET', 'HEAD', 'POST', 'OPTIONS']],
    ['GET', '/devices/D/name', ['PUT', 'OPTIONS']],
    ['DELETE', '/devices/D/sensors', ['GET', 'HEAD', 'POST', 'OPTIONS']],
    ['PUT', '/devices/D/sensors/TC1/values', ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']],
  ] as const;
  for (const [method, path, allowed] of wrong) {
    const reply = await service.call({ method, path });
    assertRefused(reply, 405, { of: `${method} ${path}` });
    const allow = (reply.headers.get('allow') ?? '').split(', ');
    assert.deepEqual(allow.toSorted(), [...allowed].toSorted(), `${method} ${path}`);
  }
});

test('a path that does not exist is 404 in the form of all refusals', async () => {
  const paths = ['/nothing', '/devices/D/nothing', '/devices/D/sensors/TC1/values/1', '//api/v9/x'];
  for (const path of [...paths, '//api', '//favicon.ico', '//api/v2/../../api/passwd']) {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      assertRefused(await service.call({ method, path }), 404, { of: `${method} ${path}` });
    }
  }
});

test('a path that climbs out of the API gets the dashboard, and never a file', async () => {
  for (const path of ['//api/v2/../../etc/passwd', '//%2e%2e/%2e%2e/etc/passwd']) {
    assertRefused(await service.call({ path }), 404);
    const asBrowser = { headers: { accept: 'text/html,*/*;q=0.8' } };
    const { text, headers } = await service.call({ path, ...asBrowser });
    assert.ok(!text.includes('root:'), path);
    assert.match(headers.get('content-type') ?? '', /^text\/html/, path);
  }
  assertRefused(await service.call({ method: 'POST', path: '//api/v2/../../etc/passwd' }), 404);
});

test('what is missing is 404, whichever part of the path', async () => {
  for (const path of ['/devices/no', '/devices/no/sensors', '/devices/no/sensors/TC1/values']) {
    assertRefused(await service.call({ path }), 404, { saying: /\bno\b/, of: path });
  }
  for (const path of ['/devices/D/sensors/no', '/devices/D/sensors/no/values']) {
    assertRefused(await service.call({ path }), 404, { saying: /\bno\b/, of: path });
  }
});

const listOf = (header: string | null) =>
  (header ?? '').split(',').map((word) => word.trim().toLowerCase());

test('a web page of any origin may ask for any method, with the headers clients send', async () => {
  for (const path of [
    '/devices',
    '/devices/D/name',
    '/auth/token',
    '/devices/D/sensors/TC1/value',
  ]) {
    const reply = await service.call({
      method: 'OPTIONS',
      path,
      headers: {
        origin: 'https://app.example.org',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,content-type,access-control-allow-origin',
      },
    });
    assert.ok(reply.status === 204 || reply.status === 200, `${path}: ${reply.status}`);
    assert.equal(reply.headers.get('access-control-allow-origin'), '*');
    const methods = listOf(reply.headers.get('access-control-allow-methods'));
    assert.deepEqual(methods.toSorted(), [
      'delete',
      'get',
      'head',
      'options',
      'patch',
      'post',
      'put',
    ]);
    const headers = listOf(reply.headers.get('access-control-allow-headers'));
    for (const name of ['authorization', 'content-type', 'access-control-allow-origin']) {
      assert.ok(headers.includes(name), `${path}: ${name}`);
    }
  }
});

test('answers and refusals alike may be read by a web page', async () => {
  const headers = { origin: 'https://app.example.org', 'access-control-allow-origin': '*' };
  for (const path of ['/devices', '/devices/none', '/devices?limit=x', '/nothing']) {
    const reply = await service.call({ path, headers });
    assert.equal(reply.headers.get('access-control-allow-origin'), '*', path);
    const exposed = listOf(reply.headers.get('access-control-expose-headers'));
    assert.ok(exposed.includes('x-total-count') && exposed.includes('link'), path);
    // With * for the origin, credentials in cookies must stay out.
    assert.equal(reply.headers.get('access-control-allow-credentials'), null);
  }
});

test('a web page reads how many were refused, and whom an alert cannot reach', async () => {
  const exposed = async (path: string, json: unknown, name: string) => {
    const { headers } = await service.as('ama')({ method: 'POST', path, json });
    assert.notEqual(headers.get(name), null, path);
    const list = listOf(headers.get('access-control-expose-headers'));
    assert.ok(list.includes(name), `${path}: ${list.join()}`);
  };
  await exposed('/devices/D/sensors/TC1/values', [{ value: 1 }, {}], 'x-refused');
  const action = { usernames: ['ama'], channels: ['sms'], message: 'x' };
  const json = { condition: { devices: ['D'], sensors: ['TC1'] }, action };
  await exposed('/notifications', json, 'x-unreachable');
});

test('no answer is refused over the Accept header', async () => {
  for (const accept of [
    'image/png',
    'text/html',
    'application/xml;q=0.9',
    ',,;;',
    'x'.repeat(999),
  ]) {
    for (const path of ['/devices', '/devices/D', '/devices/D/sensors/TC1']) {
      assert.equal((await service.call({ path, headers: { accept } })).status, 200, accept);
    }
  }
});

test('JSON is compact', async () => {
  for (const path of readable) {
    const { text, json } = await service.call({ path });
    assert.equal(text, JSON.stringify(json), path);
  }
});
