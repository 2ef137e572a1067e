import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { createRecordingChannels } from './recording-channels.ts';
import { assertDone, assertRefused } from './refusal.ts';

const visibility = 'private';
const device = { id: 'd', sensors: [{ id: 'TC1' }] };
const hidden = { ...device, visibility };

test('what is handed over is its giver\u2019s until the receiver accepts it', async () => {
  const channels = createRecordingChannels(['sms']);
  await using service = await startService({ channels: channels.open });
  const [eve, ama, kofi] = ['eve', 'ama', 'kofi'].map((name) => service.as(name));
  assert.ok(eve && ama && kofi);
  await kofi({ path: '/users/me' });
  assertDone(await ama({ method: 'PUT', path: '/users/me', json: { phone: '+255712345678' } }));
  const action = { usernames: ['ama'], channels: ['sms'], message: '{TC1}' };
  const rule = { condition: { sensors: ['TC1'] }, action };
  const made = await ama({ method: 'POST', path: '/notifications', json: rule });
  assertDone(await eve({ method: 'POST', path: '/devices', json: hidden }));
  await eve({ method: 'POST', path: '/gateways', json: { id: 'g', visibility } });
  const rights = { method: 'PUT', json: ['device:update', 'device:view'] };
  assertDone(await eve({ ...rights, path: '/devices/d/grants/kofi' }));
  const used = async (as: typeof ama) =>
    ((await as({ path: '/users/me' })).json as { storage: { used: number } }).storage.used;
  for (const path of ['/devices/d', '/gateways/g']) {
    const seen = async (as: ReturnType<Service['as']>): Promise<readonly unknown[]> => {
      const { owner, pending } = (await as({ path })).json as Record<string, unknown>;
      return [owner, pending];
    };
    assertRefused(await ama({ path }), 403);
    assertDone(await eve({ method: 'PUT', path: `${path}/owner`, body: 'ama' }));
    assert.deepEqual(await seen(eve), ['eve', true], path);
    assert.deepEqual(await seen(ama), ['eve', true], path);
    assert.equal(
      (await ama({ path: `${path.slice(0, -2)}` })).text.includes('"pending":true'),
      true,
    );
    assertRefused(await ama({ method: 'DELETE', path }), 403);
    for (const as of [eve, kofi, service.as('guest'), service.as('admin')]) {
      assertRefused(await as({ method: 'PUT', path: `${path}/accept` }), 403);
    }
    // Taken back, it is nobody else's to accept or to see.
    assertDone(await eve({ method: 'PUT', path: `${path}/owner`, body: 'eve' }));
    assertRefused(await ama({ method: 'PUT', path: `${path}/accept` }), 403);
    assertRefused(await ama({ path }), 403);
    assert.deepEqual(await seen(eve), ['eve', undefined], path);
    assertDone(await eve({ method: 'PUT', path: `${path}/owner`, body: 'ama' }));
  }
  assert.deepEqual((await kofi({ path: '/devices/d' })).text.includes('pending'), false);
  const push = (as: typeof ama, value: number) =>
    as({ method: 'POST', path: '/devices/d/sensors/TC1/value', json: { value } });
  assertDone(await push(eve, 1));
  assertRefused(await push(ama, 1), 403);
  assert.equal(await used(ama), 0);
  const bytes = await used(eve);
  assert.deepEqual((await ama({ path: `/notifications/${made.text}/deliveries` })).json, []);
  for (const path of ['/devices/d', '/gateways/g']) {
    assertDone(await ama({ method: 'PUT', path: `${path}/accept` }));
    assertDone(await ama({ method: 'PUT', path: `${path}/accept` }));
    assert.equal(((await ama({ path })).json as { owner: string }).owner, 'ama');
    assertRefused(await eve({ path }), 403);
  }
  assert.deepEqual(
    [await used(eve), await used(ama)].map((n) => Math.abs(n - bytes) < 100),
    [false, true],
  );
  // The giver's grants end with what he owned.
  assert.deepEqual((await ama({ path: '/devices/d/grants' })).json, []);
  assertRefused(await kofi({ method: 'PUT', path: '/devices/d/name', body: 'mine' }), 403);
  assertDone(await push(ama, 2));
  await channels.until(1);
  assert.equal(channels.sent[0]?.text, '2');
});

test('nobody is filled with what somebody else gives, and guests hand nothing over', async () => {
  const environment = { KIPIMO_QUOTA_ACCOUNT_BYTES: '65536' };
  await using service = await startService({ environment });
  const [eve, ama] = [service.as('eve'), service.as('ama')];
  assertDone(await ama({ method: 'POST', path: '/devices', json: { ...device, id: 'hers' } }));
  for (const id of ['a', 'b']) {
    const as = id === 'a' ? eve : service.as('eve2');
    assertDone(await as({ method: 'POST', path: '/devices', json: { ...hidden, id } }));
    const path = `/devices/${id}/sensors/TC1/value`;
    for (let pushed = 0; pushed < 40; pushed += 1) {
      assertDone(await as({ method: 'POST', path, body: 'x'.repeat(1_024) }));
    }
    assertDone(await as({ method: 'PUT', path: `/devices/${id}/owner`, body: 'ama' }));
  }
  const push = { method: 'POST', path: '/devices/hers/sensors/TC1/value', body: '1' };
  assertDone(await ama(push));
  assertDone(await ama({ method: 'PUT', path: '/devices/a/accept' }));
  const second = await ama({ method: 'PUT', path: '/devices/b/accept' });
  assertRefused(second, 507, { saying: /ama owns/ });
  assertDone(await ama(push));
  assertDone(await service.call({ method: 'POST', path: '/devices', json: device }));
  const gift = { method: 'PUT', path: '/devices/d/owner', body: 'ama' };
  assertRefused(await service.call(gift), 403, { saying: /guests hand nothing over/ });
  assertDone(await ama(gift));
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
