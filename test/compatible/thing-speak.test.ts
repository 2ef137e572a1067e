import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Reply, type Service, startService } from '../service.ts';
import { datapointsOf, keyOf, makeDevice, sensorsOf } from './line-endpoint.ts';

let service: Service;
let key: string;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ama', { id: 'well', visibility: 'private' });
  key = await keyOf(service, 'ama', { devices: ['well'] });
});

after(() => service[Symbol.asyncDispose]());

const get = (query: string, path = '/update') => service.call({ path: `/${path}?${query}` });
const post = (body: string, type: string, headers: Readonly<Record<string, string>> = {}) =>
  service.call({ method: 'POST', path: '//update', body, type, headers });
const form = 'application/x-www-form-urlencoded';

function assertEntry(reply: Reply): void {
  assert.equal(reply.status, 200, reply.text);
  assert.match(reply.text, /^[1-9]\d{0,9}$/);
  assert.ok(Number(reply.text) < 2 ** 31, 'an Arduino keeps it in 32 bits');
  assert.equal(reply.headers.get('access-control-allow-origin'), '*');
}

function assertZero(reply: Reply, status: number): void {
  assert.equal(reply.status, status, reply.text);
  assert.equal(reply.text, '0');
}

const fieldOf = async (number: number) =>
  (await datapointsOf(service, 'well', `field${number}`)).map(([value]) => value);

test('the fields of a GET become sensors with their names, and are values of them', async () => {
  const query = `api_key=${key}&field1=21.50&field2=wet&created_at=2026-01-01T12:00:00Z`;
  assertEntry(await get(query));
  const at = '2026-01-01T12:00:00.000Z';
  assert.deepEqual(await datapointsOf(service, 'well', 'field1'), [[21.5, at]]);
  assert.deepEqual(await datapointsOf(service, 'well', 'field2'), [['wet', at]]);
  assert.deepEqual(await sensorsOf(service, 'well'), ['field1', 'field2']);
});

test('a form with the key in a header is what the Arduino library posts', async () => {
  const body = 'field3=7&lat=-5.5&long=39.25&elevation=12&status=low%20battery&headers=false';
  assertEntry(await post(body, form, { 'x-thingspeakapikey': key }));
  assert.deepEqual(await fieldOf(3), [7]);
  const place = { latitude: -5.5, longitude: 39.25, elevation: 12 };
  assert.deepEqual(await datapointsOf(service, 'well', 'location'), [[place, undefined]]);
  assert.deepEqual(await datapointsOf(service, 'well', 'status'), [['low battery', undefined]]);
});

test('a JSON body and a form without a type are understood', async () => {
  assertEntry(
    await post(JSON.stringify({ api_key: key, field4: 4, field5: null }), 'application/json'),
  );
  assertEntry(await post(`api_key=${key}&field4=5`, 'text/plain'));
  assert.deepEqual(await fieldOf(4), [4, 5]);
});

test('who asks for JSON is told the entry, and what is wrong', async () => {
  const reply = await get(`api_key=${key}&field6=6&created_at=2026-02-01`, '/update.json');
  assert.equal(reply.status, 200, reply.text);
  const { entry_id, ...entry } = reply.json as Record<string, unknown>;
  assert.equal(typeof entry_id, 'number');
  assert.deepEqual(entry, {
    channel_id: 'well',
    created_at: '2026-02-01T00:00:00.000Z',
    field6: '6',
  });
  const partly = await get(`api_key=${key}&field5=nan&field6=7&status=nan`, '/update.json');
  const { field5, field6, status } = partly.json as Record<string, unknown>;
  assert.deepEqual({ field5, field6, status }, { field5: undefined, field6: '7', status: 'nan' });
  const refused = await get(`api_key=${key}`, '/update.json');
  assert.equal(refused.status, 400);
  const { error, description } = refused.json as Record<string, string>;
  assert.equal(error, 'invalid');
  assert.match(description ?? '', /field1 to field8/);
});

test('a key for every device names one', async () => {
  const wide = await keyOf(service, 'ama');
  assertEntry(await get(`api_key=${wide}&device_id=well&field7=1`));
  assertEntry(await get(`key=${wide}&channel_id=well&field7=2`));
  assertZero(await get(`api_key=${wide}&field7=3`), 400);
  assertZero(await get(`api_key=${wide}&device_id=nowhere&field7=3`), 404);
  assert.deepEqual(await fieldOf(7), [1, 2]);
});

test('what is wrong is answered 0, with its status', async () => {
  const cases: readonly (readonly [string, number])[] = [
    [`api_key=${key}`, 400],
    [`api_key=${key}&field9=1`, 400],
    [`api_key=${key}&field8=1&created_at=yesterday`, 400],
    [`api_key=${key}&field8=1&created_at=2999-01-01T00:00:00Z`, 400],
    [`api_key=${key}&field8=1&lat=91&long=0`, 400],
    [`api_key=${key}&field8=1&lat=9`, 400],
    ['api_key=kpk_wrong&field8=1', 401],
    ['field8=1', 400],
    ['device_id=%20&field8=1', 400],
    ['device_id=a%20b&field8=1', 400],
  ];
  for (const [query, status] of cases) {
    const reply = await get(query);
    assert.equal(reply.status, status, `${query}: ${reply.text}`);
    assert.equal(reply.text, '0', query);
  }
  assertZero(await post('{"field8":', 'application/json'), 400);
  assertZero(await post('[1]', 'application/json'), 400);
  assertZero(await post('<field8/>', 'application/xml'), 415);
  assertZero(await post(`api_key=${key}&field8=${'9'.repeat(70_000)}`, form), 413);
  assertZero(await service.call({ method: 'PUT', path: '//update', body: 'x' }), 405);
});

test('rights are those of every push', async () => {
  await makeDevice(service, 'ama', {
    id: 'shut',
    visibility: 'private',
    sensors: [{ id: 'field1' }],
  });
  await makeDevice(service, 'ama', {
    id: 'open',
    visibility: 'public',
    sensors: [{ id: 'field1' }],
  });
  const foreign = await keyOf(service, 'kofi');
  const pushOnly = await keyOf(service, 'ama', {
    devices: ['shut'],
    scopes: ['devices-data:create'],
  });
  const viewOnly = await keyOf(service, 'ama', {
    devices: ['shut'],
    scopes: ['devices-data:view'],
  });
  const send = async (device: string, field: number, by?: string) =>
    (await get(`device_id=${device}&field${field}=1${by === undefined ? '' : `&api_key=${by}`}`))
      .status;
  assert.equal(await send('shut', 1, pushOnly), 200);
  assert.equal(await send('shut', 2, pushOnly), 404);
  assert.equal(await send('shut', 1, viewOnly), 403);
  assert.equal(await send('shut', 1, key), 403);
  assert.equal(await send('shut', 1, foreign), 403);
  assert.equal(await send('shut', 2, foreign), 403);
  assert.equal(await send('shut', 1), 403);
  assert.equal(await send('open', 1), 200);
  assert.equal(await send('open', 1, foreign), 200);
  assert.equal(await send('open', 2), 404);
  assert.deepEqual(await sensorsOf(service, 'shut'), ['field1']);
  assert.deepEqual(await sensorsOf(service, 'open'), ['field1']);
});

test('an update whose second sensor cannot be had stores nothing', async () => {
  await makeDevice(service, 'ama', {
    id: 'half',
    visibility: 'public',
    sensors: [{ id: 'field1' }],
  });
  assertZero(await get('device_id=half&field1=1&field2=2'), 404);
  assert.deepEqual(await datapointsOf(service, 'half', 'field1'), []);
});
