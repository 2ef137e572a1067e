import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';

const quota = 262_144;
const kilobyte = 'x'.repeat(1_024);
const environment = { KIPIMO_QUOTA_ACCOUNT_BYTES: String(quota) };
const path = '/devices/pump/sensors/s/value';
const json = { id: 'pump', sensors: [{ id: 's' }, { id: 'other' }] };

const useOf = async (service: Service, name: string): Promise<number> => {
  const me = (await service.as(name)({ path: '/users/me' })).json;
  return (me as { storage: { used: number } }).storage.used;
};

/** Pushes until there is no room; how many were stored. */
async function fill(push: () => Promise<{ status: number }>): Promise<number> {
  for (let stored = 0; stored < 1_000; stored += 1) {
    const { status } = await push();
    if (status === 507) return stored;
    assert.equal(status, 204);
  }
  throw new Error('nothing was refused');
}

test('strangers fill a quarter of an owner\u2019s quota, and the owner goes on', async () => {
  await using service = await startService({ environment });
  const [ama, kofi, yaw] = [service.as('ama'), service.as('kofi'), service.as('yaw')];
  await yaw({ path: '/users/me' });
  assertDone(await ama({ method: 'POST', path: '/devices', json }));
  const push = { method: 'POST', path, body: kilobyte };
  const stored = await fill(() => service.call(push));
  assert.ok(stored > 55 && stored <= 64, `${stored} kilobytes were stored`);
  const saying = /a quarter of its quota.*share the device/;
  assertRefused(await service.call(push), 507, { saying });
  assertRefused(await kofi(push), 507, { saying });
  const values = { method: 'POST', path: `${path}s`, json: Array(2_000).fill({ value: 1 }) };
  assertRefused(await kofi(values), 507, { saying });
  const line = { device_id: 'pump', sensor_id: 's', value: 'y'.repeat(2_000) };
  const bulk = await service.call({
    ...{ method: 'POST', path: '/sensors_data', json: [line] },
  });
  assert.equal((bulk.json as { refused: { error: string }[] }).refused[0]?.error, 'storage_full');
  // Who may set it, or whom it is shared with, is no stranger.
  assertDone(await ama(push));
  assertDone(await service.as('admin')(push));
  const rights = { method: 'PUT', path: '/devices/pump/grants/yaw', json: ['devices-data:create'] };
  assertDone(await ama(rights));
  assertDone(await yaw(push));
  assert.ok((await useOf(service, 'ama')) < quota / 2);
  // What goes with its sensor is given back.
  assertDone(await ama({ method: 'DELETE', path: '/devices/pump/sensors/s' }));
  assertDone(await ama({ method: 'POST', path: '/devices/pump/sensors', json: { id: 's' } }));
  assertDone(await service.call(push));
});

test('many large pushes at once are held to it as well', async () => {
  await using service = await startService({ environment });
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
  const line = { device_id: 'pump', sensor_id: 's', value: 'x'.repeat(100) };
  const push = { method: 'POST', path: '/sensors_data', json: Array(1_000).fill(line) };
  const answers = await Promise.all(Array.from({ length: 16 }, () => service.call(push)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.ok((await useOf(service, 'ama')) <= quota / 4 + 2_000);
  assertDone(await service.as('ama')({ method: 'POST', path, body: kilobyte }));
});

test('what strangers push counts in the total of guests', async () => {
  const guests = { KIPIMO_QUOTA_GUESTS_BYTES: '65536' };
  await using service = await startService({ environment: guests });
  assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
  const stored = await fill(() => service.call({ method: 'POST', path, body: kilobyte }));
  assert.ok(stored > 25 && stored < 34, `${stored} kilobytes of one address`);
  await fill(() => service.as('kofi')({ method: 'POST', path, body: kilobyte }));
  await fill(() => service.as('yaw')({ method: 'POST', path, body: kilobyte }));
  const device = { method: 'POST', path: '/devices', json: { id: 'free' } };
  assertRefused(await service.call(device), 507, { saying: /KIPIMO_QUOTA_GUESTS_BYTES/ });
  assertDone(await service.as('ama')({ method: 'POST', path, body: kilobyte }));
  assertDone(await service.as('ama')({ method: 'DELETE', path: '/devices/pump' }));
  assertDone(await service.call(device));
});

test('what strangers pushed is known after a restart, and goes with the device', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  const options = { environment, directory } as const;
  const push = { method: 'POST', path, body: kilobyte };
  {
    await using service = await startService(options);
    assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
    await fill(() => service.call(push));
  }
  {
    await using service = await startService(options);
    assertRefused(await service.call(push), 507);
    const ama = service.as('ama');
    assertDone(await ama(push));
    await service.as('kofi')({ path: '/users/me' });
    assertDone(await ama({ method: 'PUT', path: '/devices/pump/owner', body: 'kofi' }));
    assertDone(await service.as('kofi')({ method: 'PUT', path: '/devices/pump/accept' }));
    assertRefused(await service.call(push), 507, { saying: /kofi owns/ });
    assertDone(await ama({ method: 'POST', path: '/devices', json: { ...json, id: 'hers' } }));
    assertDone(await service.call({ ...push, path: '/devices/hers/sensors/s/value' }));
  }
  rmSync(directory, { recursive: true });
});

test('what strangers push again, or to no sensor, counts no more', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  const options = { environment, directory } as const;
  const again = { method: 'POST', path, json: { value: kilobyte, timestamp: '2026-01-01T00:00Z' } };
  const line = { sensor_id: 'none', device_id: 'pump', value: kilobyte };
  {
    await using service = await startService(options);
    assertDone(await service.as('ama')({ method: 'POST', path: '/devices', json }));
    for (let times = 0; times < 80; times += 1) assertDone(await service.call(again));
    for (let times = 0; times < 80; times += 1) {
      await service.call({ method: 'POST', path: '/sensors_data', json: [line] });
    }
  }
  {
    await using service = await startService(options);
    assertDone(await service.call({ method: 'POST', path, body: kilobyte }));
  }
  rmSync(directory, { recursive: true });
});
