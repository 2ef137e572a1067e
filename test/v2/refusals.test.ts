import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect, refusal } from '../mqtt/mqtt-clients.ts';
import { type Call, type Service, startService } from '../service.ts';
import { refusalOf } from './sensor-endpoint.ts';

interface Refusal {
  readonly date: string;
  readonly problem: string;
  readonly via: string;
  readonly count: number;
  readonly device_id?: string;
  readonly sensor_id?: string;
  readonly path?: string;
  readonly description?: string;
  readonly excerpt?: string;
}

let service: Service;
const path = '/devices/pond/sensors/TC/value';
const secret = `kpk_${'s'.repeat(43)}`;

beforeEach(async () => {
  service = await startService();
  const json = { id: 'pond', visibility: 'private', sensors: [{ id: 'TC' }] };
  await service.as('ama')({ method: 'POST', path: '/devices', json });
});

afterEach(() => service[Symbol.asyncDispose]());

const push = (call: Partial<Call>) =>
  service.call({ method: 'POST', path, json: { value: 1 }, ...call });

const list = async (username = 'ama', device = 'pond'): Promise<readonly Refusal[]> => {
  const reply = await service.as(username)({ path: `/devices/${device}/refusals` });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as readonly Refusal[];
};

const problems = async (device?: string): Promise<readonly string[]> =>
  (await list('ama', device)).map(({ via, problem }) => `${via} ${problem}`);

test('what a push over HTTP was refused for is told to the owner, newest first', async () => {
  const token = await service.tokenOf('ama');
  const ahead = new Date(Date.now() + 3 * 86_400_000).toISOString();
  const calls: readonly Partial<Call>[] = [
    {},
    { token: secret },
    { token: await service.tokenOf('kofi') },
    { token, path: '/devices/pond/sensors/TD/value' },
    { token, body: '{"value": 21,5}', type: 'application/json', json: undefined },
    { token, json: { value: 1, timestamp: ahead } },
    { token, json: { value: 'x'.repeat(70_000) } },
    { token, path: '/devices/pond/sensors/TC' },
    { token, path: '/devices/pond/sensor/TC/value' },
  ];
  for (const call of calls) assert.ok((await push(call)).status >= 400, JSON.stringify(call));
  assert.deepEqual(await problems(), [
    'http wrong_path',
    'http too_large',
    'http clock_ahead',
    'http unreadable',
    'http unknown_sensor',
    'http not_allowed',
    'http wrong_key',
    'http no_key',
  ]);
  const told = await list();
  assert.equal(told.find(({ problem }) => problem === 'unknown_sensor')?.sensor_id, 'TD');
  const text = JSON.stringify(told);
  for (const hidden of [secret, token]) assert.ok(!text.includes(hidden), hidden);
  const excerpts = told.flatMap(({ problem, excerpt }) => (excerpt ? [[problem, excerpt]] : []));
  assert.deepEqual(
    excerpts,
    [
      ['wrong_path', '{"value":1}'],
      ['too_large', `{"value":"${'x'.repeat(70)}`.slice(0, 80)],
      ['clock_ahead', JSON.stringify({ value: 1, timestamp: ahead })],
      ['unreadable', '{"value": 21,5}'],
      ['unknown_sensor', '{"value":1}'],
    ],
    'how each began, and nothing of senders who may not push',
  );
});

test('a sender without the right to push shows the owner nothing of the content', async () => {
  const token = await service.tokenOf('kofi');
  for (const body of ['{"value": "a word of kofi" x', '[{"value": "a word of kofi" x]']) {
    await push({ token, body, type: 'application/json', json: undefined });
    const values = `${path}s`;
    await push({ token, path: values, body, type: 'application/json', json: undefined });
  }
  const told = await list();
  assert.ok(told.length > 0);
  assert.ok(!JSON.stringify(told).includes('kofi'), JSON.stringify(told));
});

