import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Call, passwordOf, type Service, startService } from '../service.ts';
import { assertEmpty, type V1Door, v1Door } from './service-in-v1.ts';

const start = Date.parse('2026-03-01T08:00:00.000Z');
const clock = createManualClock(start);
/** The time of receipt of what comes now. */
const received = () => new Date(clock.now()).toISOString();
let service: Service;
let v1: V1Door;

before(async () => {
  service = await startService({ clock });
  v1 = v1Door(service);
  await service.tokenOf('ama');
  const json = { id: 'S', measurements: [{ id: 'TC1' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json }));
});

after(() => service[Symbol.asyncDispose]());

const login: Call = {
  method: 'POST',
  path: '/auth/token',
  json: { username: 'ama', password: passwordOf('ama') },
};

const v2: V1Door = (call) => service.call({ ...call, path: `//api/v2${call.path}` });

async function statusesOf(token: string): Promise<readonly number[]> {
  const path = '/users/me';
  return [(await v1({ path, token })).status, (await v2({ path, token })).status];
}

test('a token of version 1 lives a minute and one of version 2 ten, on both versions', async () => {
  clock.set(start);
  const [ofV1, ofV2] = [(await v1(login)).text, (await v2(login)).text];
  assert.deepEqual(await statusesOf(ofV1), [200, 200]);
  assert.deepEqual(await statusesOf(ofV2), [200, 200]);
  clock.set(start + 59_999);
  assert.deepEqual(await statusesOf(ofV1), [200, 200]);
  clock.set(start + 60_000);
  assert.deepEqual(await statusesOf(ofV1), [401, 401]);
  assert.deepEqual(await statusesOf(ofV2), [200, 200]);
  clock.set(start + 599_999);
  assert.deepEqual(await statusesOf(ofV2), [200, 200]);
  clock.set(start + 600_000);
  assert.deepEqual(await statusesOf(ofV2), [401, 401]);
});

test('a token renewed by a version lives as long as that version says', async () => {
  const from = clock.now();
  const { text: token } = await v1(login);
  const renew = { method: 'POST', path: '/auth/renew', token };
  const [byV1, byV2] = [(await v1(renew)).text, (await v2(renew)).text];
  clock.set(from + 60_000);
  assert.deepEqual(await statusesOf(byV1), [401, 401]);
  assert.deepEqual(await statusesOf(byV2), [200, 200]);
});

test('a token of version 1 lives as long as KIPIMO_V1_TOKEN_TTL_S says', async () => {
  const environment = { KIPIMO_V1_TOKEN_TTL_S: '5' };
  await using other = await startService({ clock, environment });
  await other.tokenOf('ama');
  const { text: token } = await v1Door(other)(login);
  const status = async () => (await v1Door(other)({ path: '/users/me', token })).status;
  const from = clock.now();
  clock.set(from + 4_999);
  assert.equal(await status(), 200);
  clock.set(from + 5_000);
  assert.equal(await status(), 401);
});

test('every success is 200, and a body is there only where there is something to say', async () => {
  const json = { id: 'success', measurements: [{ id: 'a' }], actuators: [{ id: 'pump' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json }));
  const changes: readonly Call[] = [
    { method: 'POST', path: '/sensors/success/measurements', json: { id: 'b' } },
    { method: 'PUT', path: '/sensors/success/measurements/b/name', body: 'Well' },
    { method: 'PUT', path: '/sensors/success/location', json: { latitude: 1, longitude: 2 } },
    { method: 'PUT', path: '/sensors/success/visibility', body: 'public' },
    { method: 'POST', path: '/sensors/success/measurements/a/values', json: { value: 1 } },
    { method: 'POST', path: '/sensors/success/measurements/a/value', body: '2' },
    { method: 'PUT', path: '/sensors/success/actuators/pump/value', body: 'true' },
    { method: 'POST', path: '/gateways', json: { id: 'G' } },
    { method: 'PUT', path: '/gateways/G/health', body: '' },
    { method: 'DELETE', path: '/sensors/success/measurements/b' },
    { method: 'DELETE', path: '/gateways/G' },
    { method: 'DELETE', path: '/sensors/success' },
  ];
  for (const change of changes) assertEmpty(await v1(change));
});

test('bare texts are raw whatever Accept says; JSON stays JSON', async () => {
  const headers = { accept: 'application/json' };
  const token = await v1({ ...login, headers });
  assert.match(token.headers.get('content-type') ?? '', /^text\/plain/);
  assert.match(token.text, /^[\w-]+$/);
  const json = { username: 'newcomer', password: 'long enough 1' };
  const { text: id } = await v1({ method: 'POST', path: '/users', json, headers });
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.equal((await v1({ path: `/users/${id}` })).status, 200);
  const project = await v1({ method: 'POST', path: '/projects', json: { id: 'P' }, headers });
  assert.equal(project.text, 'P');
  const actuator = { id: 'A', actuators: [{ id: 'pump', value: 'on' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json: actuator }));
  const { text } = await v1({ path: '/sensors/A/actuators/pump/value' });
  assert.equal(text, '"on"');
});

