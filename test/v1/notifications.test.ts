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
  const measurements = [{ id: 'TC1' }];
  const json = { id: 'S', visibility: 'private', measurements, actuators: [{ id: 'pump' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', token, json }));
});

after(() => service[Symbol.asyncDispose]());

const condition = { sensors: ['S'], measurements: ['TC1'], expression: 'TC1 > 30' };
const notification = { usernames: ['ama'], channels: ['sms'], message: 'Too hot: {TC1}' };

async function create(json: object): Promise<string> {
  const reply = await v1({ method: 'POST', path: '/notifications', token, json });
  assert.equal(reply.status, 200, reply.text);
  assert.match(reply.headers.get('content-type') ?? '', /^text\/plain/);
  return reply.text;
}

async function read(path: string): Promise<Record<string, unknown>> {
  const reply = await service.call({ path: `//api${path}`, token });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Record<string, unknown>;
}

test('a notification of version 1 is the same thing in both versions', async () => {
  const expires = '2099-01-31T12:00:00Z';
  const given = { description: 'Heat', condition, notification, expires, throttling: 60 };
  const id = await create(given);
  const ofV1 = await read(`/v1/notifications/${id}`);
  const told = { ...given, id, status: 'active', times_sent: 0 };
  for (const [key, value] of Object.entries(told)) assert.deepEqual(ofV1[key], value, key);
  assert.ok(!('action' in ofV1));
  const ofV2 = await read(`/v2/notifications/${id}`);
  assert.deepEqual(ofV2['condition'], {
    devices: ['S'],
    sensors: ['TC1'],
    expression: 'TC1 > 30',
  });
  assert.deepEqual(ofV2['action'], notification);
  const [listed] = Object.values(await read('/v1/notifications'));
  assert.deepEqual(listed, ofV1);
});

test('a push of version 1 makes a notification of version 1 fire', async () => {
  const id = await create({ condition, notification });
  const path = '/sensors/S/measurements/TC1/values';
  assertEmpty(await v1({ method: 'POST', path, token, json: { value: 31 } }));
  const { times_sent, last_notification } = await read(`/v1/notifications/${id}`);
  assert.equal(times_sent, 1);
  assert.equal(typeof last_notification, 'string');
  const [delivery] = Object.values(await read(`/v1/notifications/${id}/deliveries`));
  assert.equal((delivery as { message: string }).message, 'Too hot: 31');
});

test('what an actuator is to be set to is free of words', async () => {
  const actuator_value = { action: { sensors: 1 }, device_id: 'device', notification: [] };
  const value = { sensor_id: 'S', actuator_id: 'pump', actuator_value };
  const typed = { type: 'ActuationAction', value };
  const id = await create({ condition, notification: typed });
  assert.deepEqual((await read(`/v1/notifications/${id}`))['notification'], typed);
  const { sensor_id, ...others } = value;
  const inV2 = { type: 'ActuationAction', value: { device_id: sensor_id, ...others } };
  assert.deepEqual((await read(`/v2/notifications/${id}`))['action'], inV2);
});

test('a notification is paused, changed and deleted with 200', async () => {
  const id = await create({ condition, notification });
  const path = `/notifications/${id}`;
  assertEmpty(await v1({ method: 'PUT', path: `${path}/status`, token, body: 'inactive' }));
  const changes = { condition: { ...condition, measurements: ['SM1'] }, notification: null };
  assertEmpty(await v1({ method: 'PATCH', path, token, json: changes }));
  const changed = await read(`/v1${path}`);
  assert.deepEqual(changed['condition'], changes.condition);
  assert.deepEqual([changed['status'], changed['notification']], ['inactive', notification]);
  assertEmpty(await v1({ method: 'DELETE', path, token }));
  assert.equal((await v1({ path, token })).status, 404);
});

test('a refusal names the fields as they were written', async () => {
  const refused = async (json: object, description: RegExp) => {
    const reply = await v1({ method: 'POST', path: '/notifications', token, json });
    assert.equal(reply.status, 400, reply.text);
    assert.match((reply.json as { description: string }).description, description);
  };
  await refused({ condition }, /^notification must have the field notification$/);
  await refused({ condition, action: notification }, /must have the field notification$/);
  const { message, ...silent } = notification;
  assert.ok(message);
  await refused({ condition, notification: silent }, /^notification must have the field message$/);
  const wrong = { ...condition, measurements: 'TC1' };
  await refused({ condition: wrong, notification }, /^condition\.measurements must be/);
  const actuation = { type: 'ActuationAction', value: { actuator_id: 'pump', actuator_value: 1 } };
  await refused({ condition, notification: actuation }, /^notification\.value .*sensor_id$/);
});