test('a refusal says where it was sent, what was read and what to change', async () => {
  const token = await service.tokenOf('ama');
  const json = { value: 1, timestamp: '2026-02-30T00:00:00Z' };
  const refused = await push({ token, json, path: `${path}?api_key=${secret}` });
  const description = refusalOf(refused, 400, 'invalid');
  assert.match(description, /^timestamp must be .* got "2026-02-30T00:00:00Z"$/);
  await using client = await connect(service, { username: 'ama', password: token });
  for (const topic of ['devices/pond/sensors/TC/value', 'pond/TC']) {
    const publish = client.mqtt.publishAsync(topic, '{"temp": 1}', { qos: 1 });
    await publish.catch(() => undefined);
  }
  const giveUpAt = performance.now() + 5_000;
  while ((await list()).length < 3 && performance.now() < giveUpAt) await wait(5);
  const said = (await list()).map(({ path, description }) => [path, description]);
  assert.deepEqual(said.toSorted(), [
    [`/api/v2${path}`, description],
    ['devices/pond/sensors/TC/value', 'the value is missing: send {"value": …}'],
    ['pond/TC', 'publish on devices/{id}/sensors/{id}/value'],
  ]);
});

test('lines of a bulk request and pushes of version 1 are told of as well', async () => {
  const as = service.as('ama');
  const lines = Array.from({ length: 50 }, () => ({
    ...{ device_id: 'pond', sensor_id: 'no', value: 1 },
  }));
  assert.equal((await as({ method: 'POST', path: '/sensors_data', json: lines })).status, 200);
  const v1 = '//api/v1/domains/waziup/sensors/pond/measurements/TD/values';
  assert.equal((await as({ method: 'POST', path: v1, json: { value: 1 } })).status, 404);
  const seen = (await list()).map(({ sensor_id, count }) => [sensor_id, count]);
  assert.deepEqual(seen.toSorted(), [
    ['TD', 1],
    ['no', 10],
  ]);
});

test('unreadable lines of bulk requests, and elements beside lone pushes, are told', async () => {
  const token = await service.tokenOf('ama');
  const line = { device_id: 'pond', sensor_id: 'TC', value: 1, timestamp: '' };
  const bulk = { method: 'POST', path: '/sensors_data', token, json: [line] };
  assert.equal((await service.call(bulk)).status, 200);
  assert.match((await list())[0]?.description ?? '', /^timestamp must be .* got ""$/);
  assert.equal((await push({ token, json: [{ value: 1 }, { timestamp: '' }] })).status, 204);
  assert.equal((await push({ token, json: {} })).status, 400);
  const [lone, array, ...others] = await list();
  assert.deepEqual([lone?.count, array?.count, others.length], [2, 1, 0]);
  assert.match(lone?.description ?? '', /^the value is missing/);
});

test('what a publish over MQTT was refused for is told to the owner', async () => {
  const username = 'ama';
  await refusal(service, { username, password: secret });
  const password = await service.tokenOf('ama');
  await using client = await connect(service, { username, password, protocolVersion: 4 });
  for (const [topic, payload] of [
    ['devices/pond/sensors/TC/value', '{"value":'],
    ['devices/pond/sensors/TD/value', '1'],
    ['pond/TC', '1'],
    ['devices/pnod/sensors/TC/value', '1'],
  ] as const) {
    await client.mqtt.publishAsync(topic, payload, { qos: 1 });
  }
  // Whose an unknown device or account is has to be looked up, which no acknowledgement waits for.
  const expected = [
    'mqtt unknown_device',
    'mqtt unknown_sensor',
    'mqtt unreadable',
    'mqtt wrong_key',
    'mqtt wrong_path',
  ];
  const giveUpAt = performance.now() + 5_000;
  while ((await problems()).length < expected.length && performance.now() < giveUpAt) {
    await wait(5);
  }
  assert.deepEqual((await problems()).toSorted(), expected);
  const excerpts = (await list()).flatMap(({ excerpt }) => excerpt ?? []);
  assert.deepEqual(excerpts.toSorted(), ['1', '1', '{"value":'], 'of all but the wrong path');
  const dates = (await list()).map(({ date }) => date);
  assert.deepEqual(dates, dates.toSorted().toReversed());
});

test('a publish below a sensor that is no value is found on the device', async () => {
  const login = { username: 'ama', password: await service.tokenOf('ama') };
  await using client = await connect(service, { ...login, protocolVersion: 4 });
  const wrong = [`${path.slice(1)}/`, 'devices/pond/sensors/TC/Value', 'devices/pond/sensors/TC'];
  for (const topic of [...wrong, 'devices/pond/camera']) {
    await client.mqtt.publishAsync(topic, '21.5', { qos: 1 });
  }
  assert.deepEqual(
    (await list()).map(({ problem, via, count, excerpt }) => [problem, via, count, excerpt]),
    [['wrong_path', 'mqtt', wrong.length, '21.5']],
  );
});

