import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

const noon = Date.UTC(2026, 10, 20, 12);
const clock = createManualClock(noon);
const channels = createRecordingChannels(['sms', 'email']);
let service: Service;
let deviceCount = 0;

before(async () => {
  service = await startService({ clock, channels: channels.open });
  const profile = { phone: ['+233 20 123 4567'], email: 'ama@example.org' };
  assertDone(await as('ama')({ method: 'PUT', path: '/users/me', json: profile }));
});

after(() => service[Symbol.asyncDispose]());

const as = (username: string) => service.as(username);

/** A private device of ama's with the sensors TC1 and SM1. */
async function aDevice(by = 'ama'): Promise<string> {
  deviceCount += 1;
  const id = `device-${deviceCount}`;
  const sensors = [{ id: 'TC1' }, { id: 'SM1' }];
  const actuators = [{ id: 'fan' }];
  const json = { id, visibility: 'private', sensors, actuators };
  assertDone(await as(by)({ method: 'POST', path: '/devices', json }));
  return id;
}

const action = { usernames: ['ama'], channels: ['sms'], message: `{id} of $\{id}: {TC1}` };

async function notify(condition: object, fields: object = {}, by = 'ama'): Promise<string> {
  const json = { condition, action, ...fields };
  const reply = await as(by)({ method: 'POST', path: '/notifications', json });
  assert.equal(reply.status, 200, reply.text);
  return `/notifications/${reply.text}`;
}

async function push(device: string, value: unknown, sensor = 'TC1'): Promise<void> {
  const path = `/devices/${device}/sensors/${sensor}/values`;
  const json = Array.isArray(value) ? value.map((one) => ({ value: one })) : { value };
  assertDone(await as('ama')({ method: 'POST', path, json }));
}

async function read(path: string, by = 'ama'): Promise<Record<string, unknown>> {
  const reply = await as(by)({ path });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Record<string, unknown>;
}

const timesSent = async (path: string) => (await read(path))['times_sent'];

async function outcomes(path: string): Promise<readonly string[]> {
  const why = (await read(`${path}/why`)) as unknown as { outcome: string }[];
  return why.map(({ outcome }) => outcome).reverse();
}

async function messages(path: string): Promise<readonly string[]> {
  const list = (await read(`${path}/deliveries`)) as unknown as { message: string }[];
  return list.map(({ message }) => message).reverse();
}

test('both forms of an action are answered as they were given', async () => {
  const device = await aDevice();
  const condition = { devices: [device], sensors: ['TC1'], expression: 'TC1>1' };
  const fields = { description: 'd', expires: '2030-01-01 10:00', throttling: 5 };
  const plain = await read(await notify(condition, fields));
  const { id, date_created, date_modified, ...told } = plain;
  assert.match(String(id), /^[0-9a-f]{24}$/);
  assert.equal(date_created, date_modified);
  const expected = { condition, action, ...fields, status: 'active', owner: 'ama', times_sent: 0 };
  assert.deepEqual(told, expected);
  const typed = { type: 'SocialAction', value: action };
  assert.deepEqual((await read(await notify(condition, { action: typed })))['action'], typed);
  const value = { device_id: device, actuator_id: 'fan', actuator_value: { on: ['{TC1}'] } };
  const actuation = { type: 'ActuationAction', value };
  const set = await read(await notify(condition, { action: actuation }));
  assert.deepEqual(set['action'], actuation);
});

test('it fires at each push that meets the expression, in push order, on every path', async () => {
  const device = await aDevice();
  const path = await notify({ devices: [device], sensors: ['TC1'], expression: 'TC1 > 30' });
  await push(device, 31);
  assert.equal(await timesSent(path), 1);
  await push(device, 30);
  await push(device, [29, 32, 28, '33', 'hot']);
  const line = (value: unknown) => ({ device_id: device, sensor_id: 'TC1', value });
  const bulk = [line(34), line(1), line(35)];
  await as('ama')({ method: 'POST', path: '/sensors_data', json: bulk });
  const values = [31, 32, 33, 34, 35].map((value) => `TC1 of ${device}: ${value}`);
  assert.deepEqual(await messages(path), values);
  const told = await read(path);
  const now = new Date(clock.now()).toISOString();
  assert.deepEqual(
    [told['times_sent'], told['last_notification'], told['last_notif']],
    [5, now, now],
  );
});

test('a repeated push and a push to a sensor that is not named do not fire', async () => {
  const device = await aDevice();
  const path = await notify({ devices: [device], sensors: ['TC1'] });
  const json = { value: 1, timestamp: '2026-11-20T11:00:00Z' };
  const sensor = `/devices/${device}/sensors/TC1/value`;
  for (const _ of [1, 2]) assertDone(await as('ama')({ method: 'POST', path: sensor, json }));
  await push(device, 1, 'SM1');
  assert.equal(await timesSent(path), 1);
});

