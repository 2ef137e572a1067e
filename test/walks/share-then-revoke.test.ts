import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { refusalOf } from '../v2/sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
});

after(() => service[Symbol.asyncDispose]());

test('a grant opens a private device to a second user, and its end closes it at once', async () => {
  const ama = service.as('ama');
  const kofi = service.as('kofi');
  const device = { path: '/devices/greenhouse' };
  const values = { path: '/devices/greenhouse/sensors/TC1/values' };
  const grant = '/devices/greenhouse/grants/kofi';
  const push = { method: 'POST', path: values.path };
  const json = { id: 'greenhouse', visibility: 'private', sensors: [{ id: 'TC1' }] };
  assert.equal((await ama({ method: 'POST', path: '/devices', json })).status, 204);
  assert.equal((await ama({ ...push, json: { value: 19.5 } })).status, 204);

  const ids = async () => ((await kofi({ path: '/devices' })).json as { id: string }[]).length;
  refusalOf(await kofi(device), 403, 'forbidden');
  refusalOf(await kofi(values), 403, 'forbidden');
  assert.equal(await ids(), 0);

  const rights = ['device:view', 'device-data:view'];
  assert.equal((await ama({ method: 'PUT', path: grant, json: rights })).status, 204);
  const seen = await kofi(device);
  assert.equal(seen.status, 200, seen.text);
  const [sensor] = (seen.json as { sensors: { value: { value: number } }[] }).sensors;
  assert.equal(sensor?.value.value, 19.5);
  assert.equal(((await kofi(values)).json as unknown[]).length, 1);
  assert.equal(await ids(), 1);
  refusalOf(await kofi({ ...push, json: { value: 99 } }), 403, 'forbidden');
  refusalOf(await kofi({ method: 'DELETE', path: device.path }), 403, 'forbidden');

  assert.equal((await ama({ method: 'DELETE', path: grant })).status, 204);
  refusalOf(await kofi(device), 403, 'forbidden');
  refusalOf(await kofi(values), 403, 'forbidden');
  assert.equal(await ids(), 0);
  assert.equal(((await ama(values)).json as unknown[]).length, 1);
});

test('rights that are replaced take effect with the answer, each on its own', async () => {
  const ama = service.as('ama');
  const kofi = service.as('kofi');
  const path = '/devices/cellar';
  const grant = { method: 'PUT', path: `${path}/grants/kofi` };
  const push = { method: 'POST', path: `${path}/sensors/TC1/value`, json: 7 };
  const read = { path: `${path}/sensors/TC1/values` };
  const json = { id: 'cellar', visibility: 'private', sensors: [{ id: 'TC1' }] };
  assert.equal((await ama({ method: 'POST', path: '/devices', json })).status, 204);

  const statuses = async () => [(await kofi(push)).status, (await kofi(read)).status];
  assert.deepEqual(await statuses(), [403, 403]);
  await ama({ ...grant, json: ['devices-data:create'] });
  assert.deepEqual(await statuses(), [204, 403]);
  await ama({ ...grant, json: ['devices-data:view'] });
  assert.deepEqual(await statuses(), [403, 200]);
  await ama({ ...grant, json: [] });
  assert.deepEqual(await statuses(), [403, 403]);
});
