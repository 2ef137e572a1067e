import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);
const post = async (path: string, json: unknown, by = 'ama') =>
  assertDone(await as(by)({ method: 'POST', path, json }));

const line = {
  value_min: { sensor_value: 0, real_value: 100 },
  value_max: { sensor_value: 10, real_value: 200 },
};

test('a calibration without "enabled" applies to aggregates and points= as to reads', async () => {
  await post('/devices', { id: 'Cal', sensors: [{ id: 'T', calib: { linear: line } }] });
  const values = '/devices/Cal/sensors/T/values';
  await post(values, [
    { value: 0, timestamp: '2026-01-01T00:00:00Z' },
    { value: 10, timestamp: '2026-01-01T01:00:00Z' },
  ]);
  const valuesAt = async (query: string) => {
    const { json } = await as('ama')({ path: `${values}${query}` });
    return (json as readonly { value: number }[]).map(({ value }) => value);
  };
  assert.deepEqual(await valuesAt(''), [100, 200]);
  assert.deepEqual(await valuesAt('?aggregate=avg'), [150]);
  assert.deepEqual(await valuesAt('?points=2'), [100, 200]);
  assert.deepEqual(await valuesAt('?aggregate=avg&calibrated=false'), [5]);
});

test('GET of sensors and devices with calibrated=false shows last values as pushed', async () => {
  await post('/devices', { id: 'Raw', sensors: [{ id: 'T', calib: { linear: line } }] });
  await post('/devices/Raw/sensors/T/value', { value: 5 });
  type Sensor = { value: { value: number }; calib: object };
  const reads: Readonly<Record<string, (json: unknown) => Sensor | undefined>> = {
    '/devices/Raw/sensors/T?': (json) => json as Sensor,
    '/devices/Raw/sensors?': (json) => (json as Sensor[])[0],
    '/devices/Raw?': (json) => (json as { sensors: Sensor[] }).sensors[0],
    '/devices?q=id==Raw&': (json) => (json as { sensors: Sensor[] }[])[0]?.sensors[0],
  };
  for (const [path, sensorOf] of Object.entries(reads)) {
    const valueAt = async (query: string) => {
      const sensor = sensorOf((await as('ama')({ path: `${path}${query}` })).json);
      assert.deepEqual(sensor?.calib, { linear: line });
      return sensor?.value.value;
    };
    assert.equal(await valueAt(''), 150, path);
    assert.equal(await valueAt('calibrated=true'), 150, path);
    assert.equal(await valueAt('calibrated=false'), 5, path);
  }
});

test('GET /gateways?full=true adds the devices of each gateway that one may view', async () => {
  for (const id of ['gw-1', 'gw-2']) {
    const json = { id, visibility: 'public' };
    assert.equal((await as('ama')({ method: 'POST', path: '/gateways', json })).status, 200);
  }
  await post('/devices', { id: 'Near', gateway_id: 'gw-1', visibility: 'public' });
  await post('/devices', { id: 'Hidden', gateway_id: 'gw-1', visibility: 'private' });
  type Listed = { id: string; devices?: readonly { id: string }[] };
  const listed = async (query: string, by: string) => {
    const reply = await as(by)({ path: `/gateways${query}` });
    assert.ok(Number(reply.headers.get('x-total-count')) >= 2);
    return (reply.json as readonly Listed[]).map(({ id, devices }) => [
      id,
      devices?.map((device) => device.id),
    ]);
  };
  const full = await listed('?full=true', 'ama');
  assert.deepEqual(full, [
    ['gw-1', ['Near', 'Hidden']],
    ['gw-2', []],
  ]);
  assert.deepEqual((await listed('?full=true', 'guest'))[0], ['gw-1', ['Near']]);
  assert.deepEqual((await listed('', 'ama'))[0], ['gw-1', undefined]);
});

