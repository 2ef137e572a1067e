import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '../../src/domain/limits.ts';
import { passwordOf, type Service, startService } from '../service.ts';
import { type ClientOptions, connect, ended, makeDevice, refusal } from './mqtt-clients.ts';

let service: Service;

before(async () => {
  service = await startService();
  await makeDevice(service, 'ana', 'secret', { visibility: 'private', sensors: ['t', 'u'] });
});

after(() => service[Symbol.asyncDispose]());

const topic = 'devices/secret/sensors/t/value';

/** Whether the client may push to ana's private device. */
async function mayPush(options: ClientOptions): Promise<boolean> {
  await using client = await connect(service, options);
  return await client.publish(topic, { value: 1 }).then(
    () => true,
    (error: unknown) => {
      assert.equal((error as { code?: number }).code, 0x87);
      return false;
    },
  );
}

async function aKey(json: object): Promise<{ readonly id: string; readonly key: string }> {
  const reply = await service.as('ana')({ method: 'POST', path: '/auth/keys', json });
  return reply.json as { id: string; key: string };
}

test('a username and a password, a token or a key let in as their owner', async () => {
  const token = await service.tokenOf('ana');
  const { key } = await aKey({ name: 'k' });
  const password = passwordOf('ana');
  assert.equal(await mayPush({ username: 'ana', password }), true);
  for (const secret of [token, key]) {
    for (const username of ['ana', 'any name', '']) {
      assert.equal(await mayPush({ username, password: secret }), true);
    }
  }
});

test('nobody, guest without a password and guest with guest are the guest', async () => {
  assert.equal(await mayPush({}), false);
  assert.equal(await mayPush({ username: 'guest' }), false);
  assert.equal(await mayPush({ username: 'guest', password: 'guest' }), false);
});

test('wrong logins get an answer: 4 or 5, in MQTT 5 0x86 or 0x87', async () => {
  const wrong: readonly ClientOptions[] = [
    { username: 'ana', password: 'wrong' },
    { username: 'nobody', password: 'wrong' },
    { username: 'ana' },
    { username: 'ana', password: `kpk_${'x'.repeat(43)}` },
    { username: '', password: 'x'.repeat(43) },
    { username: 'guest', password: 'other' },
    { username: 'ana', password: Buffer.from([0xff, 0xfe]) as never },
    { username: '+/#', password: 'x' },
  ];
  for (const options of wrong) {
    assert.ok([4, 5].includes(await refusal(service, options)), JSON.stringify(options));
    const young = await refusal(service, { ...options, protocolVersion: 5 });
    assert.ok([0x86, 0x87].includes(young), JSON.stringify(options));
  }
});

test('failed logins over MQTT and HTTP count together', async () => {
  const login = { username: 'guessed', password: 'wrong' };
  const token = (password: string) =>
    service.call({ method: 'POST', path: '/auth/token', json: { ...login, password } });
  await service.tokenOf('guessed');
  const half = limits.loginFailuresPerUser / 2;
  for (let failure = 0; failure < half; failure += 1) {
    assert.equal((await token('wrong')).status, 401);
    assert.equal(await refusal(service, { ...login, protocolVersion: 5 }), 0x86);
  }
  assert.equal((await token(passwordOf('guessed'))).status, 429);
  const right = { username: 'guessed', password: passwordOf('guessed') };
  assert.ok((await refusal(service, { ...right, protocolVersion: 5 })) >= 0x86);
  assert.ok([3, 4, 5].includes(await refusal(service, right)));
});

test('a key is no wider than its devices and scopes, for what comes and what goes', async () => {
  await makeDevice(service, 'ana', 'other', { visibility: 'private' });
  const { key } = await aKey({ name: 'one device', devices: ['secret'] });
  const { key: blind } = await aKey({ name: 'push only', scopes: ['devices-data:create'] });
  await using limited = await connect(service, { password: key, username: '' });
  await using pusher = await connect(service, { password: blind, username: '' });
  await using owner = await connect(service, { as: 'ana' });
  for (const client of [limited, pusher, owner]) await client.subscribe('devices/#');
  await assert.rejects(limited.publish('devices/other/sensors/t/value', '1'), { code: 0x87 });
  await pusher.publish('devices/other/sensors/t/value', '2');
  await limited.publish(topic, '3');
  await owner.got(2);
  assert.deepEqual(owner.texts, [
    `devices/other/sensors/t/value {"value":2}`,
    `${topic} {"value":3}`,
  ]);
  await limited.got(1);
  assert.deepEqual(limited.texts, [`${topic} {"value":3}`]);
  assert.deepEqual(pusher.texts, []);
});

test('a deleted key ends its connections, and no others', async () => {
  const { id, key } = await aKey({ name: 'short' });
  const client = await connect(service, { username: '', password: key });
  await using owner = await connect(service, { as: 'ana' });
  const end = ended(client);
  await service.as('ana')({ method: 'DELETE', path: `/auth/keys/${id}` });
  assert.equal(await end, 0x87);
  await owner.publish(topic, '1');
});

test('a changed password ends connections with the old one and with tokens', async () => {
  const token = await service.tokenOf('carl');
  const options = [{ as: 'carl' }, { username: '', password: token }];
  const clients = await Promise.all(options.map((one) => connect(service, one)));
  const ends = clients.map(ended);
  const me = await service.as('carl')({ path: '/users/me' });
  const { id } = me.json as { id: string };
  const path = `/users/${id}/password`;
  const json = { password: 'a new password', old_password: passwordOf('carl') };
  await service.as('carl')({ method: 'PUT', path, json });
  assert.deepEqual(await Promise.all(ends), [0x87, 0x87]);
  assert.equal(await refusal(service, { username: 'carl', password: passwordOf('carl') }), 4);
});

test('a disabled or deleted account ends its connections', async () => {
  const idOf = async (name: string) =>
    ((await service.as(name)({ path: '/users/me' })).json as { id: string }).id;
  const [dora, emil] = [await idOf('dora'), await idOf('emil')];
  const clients = [await connect(service, { as: 'dora' }), await connect(service, { as: 'emil' })];
  const ends = clients.map(ended);
  const disable = { method: 'PUT', path: `/users/${dora}`, json: { disabled: true } };
  assert.equal((await service.as('admin')(disable)).status, 204);
  assert.equal(
    (await service.as('emil')({ method: 'DELETE', path: `/users/${emil}` })).status,
    204,
  );
  assert.deepEqual(await Promise.all(ends), [0x87, 0x87]);
});

test('whoever may no longer act publishes nothing, not even at once', async () => {
  const client = await connect(service, { as: 'fred' });
  await service.as('ana')({
    method: 'PUT',
    path: '/devices/secret/grants/fred',
    json: ['devices-data:create'],
  });
  await client.publish('devices/secret/sensors/u/value', '1');
  const me = await service.as('fred')({ path: '/users/me' });
  const { id } = me.json as { id: string };
  const end = ended(client);
  await service.as('fred')({ method: 'DELETE', path: `/users/${id}` });
  const outcome = client.publish('devices/secret/sensors/u/value', '2').then(
    () => 'stored',
    () => 'refused',
  );
  assert.notEqual(await Promise.race([outcome, end]), 'stored');
  const reply = await service.as('ana')({ path: '/devices/secret/sensors/u/values' });
  assert.equal((reply.json as unknown[]).length, 1);
});
