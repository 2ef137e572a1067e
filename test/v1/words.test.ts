import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertEmpty, type V1Door, v1Door } from './service-in-v1.ts';

let service: Service;
let v1: V1Door;
let token: string;

before(async () => {
  service = await startService();
  v1 = v1Door(service);
  token = await service.tokenOf('ama');
});

after(() => service[Symbol.asyncDispose]());

const descriptionOf = ({ json }: { readonly json: unknown }): string =>
  (json as { description: string }).description;

test('a sensor with measurements is made in one request and read by both versions', async () => {
  const location = { latitude: 5.6, longitude: -0.2 };
  const measurements = [{ id: 'TC1', name: 'Air', unit: 'DegreeCelsius' }, { id: 'SM1' }];
  const sensor = { id: 'S1', gateway_id: 'gw', name: 'Field', domain: 'farm', location };
  const json = { ...sensor, visibility: 'private', measurements };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', token, json }));
  const { date_created, date_modified, actuators, ...told } = (
    await v1({ path: '/sensors/S1', token })
  ).json as Record<string, unknown>;
  assert.deepEqual(told, { ...sensor, visibility: 'private', owner: 'ama', measurements });
  assert.ok(typeof date_created === 'string' && date_created === date_modified && actuators);
  const inV2 = (await service.call({ path: '/devices/S1', token })).json;
  assert.deepEqual((inV2 as { sensors: unknown }).sensors, measurements);
});

test('texts that were not given are empty, and an empty one is as if not given', async () => {
  assertEmpty(await v1({ method: 'POST', path: '/sensors', token, json: { id: 'bare' } }));
  const told = (await v1({ path: '/sensors/bare' })).json as Record<string, unknown>;
  const { gateway_id, name, visibility } = told;
  assert.deepEqual({ gateway_id, name, visibility }, { gateway_id: '', name: '', visibility: '' });
  assert.ok(!('domain' in told) && !('location' in told));
  const [listed] = (await v1({ path: '/sensors?q=id==bare' })).json as readonly unknown[];
  assert.deepEqual(listed, told);
  const copy = { ...told, id: 'copy' };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', token, json: copy }));
  const inV2 = (await service.call({ path: '/devices/copy' })).json as Record<string, unknown>;
  assert.ok(!('visibility' in inV2) && !('name' in inV2) && !('gateway_id' in inV2));
});

