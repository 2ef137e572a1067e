import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import mqtt from 'mqtt';
import { type Call, createCall, passwordOf, type Reply } from '../service.ts';
import { minute } from '../v2/sensor-endpoint.ts';

/** A service of any version, seen through its API. */
export interface AnyService {
  readonly url: string;
  readonly mqttUrl: string;
}

/** What cannot be read back: it is kept beside the database. */
export interface Kept {
  /** An access key of ama. */
  readonly key: string;
}

type Ask = (request: Call) => Promise<Reply>;

/** Logs in, and asks as this user. */
export async function askAs(service: AnyService, username: string): Promise<Ask> {
  const call = createCall(service.url);
  const json = { username, password: passwordOf(username) };
  const { status, text } = await call({ method: 'POST', path: '/auth/token', json });
  assert.equal(status, 200, text);
  return (request) => call({ ...request, token: text });
}

const point = (sensor_value: number, real_value: number) => ({ sensor_value, real_value });
const ends = { value_min: point(0, 10), value_max: point(100, 210) };

/** Every kind of value, and every kind of calibration. */
const sensors = [
  { id: 'level', name: 'Water, 测量', sensor_kind: 'Level', unit: 'Metre', meta: { a: [1, null] } },
  { id: 'linear', calib: { linear: { enabled: true, ...ends } } },
  { id: 'silent', calib: { linear: { enabled: false, ...ends } } },
  { id: 'bent', calib: { linear: { points: [point(0, 0), point(10, 5), point(20, 30)] } } },
  ...['texts', 'flags', 'objects', 'exact', 'clockless'].map((id) => ({ id })),
];

const values: Readonly<Record<string, readonly unknown[]>> = {
  linear: [0, 50, 100, 1e21, -0.5],
  silent: [0, 50, 100],
  bent: [0, 5, 10, 15, 20, 25],
  texts: ['', 'a\n"b"', '测量', '25', 'x'.repeat(300)],
  flags: [true, false, true, null],
  objects: [{ value: 1, constructor: { a: [] } }, [1, [2, 'x']], {}, []],
};

/** Longer than the digits of a double. */
const exact = '[{"value":12345678901234567890.123456789},{"value":-0.10000000000000000000001}]';

export const levels = 5_000;
/** What the sensor "level" was pushed first. */
export const levelAt = (n: number) => ({ value: 20 + ((n * 7) % 83) / 10, timestamp: minute(n) });
const condition = { devices: ['farm'], expression: 'level > 30 clear level < 28' };
const action = { usernames: ['ama', 'kofi'], channels: ['sms'], message: 'Level {level}' };
const rules = [
  { description: 'High', condition, action },
  {
    ...{ description: 'Rarely', condition: { devices: ['farm'], sensors: ['level'] }, action },
    throttling: 3_600,
  },
  { description: 'Paused', condition, action, status: 'inactive' },
];

async function done(asked: Promise<Reply>): Promise<Reply> {
  const reply = await asked;
  assert.ok(reply.status === 200 || reply.status === 204, `${reply.status} ${reply.text}`);
  return reply;
}