test('a social message to an unknown user is 500 and says so', async () => {
  const { text: token } = await v1(login);
  const message = { channel: 'none', message: 'Good morning' };
  const json = { username: 'nobody', ...message };
  const reply = await v1({ method: 'POST', path: '/socials', token, json });
  assert.equal(reply.status, 500);
  const { error, description } = reply.json as Record<string, string>;
  assert.deepEqual([error, description], ['unknown_recipient', 'there is no user nobody']);
  const batch = { usernames: ['ama', 'nobody'], channels: ['none'], message: 'hi' };
  const path = '/socials/batch';
  assert.equal((await v1({ method: 'POST', path, token, json: batch })).status, 500);
  const toAma = { username: 'ama', ...message };
  const sent = await v1({ method: 'POST', path: '/socials', token, json: toAma });
  assert.equal(sent.status, 200);
  const { json: read } = await v1({ path: `/socials/${sent.text}`, token });
  assert.equal((read as { message: string }).message, message.message);
  assert.equal(((await v1({ path: '/socials', token })).json as unknown[]).length, 1);
  const guest = await v1({ method: 'POST', path: '/socials', json: toAma });
  assert.equal(guest.status, 403);
});

test('an unknown measurement has no values; an unknown sensor is not found', async () => {
  const path = '/sensors/S/measurements/none/values';
  const none = await v1({ path });
  assert.deepEqual([none.status, none.text], [200, '[]']);
  assert.equal(none.headers.get('x-total-count'), '0');
  const csv = await v1({ path: `${path}?format=csv` });
  assert.deepEqual([csv.status, csv.text], [200, 'timestamp, date_received, value\r\n']);
  assert.equal((await v1({ path: `${path}?limit=x` })).status, 400);
  assert.equal((await v1({ path: '/sensors/none/measurements/none/values' })).status, 404);
  assert.equal((await v1({ path: '/sensors/S/measurements/none' })).status, 404);
  const push = { method: 'POST', path, json: { value: 1 } };
  assert.equal((await v1(push)).status, 404);
});

test('a measurement that nobody has does not open a private sensor', async () => {
  const { text: token } = await v1(login);
  const json = { id: 'private', visibility: 'private', measurements: [{ id: 'TC1' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', token, json }));
  for (const id of ['TC1', 'none']) {
    const reply = await v1({ path: `/sensors/private/measurements/${id}/values` });
    assert.equal(reply.status, 403, id);
  }
  const reply = await v1({ path: '/sensors/private/measurements/none/values', token });
  assert.deepEqual([reply.status, reply.text], [200, '[]']);
});

test('a sensor is created without values, which have a path of their own', async () => {
  const datapoint = { value: 1, timestamp: '2016-06-08T18:20:27.873Z' };
  const measurement = { id: 'a', values: [datapoint], value: 1, last_value: datapoint };
  const json = { id: 'at-once', measurements: [measurement] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json }));
  const path = '/sensors/at-once/measurements/a';
  assert.deepEqual((await v1({ path })).json, { id: 'a' });
  assert.deepEqual((await v1({ path: `${path}/values` })).json, []);
  assertEmpty(await v1({ method: 'POST', path: `${path}/values`, json: datapoint }));
  const last = { ...datapoint, date_received: received() };
  assert.deepEqual((await v1({ path })).json, { id: 'a', last_value: last, value: last });
  const [read] = (await v1({ path: `${path}/values` })).json as readonly unknown[];
  assert.deepEqual(read, { sensor_id: 'at-once', measurement_id: 'a', ...last });
});

test('CSV has the columns of version 1, and is read back', async () => {
  const json = { id: 'csv', measurements: [{ id: 'a' }, { id: 'b' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json }));
  const path = '/sensors/csv/measurements/a/values';
  const values = [
    { value: 'a, "b"', timestamp: '2016-06-08T18:20:27.873Z' },
    { value: 25, timestamp: '2016-06-08T18:21:27.873Z' },
  ];
  assertEmpty(await v1({ method: 'POST', path, json: values }));
  assertEmpty(await v1({ method: 'POST', path, json: { value: '=1+1' } }));
  const { text, headers } = await v1({ path: `${path}?format=csv` });
  assert.match(headers.get('content-type') ?? '', /^text\/csv/);
  assert.equal(
    text,
    'timestamp, date_received, value\r\n' +
      `2016-06-08T18:20:27.873Z,${received()},"a, ""b"""\r\n` +
      `2016-06-08T18:21:27.873Z,${received()},25\r\n` +
      `,${received()},'=1+1\r\n`,
  );
  const into = '/sensors/csv/measurements/b/values';
  assertEmpty(await v1({ method: 'POST', path: into, body: text, type: 'text/csv' }));
  const told = (await v1({ path: into })).json as readonly { value: unknown }[];
  assert.deepEqual(
    told.map(({ value }) => value),
    ['a, "b"', 25, '=1+1'],
  );
});

test('CSV of many measurements names them in the words of version 1', async () => {
  const path = '/sensors_data?sensor_id=csv&measurement_id=a&format=csv&lastN=1&sort=dsc';
  const { text } = await v1({ path });
  assert.match(text, /^sensor_id,measurement_id,value,timestamp,date_received\r\ncsv,a,/);
  const { text: file } = await v1({ path: '/sensors/csv/export' });
  const other = { id: 'csv2', measurements: [{ id: 'a' }] };
  assertEmpty(await v1({ method: 'POST', path: '/sensors', json: other }));
  const [header, line] = file.replaceAll('csv,a', 'csv2,a').split('\r\n');
  const into = { method: 'POST', path: '/sensors/csv2/measurements/a/values', type: 'text/csv' };
  assertEmpty(await v1({ ...into, body: `${header}\r\n${line}\r\n` }));
  const wrong = await v1({ ...into, body: file });
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /is of measurement a of sensor csv"/);
});
