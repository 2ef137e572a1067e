import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { connect } from '../mqtt/mqtt-clients.ts';
import { type Service, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

const channels = createRecordingChannels(['sms']);
let service: Service;
let count = 0;

before(async () => {
  service = await startService({ channels: channels.open });
  for (const username of ['ama', 'kofi']) {
    const json = { phone: ['+233201234567'] };
    assertDone(await service.as(username)({ method: 'PUT', path: '/users/me', json }));
  }
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

async function make(owner: string, id: string, visibility = 'private'): Promise<void> {
  const parts = { sensors: [{ id: 'TC1' }], actuators: [{ id: 'fan', value: 'off' }] };
  const json = { id, visibility, ...parts };
  assertDone(await as(owner)({ method: 'POST', path: '/devices', json }));
}

async function aDevice(owner: string, visibility = 'private'): Promise<string> {
  count += 1;
  const id = `made-${count}`;
  await make(owner, id, visibility);
  return id;
}

const remove = async (owner: string, id: string) =>
  assertDone(await as(owner)({ method: 'DELETE', path: `/devices/${id}` }));

const push = async (owner: string, id: string, value: unknown = 40) =>
  assertDone(
    await as(owner)({ method: 'POST', path: `/devices/${id}/sensors/TC1/value`, json: { value } }),
  );

async function rule(owner: string, devices: readonly string[], fields: object = {}) {
  const condition = { devices, sensors: ['TC1'], expression: 'TC1 > 30' };
  const action = { usernames: [owner], channels: ['sms'], message: 'hot {TC1}' };
  const json = { condition, action, ...fields };
  const reply = await as(owner)({ method: 'POST', path: '/notifications', json });
  assert.equal(reply.status, 200, reply.text);
  return `/notifications/${reply.text}`;
}

async function read(path: string, by = 'ama'): Promise<Record<string, unknown>> {
  const reply = await as(by)({ path });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Record<string, unknown>;
}

const fan = async (owner: string, id: string) =>
  (await as(owner)({ path: `/devices/${id}/actuators/fan/value` })).json;

async function isListed(path: string, by: string): Promise<boolean> {
  const reply = await as(by)({ path: '/notifications?limit=1000' });
  const list = reply.json as readonly { id: string }[];
  return list.some(({ id }) => path.endsWith(id));
}

test('a rule does not fire for a device that somebody else made again, and says so', async () => {
  const id = await aDevice('ama');
  const credit = (await read('/users/me'))['sms_credit'];
  const path = await rule('ama', [id]);
  await push('ama', id);
  assert.equal((await read(path))['times_sent'], 1);
  assert.equal((await read(path))['gone_devices'], undefined);
  await remove('ama', id);
  assert.deepEqual((await read(path))['gone_devices'], [id]);
  await make('kofi', id, 'public');
  await push('kofi', id);
  const after = await read(path);
  assert.deepEqual([after['times_sent'], after['gone_devices']], [1, [id]]);
  assert.equal((await read('/users/me'))['sms_credit'], credit);
  const list = (await as('ama')({ path: '/notifications?limit=1000' })).json;
  const listed = (list as Record<string, unknown>[]).find((one) => path.endsWith(`${one['id']}`));
  assert.deepEqual(listed?.['gone_devices'], [id]);
});

test('a device that its own owner made again is another one until the rule is saved', async () => {
  const id = await aDevice('ama');
  const path = await rule('ama', [id]);
  await remove('ama', id);
  await make('ama', id);
  await push('ama', id);
  assert.equal((await read(path))['times_sent'], 0);
  const patch = (json: object) => as('ama')({ method: 'PATCH', path, json });
  assertDone(await patch({ description: 'nothing of the device' }));
  await push('ama', id, 41);
  assert.deepEqual((await read(path))['gone_devices'], [id], 'changes of others bind nothing');
  assertDone(await patch({ condition: { devices: [id] } }));
  await push('ama', id, 42);
  const after = await read(path);
  assert.deepEqual([after['times_sent'], after['gone_devices']], [1, undefined]);
});

test('an actuator of a device that was made again is not set', async () => {
  const [watched, target] = [await aDevice('ama'), await aDevice('ama')];
  const value = { device_id: target, actuator_id: 'fan', actuator_value: 'on' };
  const path = await rule('ama', [watched], { action: { type: 'ActuationAction', value } });
  await push('ama', watched);
  assert.equal(await fan('ama', target), 'on');
  await remove('ama', target);
  await make('kofi', target, 'public');
  await push('ama', watched, 41);
  assert.equal(await fan('kofi', target), 'off');
  assert.deepEqual((await read(path))['gone_devices'], [target]);
  assert.equal((await read(path))['times_sent'], 1);
});

test('a rule reads a name that nothing had as what its owner makes under it', async () => {
  const [own, others] = ['made-later', 'made-later-by-others'];
  const path = await rule('ama', [own, others]);
  assert.deepEqual((await read(path))['gone_devices'], [own, others]);
  await make('ama', own);
  await make('kofi', others, 'public');
  await push('ama', own);
  await push('kofi', others);
  const after = await read(path);
  assert.deepEqual([after['times_sent'], after['gone_devices']], [1, [others]]);
});

test('a rule of which no device exists is for its owner alone', async () => {
  const [hidden, open] = [await aDevice('ama'), await aDevice('ama', 'public')];
  const alone = await rule('ama', [hidden]);
  const never = await rule('ama', ['never-made']);
  const shown = await rule('ama', [open, 'never-made']);
  await remove('ama', hidden);
  for (const by of ['kofi', 'guest']) {
    for (const path of [alone, never]) {
      assert.equal(await isListed(path, by), false, `${path} by ${by}`);
    }
    assert.equal(await isListed(shown, by), true);
  }
  assertRefused(await as('kofi')({ path: alone }), 403);
  await make('kofi', hidden, 'public');
  assertRefused(await as('kofi')({ path: alone }), 403);
  assert.equal(await isListed(alone, 'ama'), true);
  await remove('ama', open);
  assert.equal(await isListed(shown, 'kofi'), false);
});

test('a device that is handed over or renamed stays the one that rules watch', async () => {
  const id = await aDevice('ama', 'public');
  const path = await rule('ama', [id]);
  const put = (by: string, field: string, body: string) =>
    as(by)({ method: 'PUT', path: `/devices/${id}/${field}`, body });
  assertDone(await put('ama', 'name', 'Field'));
  assertDone(await put('admin', 'owner', 'kofi'));
  await push('kofi', id);
  const after = await read(path);
  assert.deepEqual([after['times_sent'], after['gone_devices']], [1, undefined]);
});

test('a silence is not told of a device that was made again', async () => {
  const id = await aDevice('ama');
  const condition = { devices: [id], sensors: [], expression: 'silent(TC1, 1s)' };
  const path = await rule('ama', [id], { condition });
  await remove('ama', id);
  await make('kofi', id, 'public');
  await push('kofi', id);
  const probe = await aDevice('ama');
  const before = channels.sent.length;
  await rule('ama', [probe], { condition: { ...condition, devices: [probe] } });
  await channels.until(before + 1);
  assert.equal((await read(path))['times_sent'], 0);
});

test('a key for one device has no right on another one under its id', async () => {
  const id = await aDevice('ama');
  const json = { name: 'roof', devices: [id] };
  const { key } = (await as('ama')({ method: 'POST', path: '/auth/keys', json })).json as {
    readonly key: string;
  };
  const call = (path: string) => service.call({ path, token: key });
  await using subscriber = await connect(service, { username: 'ama', password: key });
  await subscriber.subscribe('devices/#');
  await push('ama', id, 1);
  await remove('ama', id);
  await make('kofi', id);
  const grants = { method: 'PUT', path: `/devices/${id}/grants/ama` } as const;
  const scopes = ['devices:view', 'devices-data:view', 'devices-data:create'];
  assertDone(await as('kofi')({ ...grants, json: scopes }));
  await push('kofi', id, 2);
  assert.equal((await as('ama')({ path: `/devices/${id}` })).status, 200);
  assert.equal((await call(`/devices/${id}`)).status, 403);
  assert.equal((await call(`/devices/${id}/sensors/TC1/values`)).status, 403);
  assert.deepEqual((await call('/devices')).json, []);
  assert.deepEqual((await call('/auth/permissions/devices')).json, []);
  // Its own owner's, made anew, is what the key was made for.
  await remove('kofi', id);
  await make('ama', id);
  assert.equal((await call(`/devices/${id}`)).status, 200);
  await push('ama', id, 3);
  const values = (await subscriber.got(2)).map(({ payload }) => JSON.parse(payload).value);
  assert.deepEqual(values, [1, 3]);
});

test('what was retained of a device is not shown with the one made after it', async () => {
  const id = await aDevice('ama', 'public');
  await using client = await connect(service, { as: 'ama' });
  const topic = `devices/${id}/sensors/TC1/value`;
  await client.publish(topic, { value: 7 }, { qos: 1, retain: true });
  await remove('ama', id);
  await make('kofi', id, 'public');
  await client.subscribe(topic);
  await push('kofi', id, 8);
  const [first] = await client.got(1);
  assert.equal(JSON.parse(first?.payload ?? '').value, 8);
});
