import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/domain/limits.ts';
import { startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const { notificationsPerUserAndSensorMax: max } = limits;
const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };

test('a user may have so many notifications on a sensor, and others have room', async () => {
  await using service = await startService({ storage: 'memory' });
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
    assertRefused(await make('ama', condition), 400, { saying: /100 notifications on a sensor/ });
    assert.equal((await make('kofi', condition)).status, 200);
    assert.equal((await make('ama', { ...condition, sensors: ['SM1'] })).status, 200);
    const path = `/notifications/${ids[0]}`;
    const patch = { condition: { expression: 'TC1 > 3' } };
    assertDone(await service.as('ama')({ method: 'PATCH', path, json: patch }));
    assertDone(await service.as('ama')({ method: 'DELETE', path }));
    assert.equal((await make('ama', condition)).status, 200);
  }
});
