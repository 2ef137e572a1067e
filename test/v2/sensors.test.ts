import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const start = Date.parse('2026-03-01T08:00:00.000Z');
const clock = createManualClock(start);
let service: Service;

before(async () => {
  service = await startService({ clock });
  assertDone(await service.call({ method: 'POST', path: '/devices', json: { id: 'D' } }));
});

after(() => service[Symbol.asyncDispose]());

const sensors = '/devices/D/sensors';

async function add(sensor: object): Promise<void> {
  const reply = await service.call({ method: 'POST', path: sensors, json: sensor });
  assertDone(reply, JSON.stringify(sensor));
}

async function push(id: string, json: unknown): Promise<void> {
  assertDone(await service.call({ method: 'POST', path: `${sensors}/${id}/values`, json }));
}

async function read(id: string): Promise<Record<string, unknown>> {
  const reply = await service.call({ path: `${sensors}/${id}` });
  assert.equal(reply.status, 200, reply.text);
  return reply.json as Record<string, unknown>;
}

async function valuesOf(id: string): Promise<readonly unknown[]> {
  const reply = await service.call({ path: `${sensors}/${id}/values` });
  return (reply.json as { value: unknown }[]).map(({ value }) => value);
}

const put = (path: string, body: string, type: string): Promise<Reply> =>
  service.call({
    method: 'PUT',
    path: `${sensors}/${path}`,
    body: new TextEncoder().encode(body),
    type,
  });

test('a sensor answers exactly the keys it was given', async () => {
  const full = {
    id: 'Full',
    name: 'Air temperature',
    sensing_device: 'Thermometer',
    quantity_kind: 'AirTemperature',
    unit: 'DegreeCelsius',
    meta: { height: 2, deep: [1, null] },
  };
  await add(full);
  assert.deepEqual(await read('Full'), full);
  await add({ id: 'Bare' });
  assert.deepEqual(await read('Bare'), { id: 'Bare' });
  await add({ id: 'Empty', name: '', unit: '' });
  assert.deepEqual(await read('Empty'), { id: 'Empty', name: '', unit: '' });
  await add({ id: 'Odd', colour: 'red', last_value: { value: 1 }, value: 3, owner: 'x' });
  assert.deepEqual(await read('Odd'), { id: 'Odd' });
});

test('the kind is answered in the spelling that the client used last', async () => {
  await add({ id: 'K', sensor_kind: 'Hygrometer' });
  assert.deepEqual(await read('K'), { id: 'K', sensor_kind: 'Hygrometer' });
  await add({ id: 'K', sensing_device: 'Barometer' });
  assert.deepEqual(await read('K'), { id: 'K', sensing_device: 'Barometer' });
  assertDone(await put('K/sensor_kind', 'Anemometer', 'text/plain'));
  assert.deepEqual(await read('K'), { id: 'K', sensor_kind: 'Anemometer' });
  const { json } = await service.call({ path: '/devices/D' });
  const inDevice = (json as { sensors: { id: string }[] }).sensors.find(({ id }) => id === 'K');
  assert.deepEqual(inDevice, { id: 'K', sensor_kind: 'Anemometer' });
  assertDone(await put('K/sensing_device', '"Rain"', 'application/json'));
  assert.deepEqual(await read('K'), { id: 'K', sensing_device: 'Rain' });
  assertDone(await put('K/sensing_device', 'null', 'application/json'));
  assert.deepEqual(await read('K'), { id: 'K' });
});

test('a second POST replaces the description and keeps datapoints and place', async () => {
  await add({ id: 'First', name: 'one', unit: 'Volt', quantity_kind: 'Voltage' });
  await add({ id: 'Second' });
  await push('First', { value: 3, timestamp: '2026-03-01T07:00:00Z' });
  await add({ id: 'First', unit: 'Ampere', meta: 1 });
  const last = {
    value: 3,
    timestamp: '2026-03-01T07:00:00.000Z',
    date_received: '2026-03-01T08:00:00.000Z',
  };
  const replaced = { id: 'First', unit: 'Ampere', meta: 1, last_value: last, value: last };
  assert.deepEqual(await read('First'), replaced);
  assert.deepEqual(await valuesOf('First'), [3]);
  const { json } = await service.call({ path: sensors });
  const ids = (json as { id: string }[]).map(({ id }) => id);
  assert.ok(ids.indexOf('First') < ids.indexOf('Second'), ids.join());
  assert.equal(ids.filter((id) => id === 'First').length, 1);
});

test('the list has each sensor as GET one and GET device have it', async () => {
  await add({ id: 'InList', name: 'x' });
  await push('InList', { value: 'text' });
  const { json } = await service.call({ path: sensors });
  const { json: device } = await service.call({ path: '/devices/D' });
  assert.deepEqual(json, (device as { sensors: unknown }).sensors);
  for (const sensor of json as { id: string }[]) assert.deepEqual(await read(sensor.id), sensor);
});

test('last_value and value are both there with data, and neither without', async () => {
  await add({ id: 'L' });
  assert.deepEqual(await read('L'), { id: 'L' });
  await push('L', { value: null });
  const date_received = '2026-03-01T08:00:00.000Z';
  const nothing = { value: null, date_received };
  assert.deepEqual(await read('L'), { id: 'L', last_value: nothing, value: nothing });
  await push('L', { value: [1, 2], timestamp: '2020-01-01T01:00:00+01:00' });
  const older = { value: [1, 2], timestamp: '2020-01-01T00:00:00.000Z', date_received };
  // Pushed last, though measured first [contract 3].
  assert.deepEqual(await read('L'), { id: 'L', last_value: older, value: older });
});