test('a device hears of ids that are nearly its own, and its owner alone', async () => {
  const [ama, kofi] = [service.as('ama'), service.as('kofi')];
  await ama({ method: 'POST', path: '/devices', json: { id: 'roof-1' } });
  await kofi({ method: 'POST', path: '/devices', json: { id: 'pond-2' } });
  for (const as of [ama, service.as('guest')]) {
    await as({ method: 'POST', path: '/devices/Pond/sensors/TC/value', json: { value: 1 } });
  }
  const [told, ...others] = await list();
  assert.deepEqual([told?.problem, told?.device_id, told?.count], ['unknown_device', 'Pond', 1]);
  assert.equal(others.length, 0);
  assert.deepEqual(await problems('roof-1'), []);
  refusalOf(await kofi({ path: '/devices/pond/refusals' }), 403, 'forbidden');
  refusalOf(await service.call({ path: '/devices/pond/refusals' }), 403, 'forbidden');
  const json = { name: 'k' };
  const { json: made } = await ama({ method: 'POST', path: '/auth/keys', json });
  const { key } = made as { readonly key: string };
  const byKey = await service.call({ path: '/devices/pond/refusals', token: key });
  refusalOf(byKey, 403, 'forbidden');
  assert.equal((await list('admin')).length, 1);
});

test('a new owner does not see what the one before was sent', async () => {
  await push({});
  assert.equal((await list()).length, 1);
  await service.tokenOf('kofi');
  const body = 'kofi';
  await service.as('ama')({ method: 'PUT', path: '/devices/pond/owner', body });
  await service.as('kofi')({ method: 'PUT', path: '/devices/pond/accept' });
  assert.deepEqual(await list('kofi'), []);
});

test('a flood of one kind is counted, and hides nothing else', async () => {
  await push({ token: secret });
  for (let times = 0; times < 40; times += 1) await push({});
  const told = await list();
  assert.deepEqual(
    told.map(({ problem, count }) => [problem, count]),
    [
      ['no_key', 40],
      ['wrong_key', 1],
    ],
  );
});

test('refused updates of ThingSpeak sketches are told of, whatever is wrong', async () => {
  const as = service.as('ama');
  const makeKey = async (json: unknown) => {
    const reply = await as({ method: 'POST', path: '/auth/keys', json });
    return (reply.json as { readonly key: string }).key;
  };
  const ofPond = await makeKey({ name: 'pond', devices: ['pond'] });
  const ofAll = await makeKey({ name: 'all' });
  const update = async (query: string, call: Partial<Call> = {}) => {
    const reply = await service.call({ path: `//update?${query}`, ...call });
    assert.ok(reply.status >= 400, `${query}: ${reply.status}`);
  };
  await update(`api_key=${secret}&device_id=pond&field1=1`);
  await update(`api_key=${ofPond}&field1=1&created_at=nonsense`);
  await update(`api_key=${ofPond}`, { method: 'POST', body: 'x', type: 'image/png' });
  await update('channel_id=pond&field1=1');
  await update(`api_key=${ofAll}&field1=1`);
  await update(`api_key=${ofAll}&channel_id=Pond&field1=1`);
  const ahead = new Date(Date.now() + 3 * 86_400_000).toISOString();
  await update(`api_key=${ofPond}&field1=1&created_at=${ahead}`);
  const told = (await list()).map(({ problem, count }) => `${problem} ${count}`);
  assert.deepEqual(told.toSorted(), [
    'clock_ahead 1',
    'no_key 1',
    'unknown_device 1',
    'unreadable 2',
    'wrong_key 1',
    'wrong_path 1',
  ]);
});

