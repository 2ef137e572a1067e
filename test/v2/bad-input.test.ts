import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Call, type Reply, type Service, startService } from '../service.ts';
import { aNotification, notification } from './a-notification.ts';
import { badMessages } from './bad-messages.ts';
import { filled, type Operation, operationsOf } from './documented-operations.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
let operations: readonly Operation[];
let admin: (request: Omit<Call, 'token'>) => Promise<Reply>;
/** What stands in the paths. */
const here: Record<string, string> = {
  device_id: 'D',
  sensor_id: 'TC1',
  actuator_id: 'pump',
  gateway_id: 'G',
  project_id: 'P',
  username: 'victim',
};
let everythingBefore: string;

before(async () => {
  service = await startService();
  admin = service.as('admin');
  await service.tokenOf('victim');
  const { json: users } = await admin({ path: '/users?username=victim' });
  here['user_id'] = (users as { id: string }[])[0]?.id ?? '';
  here['notification_id'] = await aNotification(admin);
  here['channel'] = 'sms';
  const groups = await admin({ method: 'POST', path: '/groups', json: { name: 'kept' } });
  here['group_id'] = groups.text;
  const key = await admin({ method: 'POST', path: '/auth/keys', json: { name: 'known' } });
  here['key_id'] = (key.json as { id: string }).id;
  const parts = { sensors: [{ id: 'TC1', unit: 'V' }], actuators: [{ id: 'pump', value: 1 }] };
  const device = { id: 'D', name: 'kept', ...parts };
  assertDone(await admin({ method: 'POST', path: '/devices', json: device }));
  await admin({ method: 'POST', path: '/gateways', json: { id: 'G', name: 'kept' } });
  await admin({ method: 'POST', path: '/projects', json: { id: 'P', device_ids: ['D'] } });
  const values = '/devices/D/sensors/TC1/values';
  assertDone(await admin({ method: 'POST', path: values, json: { value: 1 } }));
  operations = await operationsOf(service);
  everythingBefore = await everything();
});

after(() => service[Symbol.asyncDispose]());

/** All that a request could have changed, as the admin sees it. */
async function everything(): Promise<string> {
  const paths = ['/devices?limit=1000', '/devices/D/sensors/TC1/values', '/devices/D/grants'];
  const others = ['/gateways', '/projects', '/gateways/G/grants', '/projects/P/grants', '/socials'];
  const all = [...paths, ...others, '/users?limit=1000', '/auth/keys'];
  const replies = all.map((path) => admin({ path }));
  return (await Promise.all(replies)).map(({ status, text }) => `${status} ${text}`).join('\n');
}

async function assertNothingChanged(): Promise<void> {
  assert.equal(await everything(), everythingBefore);
  assert.equal((await service.call({ path: '//healthz' })).status, 200);
}

const calib = {
  linear: {
    enabled: true,
    value_min: { sensor_value: 0, real_value: 0 },
    value_max: { sensor_value: 1, real_value: 2 },
    points: [
      { sensor_value: 0, real_value: 0 },
      { sensor_value: 1, real_value: 2 },
    ],
  },
};

const sensor = {
  id: 'new',
  name: 'n',
  sensing_device: 'd',
  sensor_kind: 'k',
  quantity_kind: 'q',
  unit: 'u',
  measures: 'gauge',
  calib,
  meta: 1,
};

const actuator = {
  id: 'a',
  name: 'n',
  actuator_kind: 'k',
  actuator_value_type: 'bool',
  value_type: 'bool',
  value: true,
  meta: 1,
};

const profile = {
  firstName: 'f',
  lastName: 'l',
  email: 'a@example.org',
  phone: ['+233201234567'],
  address: ['a'],
  facebook: ['f'],
  webhook: ['https://farm.example.org/hook'],
  twitter: ['t'],
};

const { action } = notification;
const parts = { ...action, device_id: 'D', actuator_id: 'pump', actuator_value: 1 };
const everyField = { ...notification, action: { ...action, type: 'SocialAction', value: parts } };

