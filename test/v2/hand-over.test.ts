import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

const device = { id: 'd', sensors: [{ id: 'TC1' }] };

test('a device handed over fires no alert of its receiver before it is accepted', async () => {
  const channels = createRecordingChannels(['sms']);
  await using service = await startService({ channels: channels.open });
  const [eve, ama, kofi] = ['eve', 'ama', 'kofi'].map((name) => service.as(name));
  assert.ok(eve && ama && kofi);
  await kofi({ path: '/users/me' });
  assertDone(await ama({ method: 'PUT', path: '/users/me', json: { phone: '+255712345678' } }));
  const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };
  const rule = { condition: { sensors: ['TC1'] }, action };
  const made = await ama({ method: 'POST', path: '/notifications', json: rule });
  assertDone(await eve({ method: 'POST', path: '/devices', json: device }));
  for (const name of ['eve', 'kofi']) {
    const path = `/devices/d/grants/${name}`;
    const shared = await eve({ method: 'PUT', path, json: ['device:update', 'device:view'] });
    assert.ok(shared.status < 300 || name === 'eve', shared.text);
  }
  assertDone(await eve({ method: 'PUT', path: '/devices/d/owner', body: 'ama' }));
  const seen = async (as: typeof ama) =>
    ((await as({ path: '/devices/d' })).json as { pending?: boolean }).pending;
  assert.deepEqual(
    [await seen(ama), await seen(eve), await seen(kofi)],
    [true, undefined, undefined],
  );
  // The giver's grants end with what he owned.
  assert.deepEqual((await ama({ path: '/devices/d/grants' })).json, []);
  assertRefused(await kofi({ method: 'PUT', path: '/devices/d/name', body: 'mine' }), 403);
  const push = (value: number) =>
    ama({ method: 'POST', path: '/devices/d/sensors/TC1/value', json: { value } });
  assertDone(await push(1));
  assert.deepEqual((await ama({ path: `/notifications/${made.text}/deliveries` })).json, []);
  assertRefused(await eve({ method: 'PUT', path: '/devices/d/accept' }), 403);
  assertRefused(await service.call({ method: 'PUT', path: '/devices/d/accept' }), 403);
  assertDone(await ama({ method: 'PUT', path: '/devices/d/accept' }));
  assertDone(await ama({ method: 'PUT', path: '/devices/d/accept' }));
  assert.equal(await seen(ama), undefined);
  assertDone(await push(2));
  await channels.until(1);
  assert.equal(channels.sent[0]?.text, '2');
});

test('what an administrator hands over, or one takes oneself, is accepted', async () => {
  await using service = await startService({});
  const ama = service.as('ama');
  await ama({ path: '/users/me' });
  for (const [id, by] of [
    ['of-admin', 'admin'],
    ['of-guest', 'ama'],
  ] as const) {
    assertDone(await service.call({ method: 'POST', path: '/devices', json: { ...device, id } }));
    assertDone(await service.as(by)({ method: 'PUT', path: `/devices/${id}/owner`, body: 'ama' }));
    const { json } = await ama({ path: `/devices/${id}` });
    assert.deepEqual(Object.keys(json as object).includes('pending'), false, id);
  }
});