test('every field of a sensor is set by its own PUT, and a JSON null removes it', async () => {
  await add({ id: 'P' });
  for (const field of ['name', 'sensing_device', 'sensor_kind', 'quantity_kind', 'unit']) {
    for (const [type, body, expected] of [
      ['text/plain', 'two words', 'two words'],
      ['text/plain; charset=utf-8', '°C é', '°C é'],
      ['application/json', '"quoted"', 'quoted'],
      ['application/json', 'raw text', 'raw text'],
      ['application/json', '12.50', '12.50'],
      ['', 'no type', 'no type'],
      ['application/json', 'null', undefined],
    ] as const) {
      assertDone(await put(`P/${field}`, body, type), `${field}: ${body}`);
      assert.equal((await read('P'))[field], expected, `${field} as ${type}: ${body}`);
    }
  }
  assertDone(await put('P/meta', '{"a":[1]}', 'application/json'));
  assert.deepEqual(await read('P'), { id: 'P', meta: { a: [1] } });
  assertDone(await put('P/meta', 'null', 'application/json'));
  assert.deepEqual(await read('P'), { id: 'P' });
});

test('what a sensor measures is said when made or later, and kept on replacement', async () => {
  await add({ id: 'M', measures: 'counter' });
  assert.deepEqual(await read('M'), { id: 'M', measures: 'counter' });
  await add({ id: 'M', unit: 'kWh' });
  assert.deepEqual(await read('M'), { id: 'M', unit: 'kWh', measures: 'counter' });
  await add({ id: 'M', measures: 'amount' });
  assert.deepEqual(await read('M'), { id: 'M', measures: 'amount' });
  assertDone(await put('M/measures', '"gauge"', 'application/json'));
  assertDone(await put('M/measures', ' counter\n', 'text/plain'));
  const { json } = await service.call({ path: '/devices/D' });
  const inDevice = (json as { sensors: { id: string }[] }).sensors.find(({ id }) => id === 'M');
  assert.deepEqual(inDevice, { id: 'M', measures: 'counter' });
  for (const body of ['meter', '"Counter"', '["gauge"]', '1']) {
    const saying = /gauge, counter, amount, got "|text/;
    assertRefused(await put('M/measures', body, 'application/json'), 400, { saying, of: body });
  }
  const wrong = { method: 'POST', path: sensors, json: { id: 'M', measures: 'rain' } };
  assertRefused(await service.call(wrong), 400, { saying: /measures/ });
  assert.deepEqual(await read('M'), { id: 'M', measures: 'counter' });
  assertDone(await put('M/measures', 'null', 'application/json'));
  assert.deepEqual(await read('M'), { id: 'M' });
});

test('a bad value for a field of a sensor is 400, a missing sensor or field 404', async () => {
  await add({ id: 'Q', name: 'kept' });
  for (const field of ['name', 'sensing_device', 'sensor_kind', 'quantity_kind', 'unit', 'meta']) {
    assertRefused(await put(`Q/${field}`, '', 'text/plain'), 400, { saying: /empty/, of: field });
    assertRefused(await put('Q/name', '{"a":', 'application/json'), 400, { of: field });
  }
  assertRefused(await put('Q/name', '{}', 'application/json'), 400);
  assertRefused(await put('Q/name', 'x'.repeat(5_000), 'text/plain'), 400);
  assertRefused(await put('None/name', 'x', 'text/plain'), 404, { saying: /None/ });
  assertRefused(await put('Q/id', 'x', 'text/plain'), 404);
  const onNothing = await service.call({
    method: 'PUT',
    path: '/devices/no/sensors/Q/name',
    body: 'x',
  });
  assertRefused(onNothing, 404, { saying: /\bno\b/ });
  assert.deepEqual(await read('Q'), { id: 'Q', name: 'kept' });
});

test('a sensor needs an id and a device', async () => {
  for (const json of [{}, { id: '' }, { id: 7 }, { name: 'x' }, [], 'TC1', 5, null]) {
    const reply = await service.call({ method: 'POST', path: sensors, json });
    assertRefused(reply, 400, { of: JSON.stringify(json) });
  }
  const nowhere = { method: 'POST', path: '/devices/no/sensors', json: { id: 'S' } };
  assertRefused(await service.call(nowhere), 404, { saying: /\bno\b/ });
});

test('a deleted sensor takes its datapoints along', async () => {
  await add({ id: 'Gone', name: 'x' });
  await push('Gone', [{ value: 1 }, { value: 2 }]);
  assertDone(await service.call({ method: 'DELETE', path: `${sensors}/Gone` }));
  assertRefused(await service.call({ path: `${sensors}/Gone` }), 404, { saying: /Gone/ });
  assertRefused(await service.call({ path: `${sensors}/Gone/values` }), 404);
  const pushed = { method: 'POST', path: `${sensors}/Gone/values`, json: { value: 3 } };
  assertRefused(await service.call(pushed), 404);
  assertRefused(await service.call({ method: 'DELETE', path: `${sensors}/Gone` }), 404);
  await add({ id: 'Gone' });
  assert.deepEqual(await read('Gone'), { id: 'Gone' });
  assert.deepEqual(await valuesOf('Gone'), []);
});
