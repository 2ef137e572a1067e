import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../src/domain/limits.ts';
import { startService } from '../service.ts';
import { assertDone } from './refusal.ts';

const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };
const condition = { devices: ['d'], sensors: ['TC1'] };

async function start() {
  const service = await startService({
    environment: { KIPIMO_BUDGETS: 'notification_bytes=100000' },
  });
  const json = { id: 'd', sensors: [{ id: 'TC1' }, { id: 'SM1' }] };
  assertDone(await service.as('admin')({ method: 'POST', path: '/devices', json }));
  const make = (by: string, description = '') =>
    service.as(by)({
      method: 'POST',
      path: '/notifications',
      json: { condition, action, description },
    });
  return { service, make };
}

test('changes of one notification at the same time lose none of them', async () => {
  const { service, make } = await start();
  await using _ = service;
  const path = `/notifications/${(await make('ama')).text}`;
  const patches = [{ sensors: ['SM1'] }, { expression: 'SM1 > 3' }, { devices: [] }];
  const replies = await Promise.all(
    patches.map((part) => service.as('ama')({ method: 'PATCH', path, json: { condition: part } })),
  );
  for (const reply of replies) assertDone(reply);
  const { json } = await service.as('ama')({ path });
  const { condition: stored } = json as { condition: object };
  assert.deepEqual(stored, { devices: [], sensors: ['SM1'], expression: 'SM1 > 3' });
});

test('many that are made at the same time are not more than there may be', async () => {
  await using service = await startService({});
  const json = { id: 'd', sensors: [{ id: 'TC1' }] };
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
  const max = limits.notificationsPerUserAndSensorMax;
  const replies = await Promise.all(
    Array.from({ length: max + 20 }, () =>
      service.as('ama')({ method: 'POST', path: '/notifications', json: { condition, action } }),
    ),
  );
  assert.equal(replies.filter(({ status }) => status === 200).length, max);
});

test('the notifications of an account that is gone take no room', async () => {
  const { service, make } = await start();
  await using _ = service;
  const usedBytes = async (): Promise<number> => {
    const { json } = await service.as('admin')({ path: '/admin/usage' });
    const budgets = json as readonly { name: string; used: number }[];
    return budgets.find(({ name }) => name === 'notification_bytes')?.used ?? -1;
  };
  const before = await usedBytes();
  assert.equal((await make('kofi', 'x'.repeat(500))).status, 200);
  assert.ok((await usedBytes()) > before);
  const me = (await service.as('kofi')({ path: '/users/me' })).json as { id: string };
  await service.as('admin')({ method: 'DELETE', path: `/users/${me.id}` });
  assert.equal(await usedBytes(), before);
});
