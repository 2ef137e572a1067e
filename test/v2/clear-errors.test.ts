import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

let service: Service;
const ama = () => service.as('ama');

before(async () => {
  service = await startService();
  const json = { id: 'farm', sensors: [{ id: 'TC' }] };
  assertDone(await ama()({ method: 'POST', path: '/devices', json }));
});
after(() => service[Symbol.asyncDispose]());

test('an id that is empty is said to be', async () => {
  const json = { id: '' };
  for (const path of ['/devices', '/gateways', '/devices/farm/sensors']) {
    const saying = /^id must not be empty$/;
    assertRefused(await ama()({ method: 'POST', path, json }), 400, { saying });
  }
});

test('a path that is no text says what a percent sign begins', async () => {
  const saying = /path .*UTF-8.* %25: .*%E0%A4%A/;
  assertRefused(await ama()({ path: '/devices/%E0%A4%A' }), 400, { saying });
});

test('parameters that others call so are named, not passed over', async () => {
  for (const [given, meant] of [
    ['every=1d&aggregate=avg', 'interval'],
    ['agg=avg&interval=1d', 'aggregate'],
    ['tz=Africa/Accra', 'timezone'],
  ] as const) {
    const [name = ''] = given.split('=', 1);
    const saying = new RegExp(`^${name} .*: write ${meant}`);
    for (const path of ['/devices/farm/sensors/TC/values', '/sensors_data?device_id=farm']) {
      const target = `${path}${path.includes('?') ? '&' : '?'}${given}`;
      assertRefused(await ama()({ path: target }), 400, { saying });
    }
  }
});

test('a field that is none of its words says which these are, and what was read', async () => {
  const actuator = { id: 'pump' };
  assertDone(await ama()({ method: 'POST', path: '/devices/farm/actuators', json: actuator }));
  const action = { usernames: ['ama'], channels: ['sms'], message: 'm' };
  const rule = { condition: { devices: ['farm'], sensors: ['TC'] }, action };
  const { text: id } = await ama()({ method: 'POST', path: '/notifications', json: rule });
  for (const [path, words] of [
    ['/devices/farm/visibility', 'public, private'],
    ['/devices/farm/sensors/TC/measures', 'gauge, counter, amount'],
    ['/devices/farm/actuators/pump/value_type', 'string, number, bool, null, object, array'],
    [`/notifications/${id}/status`, 'active, inactive'],
  ] as const) {
    const saying = new RegExp(`${path.split('/').at(-1)} must be one of ${words}, got "Meter"`);
    const refused = await ama()({
      ...{ method: 'PUT', path, headers: { 'content-type': 'text/plain' }, body: 'Meter' },
    });
    assertRefused(refused, 400, { saying });
    assert.equal((refused.json as { code: string }).code, 'not_one_of');
  }
});

test('a time that the clocks left out is refused with the one to write', async () => {
  const path = '/devices/farm/sensors/TC/values?timezone=Europe/Berlin';
  const headers = { 'content-type': 'text/csv' };
  const push = (time: string) =>
    ama()({ method: 'POST', path, headers, body: `timestamp,value\n${time},1\n` });
  const saying =
    /line 2: timestamp 2026-03-29 02:30:00 was left out .* mean 2026-03-29T01:30:00.000Z/;
  const refused = await push('2026-03-29 02:30:00');
  assertRefused(refused, 400, { saying });
  assert.equal((refused.json as { code: string }).code, 'time_left_out');
  assertDone(await push('2026-03-29T01:30:00.000Z'));
});
