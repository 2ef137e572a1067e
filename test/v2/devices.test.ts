import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Call, type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const start = Date.parse('2026-03-01T08:00:00.000Z');
const clock = createManualClock(start);
let service: Service;
let ama: (request: Omit<Call, 'token'>) => Promise<Reply>;

before(async () => {
  service = await startService({ clock });
  ama = service.as('ama');
  await service.tokenOf('kofi');
});

after(() => service[Symbol.asyncDispose]());

const guest = (request: Call) => service.call(request);

async function create(device: object, as = ama): Promise<void> {
  assertDone(await as({ method: 'POST', path: '/devices', json: device }), JSON.stringify(device));
}

const pathOf = (id: string) => `/devices/${encodeURIComponent(id)}`;

async function read(id: string, as = ama): Promise<Record<string, unknown>> {
  const reply = await as({ path: pathOf(id) });
  assert.equal(reply.status, 200, reply.text);
  assert.match(reply.headers.get('content-type') ?? '', /^application\/json/);
  return reply.json as Record<string, unknown>;
}

const dates = {
  date_created: '2026-03-01T08:00:00.000Z',
  date_modified: '2026-03-01T08:00:00.000Z',
};

test('a device with every field is created with 204 and read back exactly', async () => {
  clock.set(start);
  const device = {
    id: 'Full',
    gateway_id: 'gw-1',
    name: 'Field 3, maize',
    domain: 'farm',
    visibility: 'private',
    location: { latitude: 5.36, longitude: -4.01 },
    sensors: [
      {
        id: 'TC1',
        name: 'Air temperature',
        sensing_device: 'Thermometer',
        quantity_kind: 'AirTemperature',
        unit: 'DegreeCelsius',
        meta: { depth: 3 },
      },
      { id: 'SM1' },
    ],
    actuators: [
      {
        id: 'pump',
        name: 'Pump',
        actuator_kind: 'Motor',
        actuator_value_type: 'bool',
        value: true,
      },
    ],
    meta: { crop: 'maize', rows: [1, 2, { a: null }] },
    deployed: true,
  };
  await create(device);
  assert.deepEqual(await read('Full'), { ...device, owner: 'ama', ...dates });
});

test('a device of a user with nothing but an id answers no key that was not given', async () => {
  clock.set(start);
  await create({ id: 'Bare' });
  const expected = { id: 'Bare', owner: 'ama', sensors: [], actuators: [], ...dates };
  assert.deepEqual(await read('Bare'), expected);
});

test('optional fields that are null count as absent and are never answered as null', async () => {
  clock.set(start);
  const nothing = { gateway_id: null, name: null, domain: null, visibility: null, location: null };
  const parts = { meta: null, deployed: null };
  const sensor = { id: 'S', name: null, unit: null, sensing_device: null, calib: null, meta: null };
  const actuator = { id: 'A', name: null, actuator_kind: null, value_type: null, meta: null };
  await create({ id: 'Nulls', ...nothing, ...parts, sensors: [sensor], actuators: [actuator] });
  assert.deepEqual(await read('Nulls'), {
    id: 'Nulls',
    owner: 'ama',
    sensors: [{ id: 'S' }],
    actuators: [{ id: 'A' }],
    ...dates,
  });
  await create({ id: 'NoParts', sensors: null, actuators: null });
  assert.deepEqual((await read('NoParts'))['sensors'], []);
});

test('a taken id is refused with 422, whoever asks, and changes nothing', async () => {
  await create({ id: 'Taken', name: 'first', visibility: 'private' });
  const before = await read('Taken');
  for (const as of [ama, service.as('kofi'), guest]) {
    const again = await as({ method: 'POST', path: '/devices', json: { id: 'Taken', name: 'x' } });
    assertRefused(again, 422, { saying: /Taken/ });
  }
  assert.deepEqual(await read('Taken'), before);
  await create({ id: 'taken' });
});

