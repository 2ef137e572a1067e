import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createManualClock } from '../manual-clock.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import { doorOf, openSensor } from './sensor-endpoint.ts';

let service: Service;
const clock = createManualClock(Date.UTC(2026, 5, 20, 10));

before(async () => {
  service = await startService({
    clock,
    environment: { KIPIMO_RETENTION_RAW_DAYS: '400', KIPIMO_RETENTION_HOURLY_DAYS: '800' },
  });
});

after(() => service[Symbol.asyncDispose]());

test('the nearest retention holds, and says where it is set and what goes next', async () => {
  const ama = service.as('ama');
  const sensors = [{ id: 's1' }, { id: 's2' }];
  assertDone(await ama({ method: 'POST', path: '/devices', json: { id: 'kept', sensors } }));
  const token = await service.tokenOf('ama');
  const mine = { call: (request: object) => service.call({ path: '', ...request, token }) };
  const values = [1, 2, 8, 9].map((day) => ({
    value: day,
    timestamp: `2026-06-0${day}T00:00:00Z`,
  }));
  for (const id of ['s1', 's2']) await doorOf(mine, 'kept', id).push(values);
  const found = async (path: string) => {
    const reply = await ama({ path });
    assert.equal(reply.status, 200, reply.text);
    return reply.json as Record<string, unknown>;
  };
  const put = async (path: string, json: unknown) =>
    assertDone(await ama({ method: 'PUT', path, json }));
  const [sensor, device] = ['/devices/kept/sensors/s1/retention', '/devices/kept/retention'];
  const me = '/users/me/retention';

  assert.deepEqual(await found(sensor), {
    ...{ raw_days: 400, hourly_days: 800, source: 'service' },
    next: { datapoints: 0, before: '2025-05-17T00:00:00.000Z' },
  });
  await put(me, { raw_days: 12 });
  // Nothing is deleted by being asked for: the pass over all sensors comes later.
  assert.deepEqual(await found(me), {
    ...{ raw_days: 12, hourly_days: null, source: 'user' },
    next: { datapoints: 4, before: '2026-06-08T00:00:00.000Z' },
  });
  await put(device, { raw_days: 13, hourly_days: 13 });
  await put(sensor, { raw_days: null, hourly_days: null });
  assert.deepEqual(await found(sensor), {
    ...{ raw_days: null, hourly_days: null, source: 'sensor' },
    next: { datapoints: 0 },
  });
  assert.deepEqual(await found(device), {
    ...{ raw_days: 13, hourly_days: 13, source: 'device' },
    next: { datapoints: 2, before: '2026-06-07T00:00:00.000Z' },
  });
  assert.deepEqual((await found(me))['next'], {
    datapoints: 0,
    before: '2026-06-09T00:00:00.000Z',
  });
  assertDone(await ama({ method: 'DELETE', path: sensor }));
  assert.equal((await found(sensor))['source'], 'device');
  assertDone(await ama({ method: 'DELETE', path: device }));
  assert.equal((await found(sensor))['source'], 'user');
  assertDone(await ama({ method: 'DELETE', path: me }));
  assert.equal((await found(sensor))['source'], 'service');
});

test('what is no retention is refused with a sentence that says why', async () => {
  const sensor = await openSensor(service);
  const put = (json: unknown) =>
    service.call({ method: 'PUT', path: `${sensor.path}/retention`, json });
  const wrong: readonly (readonly [unknown, RegExp])[] = [
    [{ raw_days: 0 }, /raw_days must be a whole number/],
    [{ raw_days: 1.5 }, /raw_days/],
    [{ raw_days: '30' }, /raw_days/],
    [{ raw_days: 36_501 }, /36500/],
    [{ raw_days: 30, hourly_days: 29 }, /must not be less than raw_days/],
    [[], /raw_days/],
    [30, /raw_days/],
    [null, /raw_days/],
  ];
  for (const [json, saying] of wrong) assertRefused(await put(json), 400, { saying });
  assertDone(await put({ raw_days: 36_500, hourly_days: 36_500, more: 'unknown' }));
  const missing = sensor.path.replace('TC1', 'TC2');
  assertRefused(await service.call({ path: `${missing}/retention` }), 404);
  assertRefused(await service.call({ path: '/users/me/retention' }), 403);
});