test('several sensors are compared with their last values after each datapoint', async () => {
  const device = await aDevice();
  await push(device, 20, 'SM1');
  const path = await notify(
    { devices: [device], expression: 'TC1>30;SM1<10' },
    { action: { ...action, message: `{id}: {TC1} {SM1} $\{SM1} {no}` } },
  );
  await push(device, 31);
  await push(device, 5, 'SM1');
  await push(device, 40);
  await push(device, 50, 'SM1');
  assert.deepEqual(await messages(path), ['SM1: 31 5 5 {no}', 'TC1: 40 5 5 {no}']);
  assert.deepEqual(await outcomes(path), ['false', 'sent', 'sent', 'false']);
});

test('without devices it watches every device of its owner, and no other', async () => {
  const sensor = { id: `only-${deviceCount}` };
  for (const [owner, id] of [
    ['ama', 'wide-1'],
    ['ama', 'wide-2'],
    ['kofi', 'wide-3'],
  ] as const) {
    const json = { id, sensors: [sensor] };
    assertDone(await as(owner)({ method: 'POST', path: '/devices', json }));
  }
  const path = await notify({ sensors: [sensor.id] }, { action: { ...action, message: `$\{id}` } });
  for (const id of ['wide-1', 'wide-2', 'wide-3']) await push(id, 1, sensor.id);
  assert.deepEqual(await messages(path), ['wide-1', 'wide-2']);
});

test('throttling holds back to the millisecond', async () => {
  const device = await aDevice();
  const path = await notify({ devices: [device], sensors: ['TC1'] }, { throttling: 60 });
  await push(device, [1, 2]);
  clock.advance(59_999);
  await push(device, 3);
  clock.advance(1);
  await push(device, 4);
  assert.deepEqual(await outcomes(path), ['sent', 'throttled', 'throttled', 'sent']);
});

test('an expired or inactive notification rests, and an active one goes on', async () => {
  const device = await aDevice();
  const expires = new Date(clock.now() + 1_000).toISOString();
  const path = await notify({ devices: [device], sensors: ['TC1'] }, { expires });
  const status = `${path}/status`;
  assertDone(await as('ama')({ method: 'PUT', path: status, body: 'inactive' }));
  await push(device, 1);
  assertDone(await as('ama')({ method: 'PUT', path: status, body: 'active' }));
  clock.advance(1_000);
  await push(device, 2);
  clock.advance(1);
  await push(device, 3);
  assert.deepEqual(await outcomes(path), ['inactive', 'sent', 'expired']);
});

test('for waits until the condition has held so long, by the clock of the device', async () => {
  const device = await aDevice();
  const path = await notify({ devices: [device], expression: 'TC1 > 30 for 10m' });
  const at = (minute: number, value: number) => ({
    value,
    timestamp: new Date(noon - 3_600_000 + minute * 60_000).toISOString(),
  });
  const json = [at(0, 31), at(9, 31), at(10, 31), at(11, 29), at(12, 31), at(22, 31)];
  const sensor = `/devices/${device}/sensors/TC1/values`;
  assertDone(await as('ama')({ method: 'POST', path: sensor, json }));
  const expected = ['waiting', 'waiting', 'sent', 'false', 'waiting', 'sent'];
  assert.deepEqual(await outcomes(path), expected);
});

test('clear keeps it quiet until the value has gone back', async () => {
  const device = await aDevice();
  const path = await notify({ devices: [device], expression: 'TC1 > 30; clear TC1 < 28' });
  await push(device, [31, 32, 29, 31, 27, 31]);
  const expected = ['sent', 'raised', 'raised', 'raised', 'cleared', 'sent'];
  assert.deepEqual(await outcomes(path), expected);
});

test('an actuator is set when the push is answered, with variables filled in', async () => {
  const device = await aDevice();
  const value = { device_id: device, actuator_id: 'fan', actuator_value: 'at {TC1}' };
  const fan = { action: { type: 'ActuationAction', value } };
  const path = await notify({ devices: [device], expression: 'TC1 > 30' }, fan);
  await push(device, 31);
  const set = await as('ama')({ path: `/devices/${device}/actuators/fan/value` });
  assert.equal(set.json, 'at 31');
  const told = await read(path);
  assert.deepEqual([told['times_sent'], told['last_success_code']], [1, 204]);
  const gone = { action: { type: 'ActuationAction', value: { ...value, actuator_id: 'none' } } };
  const broken = await notify({ devices: [device], expression: 'TC1 > 30' }, gone);
  await push(device, 32);
  assert.match(String((await read(broken))['last_failure_reason']), /no actuator none/);
});