/** Fills a service that has nothing but its admin. */
export async function fill(service: AnyService): Promise<Kept> {
  const guest = createCall(service.url);
  for (const username of ['ama', 'kofi']) {
    const profile = { firstName: `${username}, 测`, email: `${username}@example.org` };
    const json = { username, password: passwordOf(username), ...profile };
    await done(guest({ method: 'POST', path: '/users', json }));
  }
  const [ama, kofi] = [await askAs(service, 'ama'), await askAs(service, 'kofi')];
  const post = (ask: Ask, path: string, json: unknown) => done(ask({ method: 'POST', path, json }));
  const phone = { phone: '+233201234567' };
  await done(ama({ method: 'PUT', path: '/users/me', json: phone }));
  await post(ama, '/gateways', { id: 'tower', name: 'Tower', visibility: 'private' });
  await done(ama({ method: 'POST', path: '/gateways/tower/health', json: { battery: 3.5 } }));
  const place = { latitude: 5.5, longitude: -0.25 };
  await post(ama, '/devices', {
    ...{ id: 'farm', name: 'Farm', gateway_id: 'tower', visibility: 'private', sensors },
    ...{ location: place, meta: { crop: 'maize', rows: [1, null] }, domain: 'maize' },
    actuators: [{ id: 'pump', value_type: 'object', value: { on: [true] } }, { id: 'fan' }],
  });
  await post(kofi, '/devices', {
    ...{ id: 'barn', visibility: 'private', sensors: [{ id: 'TC1', measures: 'amount' }] },
  });
  await post(guest, '/devices', { id: 'open', sensors: [{ id: 'TC1' }] });
  await post(ama, '/projects', {
    ...{ id: 'north', name: 'North', device_ids: ['farm'], gateway_ids: ['tower'] },
  });
  for (const [ask, path, scopes] of [
    [ama, '/devices/farm/grants/kofi', ['devices:view', 'devices-data:view']],
    [kofi, '/devices/barn/grants/ama', ['devices:view']],
    [ama, '/projects/north/grants/kofi', ['projects:view']],
  ] as const) {
    await done(ask({ method: 'PUT', path, json: scopes }));
  }
  const { json } = await post(ama, '/auth/keys', { name: 'field', devices: ['farm'] });
  for (const rule of rules) await post(ama, '/notifications', rule);
  await post(ama, '/socials', { username: 'kofi', channel: 'none', message: 'Maji, 测' });
  await pushValues(ama, guest);
  await changeWhatIsKept(ama);
  await leaveMessages(service, ama);
  const pushed = await ama({ path: '/devices/farm/sensors/level/values?limit=10000' });
  assert.equal((pushed.json as unknown[]).length, levels + 3);
  return { key: (json as { key: string }).key };
}

/** Enough of one sensor for whole chunks; then it rises over the line of the alarms, twice. */
async function pushValues(ama: Ask, guest: Ask): Promise<void> {
  const path = (sensor: string) => `/devices/farm/sensors/${sensor}/values`;
  for (let from = 0; from < levels; from += 1_000) {
    const part = Array.from({ length: 1_000 }, (_, index) => from + index);
    const json = part.map(levelAt);
    await done(ama({ method: 'POST', path: path('level'), json }));
  }
  for (const [sensor, all] of Object.entries(values)) {
    const json = all.map((value, n) => ({ value, timestamp: minute(n >> 1) }));
    await done(ama({ method: 'POST', path: path(sensor), json }));
  }
  const type = 'application/json';
  await done(ama({ method: 'POST', path: path('exact'), body: exact, type }));
  const twins = [1, 1, 2, 1].map((value) => ({ value }));
  await done(ama({ method: 'POST', path: path('clockless'), json: twins }));
  await done(ama({ method: 'POST', path: path('level'), json: { value: 31 } }));
  await done(ama({ method: 'POST', path: path('level'), json: { value: 32 } }));
  await done(ama({ method: 'PUT', path: '/devices/farm/actuators/pump/value', json: { on: 2 } }));
  const open = '/devices/open/sensors/TC1/value';
  await done(guest({ method: 'POST', path: open, body: '7', type: 'text/plain' }));
}

/** What versions from 0.2 on have: corrections, retention, groups. Earlier ones answer none. */
async function changeWhatIsKept(ama: Ask): Promise<void> {
  const bent = '/devices/farm/sensors/bent';
  await done(ama({ method: 'DELETE', path: `${bent}/values?value=15&all=true` }));
  const corrected = [{ timestamp: minute(0), value: 7 }];
  await done(ama({ method: 'PATCH', path: `${bent}/values`, json: corrected }));
  const retention = { raw_days: 36_000, hourly_days: 36_500 };
  await done(
    ama({ method: 'PUT', path: '/devices/farm/sensors/silent/retention', json: retention }),
  );
  await done(ama({ method: 'POST', path: '/groups', json: { name: 'North, 测' } }));
}

const topic = 'devices/farm/sensors/level/value';

