import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Reply, type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;

before(async () => {
  service = await startService();
  assertDone(await service.call({ method: 'POST', path: '/devices', json: { id: 'D' } }));
});

after(() => service[Symbol.asyncDispose]());

const sensors = '/devices/D/sensors';
const point = (sensor_value: number, real_value: number) => ({ sensor_value, real_value });

/** 0 → 10, 100 → 210: doubles and adds ten. */
const ends = { value_min: point(0, 10), value_max: point(100, 210) };
const calib = { linear: { enabled: true, ...ends } };

async function addWith(id: string, values: readonly unknown[], description = {}): Promise<void> {
  const json = { id, ...description };
  assertDone(await service.call({ method: 'POST', path: sensors, json }));
  for (const value of values) {
    const path = `${sensors}/${id}/values`;
    assertDone(await service.call({ method: 'POST', path, json: { value } }));
  }
}

const put = (id: string, calibration: unknown): Promise<Reply> =>
  service.call({ method: 'PUT', path: `${sensors}/${id}/calib`, json: calibration });

async function valuesOf(id: string, query = ''): Promise<readonly unknown[]> {
  const reply = await service.call({ path: `${sensors}/${id}/values?${query}` });
  assert.equal(reply.status, 200, reply.text);
  return (reply.json as { value: unknown }[]).map(({ value }) => value);
}

async function sensorOf(id: string): Promise<Record<string, unknown>> {
  return (await service.call({ path: `${sensors}/${id}` })).json as Record<string, unknown>;
}

async function lastOf(id: string): Promise<readonly unknown[]> {
  const { last_value, value } = (await sensorOf(id)) as Record<string, { value: unknown }>;
  return [last_value?.value, value?.value];
}

test('a calibration applies to old and new values, and calibrated=false undoes it', async () => {
  await addWith('A', [0, 50]);
  assertDone(await put('A', calib));
  await addWith('A', [100], { calib });
  assert.deepEqual(await valuesOf('A'), [10, 110, 210]);
  assert.deepEqual(await valuesOf('A', 'calibrated=true'), [10, 110, 210]);
  assert.deepEqual(await valuesOf('A', 'calibrated=false'), [0, 50, 100]);
  assert.deepEqual(await lastOf('A'), [210, 210]);
  const { json } = await service.call({ path: '/devices/D' });
  const { sensors: all } = json as { sensors: { id: string; value?: { value: unknown } }[] };
  assert.equal(all.find(({ id }) => id === 'A')?.value?.value, 210);
});

test('a calibration is answered as it was given', async () => {
  await addWith('Given', []);
  for (const given of [
    calib,
    { linear: { enabled: false, ...ends } },
    { linear: ends },
    // Many soil sensors read more when it is drier.
    { linear: { enabled: true, value_min: point(700, 0), value_max: point(300, 100) } },
    { linear: { enabled: true, points: [point(0, 0), point(10, 100), point(20, 150)] } },
  ]) {
    assertDone(await put('Given', given), JSON.stringify(given));
    assert.deepEqual((await sensorOf('Given'))['calib'], given);
  }
});

test('a line may fall, and its ends may be given either way round', async () => {
  await addWith('Dry', [700, 500, 300]);
  for (const linear of [
    { enabled: true, value_min: point(700, 0), value_max: point(300, 100) },
    { enabled: true, value_min: point(300, 100), value_max: point(700, 0) },
  ]) {
    assertDone(await put('Dry', { linear }));
    assert.deepEqual(await valuesOf('Dry'), [0, 50, 100]);
  }
});

test('more points make a line of several pieces, in whatever order they come', async () => {
  await addWith('Bent', [0, 5, 10, 15, 20]);
  const points = [point(20, 150), point(0, 0), point(10, 100)];
  assertDone(await put('Bent', { linear: { enabled: true, points } }));
  assert.deepEqual(await valuesOf('Bent'), [0, 50, 100, 125, 150]);
});

test('ends and points together make one line, each point counted once', async () => {
  await addWith('both', [0, 50, 75, 100]);
  const points = [point(50, 0), ends.value_max];
  assertDone(await put('both', { linear: { ...ends, points } }));
  assert.deepEqual(await valuesOf('both'), [10, 0, 105, 210]);
  const { calib: answered } = await sensorOf('both');
  assert.deepEqual(answered, {
    linear: { points: [ends.value_min, point(50, 0), ends.value_max] },
  });
});

test('only JSON numbers are calibrated', async () => {
  const values = ['50', true, null, [50], { value: 50 }, 'error'];
  await addWith('Mixed', values, { calib });
  assert.deepEqual(await valuesOf('Mixed'), values);
  await addWith('Mixed', [50], { calib });
  assert.deepEqual(await lastOf('Mixed'), [110, 110]);
});

