import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { v1Door } from '../v1/service-in-v1.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

const clock = createManualClock(Date.UTC(2026, 10, 20, 12));
const channels = createRecordingChannels(['sms']);
let service: Service;

before(async () => {
  service = await startService({
    ...{ clock, channels: channels.open },
    environment: { KIPIMO_TOKEN_TTL_S: '864000' },
  });
  const sensors = [{ id: 'T' }];
  const json = { id: 'cold', visibility: 'private', sensors };
  assertDone(await ama()({ method: 'POST', path: '/devices', json }));
});

after(() => service[Symbol.asyncDispose]());

const ama = () => service.as('ama');

const password = 'a long enough password';

async function signUp(username: string): Promise<string> {
  clock.advance(1);
  const json = { username, password, phone: ['+233 20 765 4321'] };
  const reply = await service.as('admin')({ method: 'POST', path: '/users', json });
  assert.equal(reply.status, 200, reply.text);
  clock.advance(1);
  return reply.text;
}

async function notify(usernames: readonly string[], list: readonly string[] = ['sms']) {
  const condition = { devices: ['cold'], expression: 'T > 8' };
  const action = { usernames, channels: list, message: '{T}' };
  const json = { condition, action };
  const reply = await ama()({ method: 'POST', path: '/notifications', json });
  assert.equal(reply.status, 200, reply.text);
  return { path: `/notifications/${reply.text}`, json, reply };
}

async function read(path: string): Promise<Record<string, unknown>> {
  return (await ama()({ path })).json as Record<string, unknown>;
}

async function push(value: number): Promise<void> {
  const path = '/devices/cold/sensors/T/values';
  assertDone(await ama()({ method: 'POST', path, json: { value } }));
  clock.advance(1);
}

test('a name without an account when it is saved reaches nobody, ever', async () => {
  const { path } = await notify(['nobody-yet']);
  assert.deepEqual((await read(path))['unknown_usernames'], ['nobody-yet']);
  await signUp('nobody-yet');
  await push(9);
  const [delivery] = (await read(`${path}/deliveries`)) as unknown as Record<string, unknown>[];
  assert.equal(delivery?.['status'], 'failed');
  assert.equal(delivery?.['reason'], 'there is no user nobody-yet');
  assert.deepEqual((await read(path))['unknown_usernames'], ['nobody-yet']);
  assertDone(await ama()({ method: 'DELETE', path }));
});

test('a stranger who signs up under the name of a deleted account gets nothing', async () => {
  const id = await signUp('gone');
  const { path } = await notify(['gone', 'ama']);
  const only = await notify(['gone']);
  assert.equal((await read(path))['unknown_usernames'], undefined);
  assertDone(await service.as('admin')({ method: 'DELETE', path: `/users/${id}` }));
  await signUp('gone');
  const { action } = (await read(path)) as { action: { usernames: string[] } };
  assert.deepEqual(action.usernames, ['ama']);
  assert.deepEqual((await read(only.path))['unknown_usernames'], ['gone']);
  await push(9);
  const deliveries = (await read(`${path}/deliveries`)) as unknown as Record<string, unknown>[];
  assert.deepEqual(
    deliveries.map(({ username }) => username),
    ['ama'],
  );
  const [failed] = (await read(`${only.path}/deliveries`)) as unknown as Record<string, unknown>[];
  assert.equal(failed?.['status'], 'failed');
  for (const one of [path, only.path]) assertDone(await ama()({ method: 'DELETE', path: one }));
});

test('a notification that cannot reach somebody says so when saved and in lists', async () => {
  const { path, reply } = await notify(['ama'], ['sms', 'voice']);
  const told = JSON.parse(reply.headers.get('x-unreachable') ?? '[]');
  const { unreachable } = (await read(path)) as { unreachable: Record<string, string>[] };
  assert.deepEqual(told, unreachable);
  assert.deepEqual(
    unreachable.map(({ username, channel }) => [username, channel]),
    [
      ['ama', 'sms'],
      ['ama', 'voice'],
    ],
  );
  const profile = { phone: ['+233 (20) 123-4567'] };
  assertDone(await ama()({ method: 'PUT', path: '/users/me', json: profile }));
  const list = (await read('/notifications')) as unknown as {
    id: string;
    unreachable: Record<string, string>[];
  }[];
  const found = list.find(({ id }) => path.endsWith(id));
  assert.deepEqual(
    found?.unreachable.map(({ channel }) => channel),
    ['voice'],
  );
  assertDone(await ama()({ method: 'DELETE', path }));
});

test('a phone is saved with its country code, or refused with a sentence', async () => {
  for (const phone of [
    '77 123 45 67',
    '2.54712E+11',
    '',
    '+1234567',
    '+1234567890123456',
    '+23x',
    '+0201234567',
    '0000201234567',
  ]) {
    const json = { phone: [phone] };
    const reply = await ama()({ method: 'PUT', path: '/users/me', json });
    assertRefused(reply, 400);
    assert.match(reply.text, /country code/);
  }
  for (const phone of ['+233 (20) 123-45.67', '00233201234567', '+233 (0)20 1234567']) {
    assertDone(await ama()({ method: 'PUT', path: '/users/me', json: { phone: [phone] } }));
    assert.deepEqual((await read('/users/me'))['phone'], ['+233201234567']);
  }
});

