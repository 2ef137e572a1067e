import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/domain/limits.ts';
import { startService } from '../service.ts';
import { assertDone } from './refusal.ts';

const { notificationsPerUserAndSensorMax: max } = limits;
const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };

test('a user may have so many notifications on a sensor, and others have room', async () => {
  await using service = await startService({});
  const json = { id: 'd', sensors: [{ id: 'TC1' }, { id: 'SM1' }] };
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
  const make = (by: string, condition: object) =>
    service.as(by)({ method: 'POST', path: '/notifications', json: { condition, action } });
  for (const condition of [{ devices: ['d'], sensors: ['TC1'] }, { sensors: ['TC1'] }]) {
    const ids: string[] = [];
    for (let count = 0; count < max; count += 1) {
      const reply = await make('ama', condition);
      assert.equal(reply.status, 200, reply.text);
      ids.push(reply.text);
    }
    const refused = await make('ama', condition);
    assert.equal(refused.status, 403);
    assert.match(refused.text, /limit_reached.*100 notifications on a sensor/);
    assert.equal((await make('kofi', condition)).status, 200);
    assert.equal((await make('ama', { ...condition, sensors: ['SM1'] })).status, 200);
    const path = `/notifications/${ids[0]}`;
    const patch = { condition: { expression: 'TC1 > 3' } };
    assertDone(await service.as('ama')({ method: 'PATCH', path, json: patch }));
    assertDone(await service.as('ama')({ method: 'DELETE', path }));
    assert.equal((await make('ama', condition)).status, 200);
  }
});

test('a rule whose silence would not be watched is refused and says why', async () => {
  const environment = { KIPIMO_BUDGETS: 'silences=10' };
  await using service = await startService({ environment });
  const sensors = [{ id: 'TC1' }, { id: 'TC2' }, { id: 'TC3' }];
  assertDone(
    await service.as('ama')({ method: 'POST', path: '/devices', json: { id: 'd', sensors } }),
  );
  const make = (by: string, expression: string) => {
    const json = { condition: { devices: ['d'], expression }, action };
    return service.as(by)({ method: 'POST', path: '/notifications', json });
  };
  // A fifth of ten is what one may have.
  const both = 'silent(TC1, 1h); silent(TC2, 1h)';
  const first = await make('eve', both);
  assert.equal(first.status, 200, first.text);
  const refused = await make('eve', 'silent(TC3, 1h)');
  assert.equal(refused.status, 403);
  assert.match(refused.text, /limit_reached.*silences/);
  assert.equal((await make('mallory', both)).status, 200);
  assert.equal((await make('ama', 'silent(TC1, 1h)')).status, 200);
  const path = `/notifications/${first.text}`;
  assertDone(await service.as('eve')({ method: 'DELETE', path }));
  assert.equal((await make('eve', 'silent(TC3, 1h)')).status, 200);
});

test('what notifications take up in memory is bounded', async () => {
  const environment = { KIPIMO_BUDGETS: 'notification_bytes=3000000' };
  await using service = await startService({ environment });
  const names = (count: number) => Array.from({ length: count }, (_, index) => `n${index}`);
  const make = (by: string, devices: number, sensors: number) => {
    const condition = { devices: names(devices), sensors: names(sensors) };
    return service.as(by)({ method: 'POST', path: '/notifications', json: { condition, action } });
  };
  const tooMany = await make('eve', 1_000, 100);
  assert.equal(tooMany.status, 400);
  assert.match(tooMany.text, /devices times sensors must be at most 10000/);
  let made = 0;
  while (made < 100 && (await make('eve', 1_000, 10)).status === 200) made += 1;
  const refused = await make('eve', 1_000, 10);
  assert.equal(refused.status, 403);
  assert.match(refused.text, /limit_reached.*notification_bytes/);
  assert.ok(made < 5, `${made}`);
  assert.equal((await make('ama', 1, 1)).status, 200);
});