test('unknown keys and what only the service may say are ignored in a new device', async () => {
  clock.set(start);
  const last = { value: 1, timestamp: '2020-01-01T00:00:00Z' };
  await create({
    id: 'Forged',
    owner: 'kofi',
    date_created: '2001-01-01T00:00:00.000Z',
    date_modified: '2001-01-01T00:00:00.000Z',
    last_value: last,
    colour: 'red',
    sensors: [{ id: 'TC1', last_value: last, value: last, date_received: 'x', colour: 'blue' }],
  });
  assert.deepEqual(await read('Forged'), {
    id: 'Forged',
    owner: 'ama',
    sensors: [{ id: 'TC1' }],
    actuators: [],
    ...dates,
  });
  const values = await ama({ path: '/devices/Forged/sensors/TC1/values' });
  assert.deepEqual(values.json, []);
});

test('without a token a device is of the guest and public, even if private was asked', async () => {
  await create({ id: 'Everybodys', visibility: 'private' }, guest);
  const device = await read('Everybodys', service.as('kofi'));
  assert.equal(device['owner'], 'guest');
  assert.equal(device['visibility'], 'public');
});

test('an actuator is answered with its keys in the order that sketches rely on', async () => {
  const actuator = {
    id: 'led',
    name: 'Light',
    value_type: 'number',
    value: 5,
    actuator_kind: 'LED',
  };
  await create({ id: 'Actor', actuators: [actuator] });
  const reply = await ama({ path: '/devices/Actor' });
  const written =
    '{"actuator_value_type":"number","value":5,"actuator_kind":"LED","name":"Light","id":"led"}';
  assert.ok(reply.text.includes(written), reply.text);
});

test('deleting a device deletes its sensors and datapoints: made anew, it is empty', async () => {
  const device = { id: 'Phoenix', sensors: [{ id: 'TC1' }] };
  await create(device);
  const values = '/devices/Phoenix/sensors/TC1/values';
  assertDone(await ama({ method: 'POST', path: values, json: { value: 21 } }));
  assertDone(await ama({ method: 'DELETE', path: '/devices/Phoenix' }));
  assertRefused(await ama({ path: '/devices/Phoenix' }), 404);
  assertRefused(await ama({ path: '/devices/Phoenix/sensors/TC1' }), 404);
  assertRefused(await ama({ path: values }), 404);
  assertRefused(await ama({ method: 'DELETE', path: '/devices/Phoenix' }), 404);
  await create(device);
  assert.deepEqual((await read('Phoenix'))['sensors'], [{ id: 'TC1' }]);
  assert.deepEqual((await ama({ path: values })).json, []);
});

test('names take any language, in JSON and in text', async () => {
  const name = 'Ɛkɔm 東京 مزرعة 🌽 n\u0303 \u202e';
  await create({ id: 'Unicode', name, domain: 'ñ' });
  assert.equal((await read('Unicode'))['name'], name);
  const longer = `${name} — ${'é'.repeat(500)}`;
  assertDone(await ama({ method: 'PUT', path: '/devices/Unicode/name', body: longer }));
  assert.equal((await read('Unicode'))['name'], longer);
});

test('a device may have 1 000 sensors and not one more', async () => {
  const sensors = Array.from({ length: 1_001 }, (_, index) => ({ id: `s${index}` }));
  const tooMany = await ama({ method: 'POST', path: '/devices', json: { id: 'Crowd', sensors } });
  assertRefused(tooMany, 400, { saying: /sensors/ });
  assertRefused(await ama({ path: '/devices/Crowd' }), 404);
  await create({ id: 'Crowd', sensors: sensors.slice(0, 1_000) });
  assert.deepEqual((await read('Crowd'))['sensors'], sensors.slice(0, 1_000));
  const path = '/devices/Crowd/sensors';
  assertRefused(await ama({ method: 'POST', path, json: { id: 's1000' } }), 400);
  assertDone(await ama({ method: 'POST', path, json: { id: 's999', name: 'replaced' } }));
});

test('an id given twice within one body is refused and nothing is created', async () => {
  for (const parts of ['sensors', 'actuators']) {
    const json = { id: 'Twins', [parts]: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] };
    const reply = await ama({ method: 'POST', path: '/devices', json });
    assertRefused(reply, 400, { saying: /\ba\b.*twice/ });
    assertRefused(await ama({ path: '/devices/Twins' }), 404);
  }
  await create({ id: 'Twins', sensors: [{ id: 'a' }], actuators: [{ id: 'a' }] });
});