test('an unknown path not asked for as HTML is 404 as JSON, and names the right one', async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['//devices', /at \/api\/v2\/devices,/],
    ['//devices/D/sensors', /at \/api\/v2\/devices\/D\/sensors,/],
    ['//api/devices', /at \/api\/v2\/devices,/],
    ['//v2/users/me', /at \/api\/v2\/users\/me,/],
    ['//v1/sensors', /at \/api\/v1\/sensors,/],
    ['//nothing/here', /nothing at \/nothing\/here: see \/docs/],
    ['//api/v2/nothing', /nothing at \/api\/v[12]\/nothing: see \/docs/],
  ];
  for (const [path, saying] of cases) {
    for (const accept of ['*/*', 'application/json', 'text/plain']) {
      assertRefused(await service.call({ path, headers: { accept } }), 404, { saying, of: path });
    }
    assertRefused(await service.call({ method: 'POST', path }), 404, { saying, of: path });
  }
  const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
  for (const path of ['//devices', '//devices/D', '//anything']) {
    const page = await service.call({ path, headers: { accept } });
    assert.equal(page.status, 200, path);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  }
  assert.equal((await service.call({ path: '//' })).status, 200);
});

test('a read of several devices passes over one that lacks a sensor: 404 when all do', async () => {
  await post('/devices', { id: 'Has-a', sensors: [{ id: 'x' }, { id: 'y' }] });
  await post('/devices', { id: 'Has-b', sensors: [{ id: 'z' }] });
  await post('/devices/Has-a/sensors/x/value', { value: 1, timestamp: '2026-01-01T00:00:00Z' });
  await post('/devices/Has-b/sensors/z/value', { value: 2, timestamp: '2026-01-01T01:00:00Z' });
  const read = (path: string, query: string) =>
    as('ama')({ path: `/sensors_data${path}?device_id=Has-a,Has-b&${query}` });
  for (const [path, query] of [
    ['', ''],
    ['', '&aggregate=max'],
    ['', '&points=5'],
    ['/last', ''],
  ] as const) {
    const valuesOf = async (sensors: string) => {
      const reply = await read(path, `sensor_id=${sensors}${query}`);
      assert.equal(reply.status, 200, reply.text);
      return (reply.json as readonly { value: number }[]).map(({ value }) => value);
    };
    assert.deepEqual(await valuesOf('x'), [1]);
    assert.deepEqual(await valuesOf('x,z'), [1, 2]);
    for (const sensors of ['w', 'x,w']) {
      const of = `${path} ${sensors}${query}`;
      const refused = await read(path, `sensor_id=${sensors}${query}`);
      assertRefused(refused, 404, { saying: /none of these devices has a sensor with id w/, of });
    }
  }
});

test('lastN with limit and offset answers the page within the last N', async () => {
  await post('/devices', { id: 'Last', sensors: [{ id: 'T' }, { id: 'U' }] });
  const at = (value: number) => ({ value, timestamp: `2026-01-01T00:${10 + value}:00Z` });
  await post('/devices/Last/sensors/T/values', [1, 2, 3, 4, 5, 6, 7, 8].map(at));
  for (const path of [
    '/devices/Last/sensors/T/values?',
    '/sensors_data?device_id=Last&',
    '/devices/Last/sensors/T/values?points=100&',
  ]) {
    const page = async (query: string) => {
      const reply = await as('ama')({ path: `${path}${query}` });
      assert.equal(reply.headers.get('x-total-count'), '8', path);
      return (reply.json as readonly { value: number }[]).map(({ value }) => value);
    };
    assert.deepEqual(await page('lastN=5'), [8, 7, 6, 5, 4]);
    assert.deepEqual(await page('lastN=5&limit=2'), [8, 7]);
    assert.deepEqual(await page('lastN=5&limit=2&offset=2'), [6, 5]);
    assert.deepEqual(await page('lastN=5&limit=2&offset=4'), [4]);
    assert.deepEqual(await page('lastN=5&limit=2&offset=5'), []);
    assert.deepEqual(await page('lastN=5&offset=3'), [5, 4]);
    assert.deepEqual(await page('lastN=5&sort=asc&limit=2'), [4, 5]);
    assert.deepEqual(await page('lastN=5&sort=asc&limit=2&offset=4'), [8]);
    assert.deepEqual(await page('lastN=100&sort=asc&limit=2&offset=1'), [2, 3]);
    assert.deepEqual(await page('lastN=100&limit=3'), [8, 7, 6]);
    assert.deepEqual(await page('lastN=2&limit=30'), [8, 7]);
  }
});