/** A message for each operation that takes one, with every field it may have. */
const validMessages: Readonly<Record<string, unknown>> = {
  'POST /auth/token': { username: 'nobody', password: 'wrong password', remember: true },
  'POST /auth/first': { secret: 'none', password: 'password-1', remember: true },
  'POST /auth/reset': { username: 'nobody' },
  'POST /auth/reset/confirm': { username: 'nobody', password: 'password-1', code: '7KQ2-M9XD' },
  'POST /users/me/addresses/prove': { channel: 'email', address: 'nobody@example.org' },
  'POST /users/me/addresses/confirm': {
    ...{ channel: 'email', address: 'nobody@example.org', code: '7KQ2-M9XD' },
  },
  'POST /auth/keys': {
    name: 'new',
    scopes: ['devices:view'],
    devices: ['D'],
    expires: '2099-01-01T00:00:00Z',
  },
  'POST /devices': {
    id: 'new',
    gateway_id: 'g',
    name: 'n',
    domain: 'd',
    visibility: 'public',
    location: { latitude: 1, longitude: 2 },
    meta: 1,
    deployed: true,
    timezone: 'Africa/Dakar',
    sensors: [sensor],
    actuators: [actuator],
  },
  'PATCH /devices/{device_id}': {
    gateway_id: 'g',
    name: 'n',
    domain: 'd',
    visibility: 'public',
    location: { latitude: 1, longitude: 2 },
    meta: 1,
    deployed: true,
    timezone: 'Africa/Dakar',
  },
  'POST /devices/{device_id}/sensors': sensor,
  'POST /devices/{device_id}/actuators': actuator,
  'PUT /devices/{device_id}/grants/{username}': ['devices:view'],
  'PUT /devices/{device_id}/grants/groups/{group_id}': ['devices:view'],
  'PUT /gateways/{gateway_id}/grants/groups/{group_id}': ['gateways:view'],
  'PUT /projects/{project_id}/grants/groups/{group_id}': ['projects:view'],
  'PUT /admin/settings': { sign_up: null },
  'PUT /devices/{device_id}/sensors/{sensor_id}/retention': { raw_days: 7, hourly_days: 9 },
  'PUT /devices/{device_id}/retention': { raw_days: 7, hourly_days: 9 },
  'PUT /users/me/retention': { raw_days: 7, hourly_days: 9 },
  'POST /groups': { name: 'n', usernames: ['victim'] },
  'PUT /groups/{group_id}/usernames': ['victim'],
  'POST /invitations': {
    devices: ['D'],
    project: 'P',
    group: 'unknown',
    scopes: ['devices:view'],
    expires: '2099-01-01T00:00:00Z',
    uses: 2,
  },
  'POST /gateways': {
    id: 'new',
    name: 'n',
    visibility: 'public',
    location: { latitude: 1, longitude: 2 },
  },
  'PUT /gateways/{gateway_id}/grants/{username}': ['gateways:view'],
  'POST /projects': { id: 'new', name: 'n', device_ids: ['D'], gateway_ids: ['G'] },
  'PUT /projects/{project_id}/grants/{username}': ['projects:view'],
  'POST /notifications': everyField,
  'PATCH /notifications/{notification_id}': everyField,
  'POST /notifications/preview': {
    notification: everyField,
    from: '2026-01-01T00:00:00Z',
    to: '2026-01-02T00:00:00Z',
  },
  'POST /socials': { username: 'victim', channel: 'sms', message: 'm' },
  'PATCH /devices/{device_id}/sensors/{sensor_id}/values': [
    { timestamp: '2026-01-01T00:00:00Z', date_received: '2026-01-01T00:00:00Z', value: 1 },
  ],
  'POST /socials/batch': { usernames: ['victim'], channels: ['sms', 'none'], message: 'm' },
  'POST /users': { username: 'new', password: 'password-1', ...profile },
  'PUT /users/me': { ...profile, admin: true, disabled: false },
  'PUT /users/{user_id}': { ...profile, admin: true, disabled: false },
};

test('every field of every message is refused when it is wrong or missing', async () => {
  const withMessage = operations.filter(({ body }) => body?.kind === 'message');
  const names = withMessage.map(({ name }) => name);
  assert.deepEqual(names.toSorted(), Object.keys(validMessages).toSorted());
  for (const { name, method, path, body } of withMessage) {
    const wrong = badMessages(body?.schema ?? {}, validMessages[name]);
    assert.ok(wrong.length > 5, name);
    for (const { what, message } of wrong) {
      const reply = await admin({ method, path: filled(path, here), json: message });
      assertRefused(reply, 400, { of: `${name}: ${what}` });
    }
  }
  await assertNothingChanged();
});

const notTexts = ['{"a":1}', '[1]', '"open', '{"a":'];
const numbers = ['1e999', '-1e999', 'NaN', '-Infinity', '1.5.2'];