test('a rule makes no actuator, and no device, larger than its owner may', async () => {
  const device = await aDevice();
  let pushes = 0;
  const fired = async (actuator: string, value: unknown): Promise<string> => {
    const set = { device_id: device, actuator_id: actuator, actuator_value: value };
    const about = { devices: [device], sensors: ['TC1'] };
    const path = await notify(about, { action: { type: 'ActuationAction', value: set } });
    pushes += 1;
    await push(device, [`${'y'.repeat(300)} ${pushes}`]);
    const told = await read(path);
    assertDone(await as('ama')({ method: 'DELETE', path }));
    return String(told['last_failure_reason']);
  };
  const named = Array.from({ length: 1_000 }, () => '{TC1}');
  assert.match(
    await fired('fan', named),
    /the value must have at most 65536 bytes as JSON, got 25/,
  );
  const fan = { path: `/devices/${device}/actuators/fan/value` };
  assert.equal((await as('ama')(fan)).status, 404);
  const room = async (count: number): Promise<number> => {
    const json = { id: `a${count}`, value: 'z'.repeat(60_000) };
    const path = `/devices/${device}/actuators`;
    const { status } = await as('ama')({ method: 'POST', path, json });
    return status < 300 ? room(count + 1) : count;
  };
  assert.ok((await room(0)) > 30);
  const long = Array.from({ length: 15 }, () => 'z'.repeat(4_000));
  assert.match(await fired('fan', long), /the sensors and actuators of device/);
  assert.equal((await as('ama')(fan)).status, 404);
});

test('it fires only while its owner may view the data', async () => {
  const device = await aDevice();
  const grant = `/devices/${device}/grants/kofi`;
  const condition = { devices: [device], sensors: ['TC1'] };
  const refused = { method: 'POST', path: '/notifications', json: { condition, action } };
  assertRefused(await as('kofi')(refused), 403);
  const json = ['device-data:view'];
  assertDone(await as('ama')({ method: 'PUT', path: grant, json }));
  const path = await notify(condition, {}, 'kofi');
  await push(device, 1);
  assertDone(await as('ama')({ method: 'DELETE', path: grant }));
  await push(device, 2);
  const why = (await read(`${path}/why`, 'kofi')) as unknown as { outcome: string }[];
  assert.deepEqual(
    why.map(({ outcome }) => outcome),
    ['no_right', 'sent'],
  );
});

test('it is read by who may view its devices, and changed by owner and admins alone', async () => {
  const device = await aDevice();
  const hidden = await notify({ devices: [device], sensors: ['TC1'] });
  const json = { id: 'open', sensors: [{ id: 'TC1' }] };
  assertDone(await as('ama')({ method: 'POST', path: '/devices', json }));
  const open = await notify({ devices: ['open', 'no-such-device'], sensors: ['TC1'] });
  const wide = await notify({ sensors: ['TC9'] });
  for (const [path, status] of [
    [hidden, 403],
    [open, 200],
    [wide, 403],
  ] as const) {
    for (const reader of ['yaw', 'guest'])
      assert.equal((await as(reader)({ path })).status, status);
    assert.equal((await as('admin')({ path })).status, 200);
    for (const part of ['/deliveries', '/why']) {
      assertRefused(await as('yaw')({ path: `${path}${part}` }), 403);
    }
    assertRefused(await as('yaw')({ method: 'DELETE', path }), 403);
    assertRefused(await as('guest')({ method: 'PATCH', path, json: {} }), 403);
  }
  const listed = (await as('yaw')({ path: '/notifications?limit=1000' })).json as { id: string }[];
  const seen = new Set(listed.map(({ id }) => `/notifications/${id}`));
  assert.deepEqual(
    [hidden, open, wide].map((path) => seen.has(path)),
    [false, true, false],
  );
  assertDone(await as('admin')({ method: 'DELETE', path: open }));
  assertRefused(await as('ama')({ method: 'DELETE', path: open }), 404);
  assertRefused(await as('ama')({ method: 'DELETE', path: '/notifications/none' }), 404);
  assertRefused(await as('ama')({ path: '/notifications/none' }), 400);
});