test('a number of more digits than a double holds is calibrated, too', async () => {
  const path = `${sensors}/Long/values`;
  await addWith('Long', [1]);
  // As C prints 20 digits behind the point.
  const digits = '21.30000000000000071054';
  const body = `[{"value": ${digits}}, {"value": 12345678901234567890}]`;
  const headers = { 'content-type': 'application/json' };
  assertDone(await service.call({ method: 'POST', path, body, headers }));
  assertDone(await put('Long', calib));
  const large = 2 * Number('12345678901234567890') + 10;
  assert.deepEqual(await valuesOf('Long'), [12, 52.6, large]);
  assert.deepEqual(await lastOf('Long'), [large, large]);
  const { json } = await service.call({ path: `${path}?aggregate=first,min,avg&lastN=3` });
  const avg = Number(((12 + 52.6 + large) / 3).toPrecision(15));
  assert.deepEqual(json, [{ ...(json as object[])[0], first: 12, min: 12, avg }]);
  assertDone(await put('Long', { linear: { ...calib.linear, enabled: false } }));
  const { text } = await service.call({ path });
  assert.ok(text.includes(digits) && text.includes('12345678901234567890'), text);
});

test('a calibration that is not enabled changes nothing, until it is', async () => {
  await addWith('Off', [50], { calib: { linear: { enabled: false, ...ends } } });
  assert.deepEqual(await valuesOf('Off'), [50]);
  assert.deepEqual(await lastOf('Off'), [50, 50]);
  for (const on of [calib, { linear: ends }]) {
    assertDone(await put('Off', on));
    assert.deepEqual(await valuesOf('Off'), [110]);
  }
});

test('a JSON null, or a new description without it, removes the calibration', async () => {
  await addWith('Removed', [50], { calib });
  assertDone(await put('Removed', null));
  assert.equal(Object.hasOwn(await sensorOf('Removed'), 'calib'), false);
  assert.deepEqual(await valuesOf('Removed'), [50]);
  await addWith('Removed', [], { calib });
  assert.deepEqual(await lastOf('Removed'), [110, 110]);
  await addWith('Removed', []);
  assert.equal(Object.hasOwn(await sensorOf('Removed'), 'calib'), false);
  assert.deepEqual(await lastOf('Removed'), [50, 50]);
});

test('text is read as JSON where a calibration is expected', async () => {
  await addWith('Text', [50]);
  const path = `${sensors}/Text/calib`;
  assertDone(await service.call({ method: 'PUT', path, body: JSON.stringify(calib) }));
  assert.deepEqual(await valuesOf('Text'), [110]);
});

const linear = (fields: object) => ({ linear: { enabled: true, ...fields } });

const refused: readonly unknown[] = [
  'text',
  5,
  true,
  [],
  {},
  { linear: null },
  { linear: [] },
  { linear: {} },
  { linear: { enabled: true } },
  linear({ value_min: point(0, 1) }),
  linear({ value_max: point(0, 1) }),
  linear({ value_min: point(5, 1), value_max: point(5, 2) }),
  linear({ value_min: {}, value_max: point(5, 2) }),
  linear({ value_min: { sensor_value: '0', real_value: 1 }, value_max: point(5, 2) }),
  linear({ value_min: { sensor_value: 0 }, value_max: point(5, 2) }),
  linear({ value_min: { sensor_value: 0, real_value: null }, value_max: point(5, 2) }),
  linear({ points: [] }),
  linear({ points: [point(1, 1)] }),
  linear({ points: [point(1, 1), point(2, 2), point(1, 3)] }),
  linear({ points: [point(1, 1), {}] }),
  linear({ points: {} }),
  linear({ points: Array.from({ length: 10_000 }, (_, index) => point(index, index)) }),
  { linear: { enabled: 'yes', ...ends } },
];

test('a calibration that defines no line is refused and changes nothing', async () => {
  await addWith('Kept', [50], { calib });
  const before = await sensorOf('Kept');
  for (const given of refused) {
    const of = JSON.stringify(given).slice(0, 100);
    assertRefused(await put('Kept', given), 400, { of });
    const json = { id: 'Kept', calib: given };
    assertRefused(await service.call({ method: 'POST', path: sensors, json }), 400, { of });
    const device = { id: 'New', sensors: [json] };
    assertRefused(await service.call({ method: 'POST', path: '/devices', json: device }), 400);
  }
  assert.deepEqual(await sensorOf('Kept'), before);
  assertRefused(await service.call({ path: '/devices/New' }), 404);
});