/** Ama's session comes back to what it missed. */
export async function takeMessages(
  service: AnyService,
  count: number,
): Promise<{ readonly isKept: boolean; readonly texts: readonly string[] }> {
  const client = mqtt.connect(service.mqttUrl, {
    ...{ protocolVersion: 4, reconnectPeriod: 0, clientId: 'panel', clean: false },
    ...{ username: 'ama', password: passwordOf('ama') },
  });
  const texts: string[] = [];
  let isKept = false;
  client.on('connect', ({ sessionPresent }) => {
    isKept = sessionPresent;
  });
  await new Promise<void>((resolve, reject) => {
    client.on('message', (_, payload, packet) => {
      texts.push(`${payload} ${packet.qos} ${packet.retain}`);
      if (texts.length === count) resolve();
    });
    client.on('connect', () => {
      if (count === 0) client.subscribe(topic, { qos: 1 }, () => resolve());
    });
    client.on('error', reject);
  });
  await client.endAsync();
  return { isKept, texts };
}

/** What a topic has kept for those who come later. */
export async function retainedMessage(service: AnyService): Promise<string> {
  const login = { username: 'ama', password: passwordOf('ama') };
  const client = await mqtt.connectAsync(service.mqttUrl, { ...login, reconnectPeriod: 0 });
  const message = new Promise<string>((resolve) => {
    client.on('message', (_, payload, { retain }) => resolve(`${payload} ${retain}`));
  });
  await client.subscribeAsync(topic, { qos: 1 });
  const text = await message;
  await client.endAsync();
  return text;
}

/** A session that misses a message, and a retained one. */
async function leaveMessages(service: AnyService, ama: Ask): Promise<void> {
  await takeMessages(service, 0);
  const client = await mqtt.connectAsync(service.mqttUrl, {
    ...{ username: 'ama', password: passwordOf('ama') },
  });
  await client.publishAsync(topic, '{"value":33}', { qos: 1, retain: true });
  await client.endAsync();
  // Told by its last value: what MQTT brought is stored.
  const reply = await ama({ path: '/devices/farm/sensors/level' });
  assert.match(reply.text, /33/);
}

const sensorPaths = sensors.map(({ id }) => `/devices/farm/sensors/${id}/values?limit=10000`);
const reads: Readonly<Record<string, readonly string[]>> = {
  ama: [
    ...['/users/me', '/devices?limit=100', '/devices/farm', '/devices/open', '/gateways/tower'],
    ...['/projects', '/notifications', '/socials', '/auth/keys', '/devices/farm/grants'],
    ...sensorPaths,
    ...sensorPaths.map((path) => `${path}&calibrated=false`),
    '/devices/farm/sensors/level/values?aggregate=avg',
    ...['/devices/farm/sensors/bent/corrections', '/devices/farm/sensors/bent/values?raw=true'],
    ...['/devices/farm/sensors/silent/retention', '/groups'],
  ],
  kofi: ['/users/me', '/devices?limit=100', '/devices/farm/sensors/level/values?limit=3'],
  admin: ['/users?limit=100'],
};

/** Answers longer than this are kept as a digest of what they say. */
const textMax = 4_000;

/** What everybody reads, by user and path. */
export async function readWorld(service: AnyService): Promise<Record<string, unknown>> {
  const answers: Record<string, unknown> = {};
  for (const [username, paths] of Object.entries(reads)) {
    const ask = await askAs(service, username);
    for (const path of paths) {
      const { status, text, json } = await ask({ path });
      assert.equal(status, 200, `${path}: ${text}`);
      answers[`${username} ${path}`] =
        text.length > textMax && isValues(json) ? digest(json) : json;
      const digits = text.match(/\d{17,}/g);
      if (digits !== null) answers[`${username} ${path} digits`] = digits;
    }
    if (username !== 'ama') continue;
    for (const { id } of answers['ama /notifications'] as readonly { readonly id: string }[]) {
      const { json } = await ask({ path: `/notifications/${id}/deliveries` });
      answers[`ama deliveries of ${id}`] = json;
    }
  }
  return answers;
}

interface Datapoint {
  readonly timestamp?: string;
  readonly value: unknown;
}

const isValues = (json: unknown): json is readonly Datapoint[] =>
  Array.isArray(json) && json.every((one) => 'value' in one && 'date_received' in one);

function digest(datapoints: readonly Datapoint[]): unknown {
  const told = JSON.stringify(datapoints.map(({ timestamp, value }) => [timestamp, value]));
  return { count: datapoints.length, sha256: createHash('sha256').update(told).digest('hex') };
}