/** For each operation that takes a bare value: JSON texts that it must refuse. */
const badValues: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(
    ['name', 'domain', 'gateway_id', 'owner'].map((field) => [
      `PUT /devices/{device_id}/${field}`,
      [...notTexts, `"${'x'.repeat(5_000)}"`],
    ]),
  ),
  ...Object.fromEntries(
    ['name', 'sensing_device', 'sensor_kind', 'quantity_kind', 'unit'].map((field) => [
      `PUT /devices/{device_id}/sensors/{sensor_id}/${field}`,
      [...notTexts, `"${'x'.repeat(5_000)}"`],
    ]),
  ),
  ...Object.fromEntries(
    ['name', 'actuator_kind', 'value_type', 'actuator_value_type'].map((field) => [
      `PUT /devices/{device_id}/actuators/{actuator_id}/${field}`,
      [...notTexts, `"${'x'.repeat(5_000)}"`],
    ]),
  ),
  ...Object.fromEntries(
    ['value', 'meta'].map((field) => [
      `PUT /devices/{device_id}/actuators/{actuator_id}/${field}`,
      ['{"a":', '[1,', '{"a":1e999}', '{"a":NaN}', 'NaN', '1e999'],
    ]),
  ),
  ...Object.fromEntries(
    [
      ...['gateways/{gateway_id}/name', 'gateways/{gateway_id}/owner'],
      ...['projects/{project_id}/name', 'groups/{group_id}/name'],
    ].map((path) => [`PUT /${path}`, [...notTexts, `"${'x'.repeat(5_000)}"`]]),
  ),
  'PUT /gateways/{gateway_id}/visibility': ['"secret"', '""', 'true', '0', ...notTexts],
  'PUT /gateways/{gateway_id}/location': ['true', '[]', '"x"', '{}', ...numbers, ...notTexts],
  ...Object.fromEntries(
    ['device_ids', 'gateway_ids'].map((field) => [
      `PUT /projects/{project_id}/${field}`,
      ['{}', '"x"', 'x', '7', 'true', '[7]', '[null]', '[["x"]]', '["a b"]', '[""]', '["open'],
    ]),
  ),
  'PUT /devices/{device_id}/visibility': ['"secret"', '""', 'true', '0', ...notTexts],
  'PUT /devices/{device_id}/location': ['true', '[]', '"x"', '{}', ...numbers, ...notTexts],
  'PUT /devices/{device_id}/meta': ['{"a":', '[1,', '{"a":1e999}', '{"a":NaN}', 'NaN', '1e999'],
  'PUT /devices/{device_id}/timezone': [...notTexts, '"Mars"', '"+01:00"', '7', 'true'],
  'PUT /devices/{device_id}/deployed': ['1', '"x"', '[]', '{}', 'yes', ...numbers],
  'PUT /devices/{device_id}/sensors/{sensor_id}/measures': ['""', '"meter"', '7', ...notTexts],
  'PUT /devices/{device_id}/sensors/{sensor_id}/calib': ['1', '"x"', '[]', '{}', ...numbers],
  'PUT /devices/{device_id}/sensors/{sensor_id}/meta': ['{"a":', '[1,', '{"a":1e999}', 'NaN'],
  ...Object.fromEntries(
    ['value', 'values'].map((word) => [
      `POST /devices/{device_id}/sensors/{sensor_id}/${word}`,
      [
        ...['{}', '{"valeu":1}', '[{}]', '[{"valeu":1},2]', '[{},{}]', '{"value":1e999}'],
        ...['{"value":1,"timestamp":5}', '{"value":1,"timestamp":"yesterday"}', '{"value":NaN}'],
        ...['{"value":1,"timestamp":"2026-02-30"}', '{"value":1,"timestamp":""}', '{"value":'],
        ...['{"value":1,"timestamp":{}}', '{"value":1,"timestamp":[]}', 'NaN', '1e999', '"open'],
      ],
    ]),
  ),
  'PUT /notifications/{notification_id}/status': ['"on"', '""', 'true', '0', ...notTexts],
  'PUT /users/{user_id}/password': ['1', 'true', '{}', '[]', '"short"', '{"password":7}', 'null'],
  'PUT /users/{user_id}/sms_credit': ['-1', '1.5', '"many"', 'true', '{}', '[]', ...numbers],
};

test('every bare value is refused when the field cannot have it', async () => {
  const bare = operations.filter(({ body }) => body?.kind === 'bare');
  assert.deepEqual(bare.map(({ name }) => name).toSorted(), Object.keys(badValues).toSorted());
  for (const { name, method, path } of bare) {
    for (const body of badValues[name] ?? []) {
      const type = 'application/json';
      const reply = await admin({ method, path: filled(path, here), body, type });
      assertRefused(reply, 400, { of: `${name}: ${body.slice(0, 60)}` });
    }
  }
  await assertNothingChanged();
});

const utf8 = (text: string) => new TextEncoder().encode(text);
const withByte = (byte: number) => new Uint8Array([...utf8('{"id":"a'), byte, ...utf8('"}')]);