test('sensors inside of gateways and projects are told in the same words', async () => {
  const sensor = { id: 'inside', gateway_id: 'G', measurements: [{ id: 'TC1' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', token, json: sensor }));
  assertEmpty(await v1({ method: 'POST', path: '/gateways', token, json: { id: 'G' } }));
  const json = { id: 'P', sensor_ids: ['inside'], gateway_ids: ['G'] };
  const created = await v1({ method: 'POST', path: '/projects', token, json });
  assert.equal(`${created.status} ${created.text}`, '200 P');
  const gateway = (await v1({ path: '/gateways/G?full=true', token })).json;
  const project = (await v1({ path: '/projects/P?full=true', token })).json;
  const { json: alone } = await v1({ path: '/sensors/inside' });
  assert.deepEqual((gateway as { sensors: unknown }).sensors, [alone]);
  const told = project as { sensors: unknown; sensor_ids: unknown };
  assert.deepEqual([told.sensors, told.sensor_ids], [[alone], ['inside']]);
  assertEmpty(
    await v1({ method: 'PUT', path: '/projects/P/sensor_ids', token, json: ['inside', 'other'] }),
  );
});

test('a filter names fields in the words of version 1', async () => {
  const json = { id: 'asked', measurements: [{ id: 'unique-measurement' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json }));
  const idsFor = async (q: string) =>
    ((await v1({ path: `/sensors?q=${encodeURIComponent(q)}` })).json as { id: string }[]).map(
      ({ id }) => id,
    );
  assert.deepEqual(await idsFor('measurements==unique-measurement'), ['asked']);
  assert.deepEqual(await idsFor('measurements:unique-measurement;owner==guest'), ['asked']);
  assert.deepEqual(await idsFor('sensors==unique-measurement'), []);
  assert.deepEqual(await idsFor("name=='sensors'"), []);
});

test('refusals speak of sensors and measurements, and quote what was sent as it was', async () => {
  const refused = async (call: Parameters<V1Door>[0], status: number, description: RegExp) => {
    const reply = await v1(call);
    assert.equal(reply.status, status, reply.text);
    assert.match(descriptionOf(reply), description);
  };
  await refused({ path: '/sensors/device' }, 404, /^there is no sensor with id device$/);
  await refused(
    { path: '/sensors/S1/measurements/sensor', token },
    404,
    /^sensor S1 has no measurement with id sensor$/,
  );
  const parts = { id: 'x', measurements: [{ id: 'a' }, { name: 'b' }] };
  await refused(
    { method: 'POST', path: '/sensors', json: parts },
    400,
    /^measurements\[1\] must have the field id$/,
  );
  await refused({ method: 'POST', path: '/sensors', json: {} }, 400, /^sensor must have the field/);
  await refused({ method: 'DELETE', path: '/sensors/S1' }, 403, /sensors:delete/);
  await refused({ path: '/sensors_data' }, 400, /^sensor_id is missing/);
  await refused({ path: '/sensors_data?sensor_id=none' }, 404, /no sensor with id none/);
  await refused({ path: '/sensors?q=%3D%3D' }, 400, /^q is malformed/);
  const rights = { method: 'PUT', path: '/sensors/S1/grants/admin', token, json: ['sensor'] };
  await refused(rights, 400, /unknown right "sensor": use sensors:update/);
});

test('permissions, grants and keys speak of scopes of sensors', async () => {
  await service.tokenOf('kofi');
  const sent = { method: 'PUT', path: '/sensors/S1/grants/kofi', token };
  assertEmpty(await v1({ ...sent, json: ['sensors:view', 'sensor-data:view'] }));
  const scopes = ['sensors:view', 'sensors-data:view'];
  const { json: grants } = await v1({ path: '/sensors/S1/grants', token });
  assert.deepEqual(grants, [{ username: 'kofi', scopes }]);
  const { json: inV2 } = await service.call({ path: '/devices/S1/grants', token });
  assert.deepEqual(inV2, [{ username: 'kofi', scopes: ['devices:view', 'devices-data:view'] }]);
  const kofi = await service.tokenOf('kofi');
  const { json: mine } = await v1({ path: '/users/me/grants', token: kofi });
  assert.deepEqual(mine, {
    given: [],
    received: [{ kind: 'sensor', resource: 'S1', owner: 'ama', scopes }],
  });
  for (const path of ['/auth/permissions', '/auth/permissions/sensors']) {
    const told = (await v1({ path, token: kofi })).json as readonly { resource: string }[];
    assert.deepEqual(
      told.find(({ resource }) => resource === 'S1'),
      { resource: 'S1', scopes },
    );
  }
  const key = { name: 'of a gateway', scopes: ['sensors-data:create'], sensors: ['S1'] };
  const { json: made } = await v1({ method: 'POST', path: '/auth/keys', token, json: key });
  const { scopes: given, sensors } = made as typeof key;
  assert.deepEqual({ given, sensors }, { given: key.scopes, sensors: key.sensors });
});

test('many measurements are pushed and read at once in the words of version 1', async () => {
  const json = ['TC1', 'SM1'].map((id) => ({ sensor_id: 'S1', measurement_id: id, value: 7 }));
  const wrong = { device_id: 'S1', sensor_id: 'TC1', value: 8 };
  const pushed = await v1({
    ...{ method: 'POST', path: '/sensors_data', token },
    ...{ body: [...json, wrong].map((line) => JSON.stringify(line)).join('\n') },
    type: 'application/x-ndjson',
  });
  const { stored, refused } = pushed.json as { stored: number; refused: { line: number }[] };
  assert.deepEqual([stored, refused.map(({ line }) => line)], [2, [3]]);
  const { json: read } = await v1({ path: '/sensors_data?sensor_id=S1&measurement_id=SM1', token });
  const [{ sensor_id, measurement_id, value } = {}] = read as Record<string, unknown>[];
  assert.deepEqual({ sensor_id, measurement_id, value }, json[1]);
  const path = '/sensors_data?sensor_id=S1&aggregate=count';
  const { json: buckets } = await v1({ path, token });
  const named = (buckets as Record<string, unknown>[]).map((bucket) => bucket['measurement_id']);
  assert.deepEqual(named.toSorted(), ['SM1', 'TC1']);
});
