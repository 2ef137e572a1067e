import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertEmpty, type V1Door, v1Door } from './service-in-v1.ts';

let service: Service;
let v1: V1Door;

before(async () => {
  service = await startService();
  v1 = v1Door(service);
});

after(() => service[Symbol.asyncDispose]());

test('words of a path may be in any case, ids may not', async () => {
  const json = { id: 'MySensor', measurements: [{ id: 'TC1' }] };
  assertEmpty(await v1({ method: 'POST', path: '/SENSORS', json }));
  const push = { method: 'POST', json: { value: 1 } };
  assertEmpty(await v1({ ...push, path: '/Sensors/MySensor/Measurements/TC1/Values' }));
  assert.equal((await service.call({ path: '//API/V1/sensors/MySensor' })).status, 200);
  assert.equal((await v1({ path: '/sensors/mysensor' })).status, 404);
  assert.equal((await v1({ path: '/sensors/MySensor/measurements/tc1' })).status, 404);
  assert.equal((await v1({ method: 'POST', path: '/Auth/Token', json: {} })).status, 400);
  assert.equal((await service.call({ path: '//api/v2/Devices' })).status, 404);
});

test('an id that is a word of a path keeps its case', async () => {
  const json = { id: 'SENSORS', measurements: [{ id: 'Values' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json }));
  const path = '/Sensors/SENSORS/Measurements/Values';
  assert.equal(((await v1({ path })).json as { id: string }).id, 'Values');
  const push = { method: 'POST', path: `${path}/VALUES`, json: { value: 1 } };
  assertEmpty(await v1(push));
});

test('a domain in the path is accepted and ignored', async () => {
  const json = { id: 'of-water', domain: 'of the body' };
  assertEmpty(await v1({ method: 'POST', path: '/domains/waziup-water/sensors', json }));
  for (const path of ['/sensors/of-water', '/domains/other/sensors/of-water']) {
    const reply = await v1({ path });
    assert.equal((reply.json as { domain: string }).domain, 'of the body', path);
  }
  const { headers, status } = await v1({ path: '/Domains/A%2Fb/Sensors/?limit=1' });
  assert.equal(status, 200);
  assert.match(headers.get('link') ?? '', /<\/api\/v1\/sensors\?limit=1&offset=1>; rel="next"/);
});

test('a path that is nothing is 404, a method that is not there 405', async () => {
  for (const path of ['', '/', '/domains', '/domains/water', '/devices', '/sensors/a/sensors/b']) {
    assert.equal((await v1({ path })).status, 404, path);
  }
  const reply = await v1({ method: 'PATCH', path: '/Domains/x/Sensors' });
  assert.equal(reply.status, 405);
  assert.equal(
    reply.headers.get('allow'),
    'HEAD, GET, POST, OPTIONS'.replace('GET, POST', 'POST, GET'),
  );
});

test('HEAD, OPTIONS and trailing slashes work as in version 2', async () => {
  const head = await v1({ method: 'HEAD', path: '/Sensors/' });
  assert.deepEqual([head.status, head.text], [200, '']);
  const options = await v1({ method: 'OPTIONS', path: '/SENSORS' });
  assert.equal(options.status, 204);
  assert.equal(options.headers.get('access-control-allow-origin'), '*');
});