/** Bodies that no endpoint can read as JSON, and what the sentence must say. */
const unreadable: readonly (readonly [string, Uint8Array, RegExp])[] = [
  ...['{"id":', '{"id":"new",}', '{"id" "new"}', '{"id":"new"}}', '["new"', '{"id":+1}'].map(
    (text) => [text, utf8(text), /character \d+/] as const,
  ),
  ['a control character', utf8('{"id":"a\u0001"}'), /character \d+/],
  ['a bad escape', utf8('{"id":"\\x"}'), /character \d+/],
  ['a number too large', utf8('{"id":1e999}'), /character \d+/],
  ['NaN', utf8('{"id":NaN}'), /character \d+/],
  ['33 levels', utf8(`${'['.repeat(33)}${']'.repeat(33)}`), /nested/],
  ['33 levels of objects', utf8(`${'{"id":'.repeat(33)}1${'}'.repeat(33)}`), /nested/],
  ['100 000 levels', utf8(`${'['.repeat(100_000)}${']'.repeat(100_000)}`), /nested/],
  // Below the size of a value, which would be told first.
  ['10 000 levels left open', utf8('{"a":['.repeat(10_000)), /nested/],
  ['a stray byte', withByte(0xff), /UTF-8/],
  ['half a character', withByte(0xc3), /UTF-8/],
  ['a long form of /', new Uint8Array([...withByte(0xc0), 0xaf]), /UTF-8/],
  ['compressed JSON that does not say so', gzipSync('{"id":"new"}'), /\w/],
  ['nothing', utf8(''), /empty/],
];

test('a body that is not JSON is refused by every endpoint, with the spot', async () => {
  for (const { name, method, path, body } of operations) {
    if (body === undefined || body.kind === 'stream') continue;
    for (const [what, bytes, saying] of unreadable) {
      const type = 'application/json';
      const reply = await admin({ method, path: filled(path, here), body: bytes, type });
      assertRefused(reply, 400, { saying, of: `${name}: ${what}` });
    }
    const none = await admin({ method, path: filled(path, here) });
    assertRefused(none, 400, { saying: /empty/, of: `${name} without a body` });
    if (body.kind === 'message') continue;
    const text = await admin({ method, path: filled(path, here), body: new Uint8Array([0xe9]) });
    assertRefused(text, 400, { saying: /UTF-8/, of: name });
  }
  await assertNothingChanged();
});

test('a content type that an endpoint does not read is 415', async () => {
  const types = ['application/xml', 'text/html', 'multipart/form-data; boundary=x', 'image/png'];
  types.push('application/x-www-form-urlencoded', 'application/jsonp', 'text/plainer');
  for (const { name, method, path, body } of operations) {
    if (body === undefined || body.kind === 'stream') continue;
    for (const type of body.kind === 'message' ? [...types, 'text/plain'] : types) {
      const request = { method, path: filled(path, here), type, body: '{"id":"new"}' };
      assertRefused(await admin(request), 415, { of: `${name} as ${type}` });
    }
  }
  await assertNothingChanged();
});

test('a body a byte beyond the limit is 413, 8 MB on values and 1 MB elsewhere', async () => {
  const megabyte = 1_048_576;
  for (const { name, method, path, body } of operations) {
    if (body === undefined || body.kind === 'stream') continue;
    const size = (/\/values?$/.test(path) ? 8 * megabyte : megabyte) + 1;
    const large = new Uint8Array(size).fill(32);
    const request = { method, path: filled(path, here), body: large, type: 'application/json' };
    assertRefused(await admin(request), 413, { of: name });
  }
  await assertNothingChanged();
  const exactly = `${'{"id":"Padded"'.padEnd(megabyte - 1)}}`;
  const fits = { method: 'POST', path: '/devices', body: exactly, type: 'application/json' };
  assertDone(await admin(fits));
  assertDone(await admin({ method: 'DELETE', path: '/devices/Padded' }));
});

/** Right messages that are refused for what they say: wrong credentials, and no mail set up. */
const expectedOf: Readonly<Record<string, readonly number[]>> = {
  'POST /auth/token': [401],
  'POST /auth/first': [401],
  'POST /auth/reset': [503],
  'POST /auth/reset/confirm': [401],
  // The profile does not have the address.
  'POST /users/me/addresses/prove': [400],
  'POST /users/me/addresses/confirm': [400],
  // Nothing has the group.
  'POST /invitations': [404],
};

// Last, as these do change something.
test('the messages made wrong above are right to begin with', async () => {
  for (const { name, method, path, body } of operations) {
    if (body?.kind !== 'message') continue;
    const reply = await admin({ method, path: filled(path, here), json: validMessages[name] });
    const expected = expectedOf[name] ?? [200, 204];
    assert.ok(expected.includes(reply.status), `${name}: ${reply.status} ${reply.text}`);
  }
});