test('an end that is a date alone holds to the end of that day in UTC', async () => {
  const { path } = await notify(['ama']);
  assertDone(await ama()({ method: 'PATCH', path, json: { expires: '2026-11-20' } }));
  await push(9);
  assert.equal((await read(path))['times_sent'], 1);
  assertDone(await ama()({ method: 'PATCH', path, json: { expires: '2026-11-19' } }));
  await push(9);
  assert.equal((await read(path))['times_sent'], 1);
});

test('a preview refuses what creation refuses', async () => {
  const action = { usernames: ['ama'], channels: ['sms'], message: 'x' };
  for (const expression of ['T > 8C', '8 < T', 'T > H', 'T > 8 for', 'T > 8 for 1m for 2m', '']) {
    const notification = { condition: { devices: ['cold'], expression }, action };
    const made = await ama()({ method: 'POST', path: '/notifications', json: notification });
    const json = { from: '2026-11-20T00:00:00Z', notification };
    const tried = await ama()({ method: 'POST', path: '/notifications/preview', json });
    assert.deepEqual([tried.status, tried.text], [400, made.text], expression);
  }
});

test('what waits for a deleted account never reaches who has its name since', async () => {
  const [v1, v2] = [v1Door(service), service.call] as const;
  for (const call of [v1, v2]) {
    const id = await signUp('waiting');
    const { path } = await notify(['waiting', 'WAITING']);
    channels.answer({ kind: 'retry', reason: 'busy' });
    const before = channels.sent.length;
    await push(9);
    await untilEach(path, ({ reason }) => reason === 'busy');
    assert.equal(channels.sent.length, before + 2);
    assertDone(await service.as('admin')({ method: 'DELETE', path: `/users/${id}` }));
    // Within the same millisecond: times tell nothing.
    const json = { username: 'Waiting', password, phone: '+233207654321' };
    const token = await service.tokenOf('admin');
    assert.equal((await call({ method: 'POST', path: '/users', json, token })).status, 200);
    channels.answer({ kind: 'sent' });
    clock.advance(3_600_000);
    await untilEach(path, ({ status }) => status === 'failed');
    assert.equal(channels.sent.length, before + 2);
    assertDone(await ama()({ method: 'DELETE', path }));
    const { json: users } = await service.as('admin')({ path: '/users?username=waiting' });
    const [other] = users as readonly { readonly id: string }[];
    assertDone(await service.as('admin')({ method: 'DELETE', path: `/users/${other?.id}` }));
  }
});

test('a name means the account in any case of letters', async () => {
  const { path } = await notify(['AMA']);
  assert.equal((await read(path))['unknown_usernames'], undefined);
  const before = channels.sent.length;
  await push(9);
  await channels.until(before + 1);
  assertDone(await ama()({ method: 'DELETE', path }));
});

test('a device that is made again under its id is another one, and the rule says so', async () => {
  const make = async (as: ReturnType<Service['as']>, visibility: string) => {
    const json = { id: 'again', visibility, sensors: [{ id: 'T' }] };
    assertDone(await as({ method: 'POST', path: '/devices', json }));
  };
  const remove = (as: ReturnType<Service['as']>) =>
    as({ method: 'DELETE', path: '/devices/again' });
  const sensor = '/devices/again/sensors/T/value';
  await make(ama(), 'private');
  const condition = { devices: ['again', 'not-yet'], expression: 'T > 8' };
  const action = { usernames: ['ama'], channels: ['sms'], message: 'a secret' };
  const json = { condition, action };
  const { text: id } = await ama()({ method: 'POST', path: '/notifications', json });
  const path = `/notifications/${id}`;
  assert.deepEqual((await read(path))['gone_devices'], ['not-yet']);
  assertDone(await remove(ama()));
  clock.advance(1);
  assert.deepEqual((await read(path))['gone_devices'], ['again', 'not-yet']);
  const eve = service.as('eve');
  // None of its devices exists: it is its owner's alone.
  const hidden = async () => {
    assertRefused(await eve({ path }), 403);
    const { json: list } = await eve({ path: '/notifications?limit=1000' });
    assert.ok(!JSON.stringify(list).includes(id));
  };
  await hidden();
  await make(eve, 'public');
  await hidden();
  const before = channels.sent.length;
  assertDone(await eve({ method: 'POST', path: sensor, json: { value: 9 } }));
  assert.equal((await read(path))['times_sent'], 0);
  assert.equal(channels.sent.length, before);
  const list = (await read('/notifications')) as unknown as Record<string, unknown>[];
  const found = list.find((one) => one['id'] === id);
  assert.deepEqual(found?.['gone_devices'], ['again', 'not-yet']);
  // Written again it watches the one that is there now.
  assertDone(await ama()({ method: 'PATCH', path, json: { condition } }));
  assert.deepEqual((await read(path))['gone_devices'], ['not-yet']);
  assert.equal((await eve({ path })).status, 200);
  clock.advance(1);
  assertDone(await eve({ method: 'POST', path: sensor, json: { value: 9 } }));
  await channels.until(before + 1);
  assertDone(await ama()({ method: 'DELETE', path }));
});

interface Told {
  readonly status: string;
  readonly reason?: string;
}

/** Waits until all deliveries are so. */
async function untilEach(path: string, isWanted: (one: Told) => boolean): Promise<void> {
  for (const end = Date.now() + 20_000; ; ) {
    const told = (await read(`${path}/deliveries`)) as unknown as Told[];
    if (told.length > 0 && told.every(isWanted)) return;
    assert.ok(Date.now() < end, JSON.stringify(told));
  }
}