test('a refusal says where it was sent and how it began, whatever the endpoint', async () => {
  const as = service.as('ama');
  const made = await as({ method: 'POST', path: '/auth/keys', json: { name: 'all' } });
  const { key } = made.json as { readonly key: string };
  const send = async (path: string, body: unknown, type = 'application/json') => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    await service.call({ method: 'POST', path, token: key, body: text, type });
    const [first] = await list();
    return [first?.device_id, first?.path, first?.excerpt];
  };
  const told = { device_id: 'pond', sensor_id: 'TC' };
  const ahead = new Date(Date.now() + 3 * 86_400_000).toISOString();
  const bulk = '/sensors_data';
  const line = { ...told, timestamp: '' };
  assert.deepEqual(await send(bulk, [line]), [
    'pond',
    '/api/v2/sensors_data',
    JSON.stringify(line),
  ]);
  const early = { ...told, value: 1, timestamp: ahead };
  assert.deepEqual(await send(bulk, [early]), ['pond', '/api/v2/sensors_data', ahead]);
  const unknown = { ...told, sensor_id: 'no', value: 21.5 };
  assert.deepEqual(await send(bulk, [unknown]), ['pond', '/api/v2/sensors_data', '21.5']);
  const v1 = { sensor_id: 'pond', measurement_id: 'none', value: 'hot' };
  const v1Path = '/api/v1/sensors_data';
  assert.deepEqual(await send(`/${v1Path}`, [v1]), ['pond', v1Path, '"hot"']);
  const point = 'air,device_id=pond TC=1,';
  const influx = [undefined, '/write', point];
  assert.deepEqual(await send('//write?precision=s', point, 'text/plain'), influx);
  const form = 'application/x-www-form-urlencoded';
  const fields = `device_id=pond&field1=nan&status=x&created_at=2026-01-01`;
  const sketch = ['pond', '/update', fields];
  assert.deepEqual(await send('//update', `api_key=${key}&${fields}`, form), sketch);
  const update = { created_at: 'yesterday', field1: 2 };
  assert.deepEqual(
    await send('//channels/pond/bulk_update.json', { write_api_key: key, updates: [update] }),
    ['pond', '/channels/pond/bulk_update.json', 'created_at=yesterday&field1=2'],
  );
});

test('a line of an agent whose sensor cannot be made is told of', async () => {
  const as = service.as('ama');
  const json = { name: 'send', devices: ['pond'], scopes: ['devices-data:create'] };
  const made = await as({ method: 'POST', path: '/auth/keys', json });
  const { key: token } = made.json as { readonly key: string };
  const lines = { body: 'air,device_id=pond hum=71 1790000000', type: 'text/plain' };
  const path = '/write?precision=s';
  const reply = await service.call({ method: 'POST', path, token, ...lines });
  assert.ok(reply.status >= 400, reply.text);
  assert.deepEqual(
    (await list()).map(({ sensor_id, count, excerpt }) => [sensor_id, count, excerpt]),
    [['hum', 1, '71']],
  );
});

test('of a device that belongs to nobody everybody is told, and of nothing else', async () => {
  const as = service.as('guest');
  const json = { id: 'stray', sensors: [{ id: 'TC' }] };
  assert.equal((await service.call({ method: 'POST', path: '/devices', json })).status, 204);
  const path = '/devices/stray/sensors/TD/value';
  assert.equal((await as({ method: 'POST', path, json: { value: 1 } })).status, 404);
  await as({ method: 'POST', path: '/devices/Stray/sensors/TC/value', json: { value: 1 } });
  const reply = await service.call({ path: '/devices/stray/refusals' });
  assert.equal(reply.status, 200, reply.text);
  const told = reply.json as readonly Refusal[];
  assert.deepEqual(
    told.map(({ problem, sensor_id }) => [problem, sensor_id]),
    [['unknown_sensor', 'TD']],
  );
});

test('a stranger hides nothing of what the own pushes were refused for', async () => {
  const token = await service.tokenOf('ama');
  const body = 'public';
  await service.as('ama')({ method: 'PUT', path: '/devices/pond/visibility', body });
  const to = (sensor: string) => ({ path: `/devices/pond/sensors/${sensor}/value` });
  for (const sensor of ['own-1', 'own-2']) await push({ token, ...to(sensor) });
  for (let at = 0; at < 40; at += 1) await push({ ...to(`strange-${at}`) });
  const told = await list();
  assert.equal(told.length, 10);
  const own = told.filter(({ sensor_id }) => sensor_id?.startsWith('own'));
  assert.deepEqual(
    own.map(({ sensor_id, count }) => [sensor_id, count]),
    [
      ['own-2', 1],
      ['own-1', 1],
    ],
  );
});