test('of arrays with and without timestamps the last value is what arrived last', async () => {
  await post('/devices', { id: 'Mixed', sensors: [{ id: 'T' }] });
  const later = '2026-01-01T02:00:00Z';
  const earlier = '2026-01-01T01:00:00Z';
  const cases: readonly (readonly [datapoints: unknown, last: number])[] = [
    [[{ value: 1, timestamp: later }, { value: 2 }], 2],
    [[{ value: 3 }, { value: 4, timestamp: later.replace('02:', '03:') }], 4],
    [
      [
        { value: 5, timestamp: '2026-01-01T05:00:00Z' },
        { value: 6 },
        { value: 7, timestamp: earlier },
      ],
      7,
    ],
    [
      [
        { value: 9, timestamp: '2026-01-01T09:00:00Z' },
        { value: 8, timestamp: '2026-01-01T08:00:00Z' },
      ],
      9,
    ],
    [[{ value: 10 }, { value: 11 }], 11],
  ];
  for (const [datapoints, last] of cases) {
    await post('/devices/Mixed/sensors/T/values', datapoints);
    const { json } = await as('ama')({ path: '/devices/Mixed/sensors/T' });
    assert.equal((json as { value: { value: number } }).value.value, last);
  }
});

test('aggregates with lastN come newest first, with sort=asc oldest first', async () => {
  await post('/devices', { id: 'Newest', sensors: [{ id: 'T' }] });
  const hours = [0, 1, 2, 3].map((n) => ({ value: n, timestamp: `2026-01-01T0${n}:00:00Z` }));
  await post('/devices/Newest/sensors/T/values', hours);
  const bucketsOf = async (query: string) => {
    const path = `/devices/Newest/sensors/T/values?aggregate=max&interval=1h${query}`;
    const { json } = await as('ama')({ path });
    return (json as readonly { value: number }[]).map(({ value }) => value);
  };
  assert.deepEqual(await bucketsOf('&lastN=3'), [3, 2, 1]);
  assert.deepEqual(await bucketsOf('&lastN=3&sort=asc'), [1, 2, 3]);
  assert.deepEqual(await bucketsOf(''), [0, 1, 2, 3]);
});

test('format=csv answers the whole range under its header, without a limit', async () => {
  await post('/devices', { id: 'Rows', sensors: [{ id: 'T' }] });
  const values = '/devices/Rows/sensors/T/values';
  await post(
    values,
    Array.from({ length: 25 }, (_, value) => ({ value })),
  );
  const rowsOf = async (query: string) =>
    (await as('ama')({ path: `${values}?format=csv${query}` })).text.trimEnd().split('\r\n').length;
  assert.equal(await rowsOf(''), 1 + 25);
  assert.equal(await rowsOf('&limit=20'), 1 + 20);
  assert.equal(await rowsOf('&lastN=3'), 1 + 3);
  const json = await as('ama')({ path: values });
  assert.equal((json.json as readonly unknown[]).length, 20);
});

test('a repeat whose object has its keys in another order is another value', async () => {
  await post('/devices', { id: 'Keys', sensors: [{ id: 'T' }] });
  const values = '/devices/Keys/sensors/T/values';
  const timestamp = '2026-01-01T00:00:00Z';
  for (const value of [
    { a: 1, b: 2 },
    { b: 2, a: 1 },
    { a: 1, b: 2 },
  ]) {
    await post(values, { value, timestamp });
  }
  const { json } = await as('ama')({ path: values });
  assert.deepEqual(
    (json as readonly { value: unknown }[]).map(({ value }) => JSON.stringify(value)),
    ['{"a":1,"b":2}', '{"b":2,"a":1}'],
  );
});

test('times_sent counts the messages of all firings, those included that failed', async () => {
  await post('/devices', { id: 'Told', sensors: [{ id: 'T' }] });
  const json = {
    condition: { devices: ['Told'], sensors: ['T'], expression: 'T > 1' },
    action: { usernames: ['ama', 'nobody'], channels: ['sms'], message: 'm' },
  };
  const id = (await as('ama')({ method: 'POST', path: '/notifications', json })).text;
  await post('/devices/Told/sensors/T/value', { value: 2 });
  const told = (await as('ama')({ path: `/notifications/${id}` })).json as { times_sent: number };
  assert.equal(told.times_sent, 2);
  const { json: deliveries } = await as('ama')({ path: `/notifications/${id}/deliveries` });
  const statuses = (deliveries as readonly { status: string }[]).map(({ status }) => status);
  assert.deepEqual(statuses, ['failed', 'failed']);
});