test('a list may be of one owner, and newest first', async () => {
  const json = { id: 'square', sensors: [{ id: 'TC1' }] };
  assertDone(await as('efua')({ method: 'POST', path: '/devices', json }));
  const hidden = await aDevice();
  const condition = { devices: ['square'], sensors: ['TC1'] };
  const own = [await notify(condition, {}, 'efua'), await notify(condition, {}, 'efua')];
  const theirs = [await notify(condition, {}, 'abla'), await notify(condition, {}, 'abla')];
  const secret = await notify({ devices: [hidden], sensors: ['TC1'] });
  const list = async (by: string, query: string) => {
    const reply = await as(by)({ path: `/notifications?limit=1000&${query}` });
    assert.equal(reply.status, 200, reply.text);
    const paths = (reply.json as { id: string }[]).map(({ id }) => `/notifications/${id}`);
    assert.equal(reply.headers.get('x-total-count'), String(paths.length));
    return paths;
  };
  assert.deepEqual(await list('efua', 'owner=efua'), own);
  assert.deepEqual(await list('efua', 'owner=EFUA&sort=dsc'), own.toReversed());
  assert.deepEqual(await list('efua', 'owner=abla&sort=asc'), theirs);
  assert.deepEqual(await list('guest', 'owner=abla'), theirs);
  assert.deepEqual(await list('abla', 'owner=nobody'), []);
  assert.ok(!(await list('efua', 'owner=ama')).includes(secret));
  assert.ok((await list('admin', 'owner=ama')).includes(secret));
  assert.deepEqual((await list('efua', '')).toReversed(), await list('efua', 'sort=dsc'));
  assertRefused(await as('efua')({ path: '/notifications?sort=up' }), 400, { saying: /sort/ });
});

test('sensors that none of its devices has are listed to its owner', async () => {
  const [first, second] = [await aDevice(), await aDevice()];
  const condition = { devices: [first, second, 'gone'], sensors: ['TC'], expression: 'TC1 > 3' };
  const path = await notify(condition);
  assert.deepEqual((await read(path))['unknown_sensors'], ['TC']);
  const listed = (await as('ama')({ path: '/notifications?owner=ama&sort=dsc&limit=1' })).json;
  assert.deepEqual((listed as Record<string, unknown>[])[0]?.['unknown_sensors'], ['TC']);
  const sensor = { method: 'POST', path: `/devices/${second}/sensors`, json: { id: 'TC' } };
  assertDone(await as('ama')(sensor));
  assert.equal((await read(path))['unknown_sensors'], undefined);
  // Of devices that are gone nobody knows, nor of those that are to come.
  for (const devices of [['gone'], []]) {
    const other = await notify({ devices, sensors: ['TC'] });
    assert.equal((await read(other))['unknown_sensors'], undefined);
  }
});

test('a PATCH changes what it names, and takes effect at the next push', async () => {
  const device = await aDevice();
  const path = await notify({ devices: [device], expression: 'TC1 > 30' }, { description: 'a' });
  const json = { condition: { expression: 'TC1 > 5' }, description: null, throttling: 9 };
  assertDone(await as('ama')({ method: 'PATCH', path, json }));
  const told = await read(path);
  assert.deepEqual(told['condition'], { devices: [device], sensors: [], expression: 'TC1 > 5' });
  assert.deepEqual([told['description'], told['throttling']], [undefined, 9]);
  await push(device, 6);
  assert.equal(await timesSent(path), 1);
});

test('what is malformed is refused with the spot', async () => {
  const device = await aDevice();
  const condition = { devices: [device], sensors: ['TC1'] };
  const wrong: readonly (readonly [object, RegExp])[] = [
    [{ condition: { ...condition, expression: 'TC1 > ' } }, /character 7/],
    [{ condition: { ...condition, expression: 'TC1 > 3;SM1 >< 4' } }, /character \d+/],
    [{ condition: { ...condition, expression: 'TC1 > 3 for 10x' } }, /time of 1s to 366d/],
    [{ condition: { ...condition, expression: 'silent(TC1)' } }, /silent\(TC1, 2h\)/],
    [{ condition: { ...condition, expression: 'T C > 3' } }, /can be no sensor/],
    [{ condition: { ...condition, expression: 'x'.repeat(10_000) } }, /expression/],
    [{ condition: { ...condition, expression: 'TC1 ~= (' } }, /pattern/],
    [{ condition: { ...condition, expression: 'clear TC1 < 3' } }, /in front of/],
    [{ condition: {} }, /must name a sensor/],
    [{ condition, throttling: -1 }, /throttling/],
    [{ condition, expires: 'never' }, /expires/],
    [{ condition, status: 'on' }, /active/],
    [{ condition, action: { ...action, channels: ['pigeon'] } }, /channels/],
    [{ condition, action: { ...action, message: 'x'.repeat(65_536) } }, /message/],
    [{ condition, action: { ...action, usernames: [] } }, /usernames/],
    [{ condition, action: { type: 'ActuationAction', value: {} } }, /actuator_value|device_id/],
  ];
  for (const [fields, saying] of wrong) {
    const json = { action, ...fields };
    assertRefused(await as('ama')({ method: 'POST', path: '/notifications', json }), 400, {
      saying,
      of: JSON.stringify(fields).slice(0, 100),
    });
  }
});
