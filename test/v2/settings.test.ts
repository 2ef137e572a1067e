import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { passwordOf, type Service, startService } from '../service.ts';
import { refusalOf } from './sensor-endpoint.ts';

const path = '/admin/settings';

const signUp = (service: Service, username: string) =>
  service.call({ method: 'POST', path: '/users', json: { username, password: passwordOf('ama') } });

const set = (service: Service, value: 'open' | 'closed' | null) =>
  service.as('admin')({ method: 'PUT', path, json: { sign_up: value } });

test('an administrator closes sign-up and opens it again, at once', async () => {
  await using service = await startService();
  const read = async () => (await service.as('admin')({ path })).json;
  const asConfigured = { sign_up: 'open', sign_up_from: 'configuration', sign_up_default: 'open' };
  assert.deepEqual(await read(), asConfigured);
  assert.equal((await set(service, 'closed')).status, 204);
  assert.deepEqual(await read(), {
    ...{ sign_up: 'closed', sign_up_from: 'administrator', sign_up_default: 'open' },
  });
  refusalOf(await signUp(service, 'kofi'), 403, 'forbidden');
  const { json: state } = await service.as('admin')({ path: '/admin/service' });
  assert.equal((state as { signup: string }).signup, 'closed');
  assert.equal((await set(service, null)).status, 204);
  assert.deepEqual(await read(), asConfigured);
  assert.equal((await signUp(service, 'kofi')).status, 200);
});

test('an administrator opens sign-up where the configuration closed it', async () => {
  await using service = await startService({ environment: { KIPIMO_SIGNUP: 'closed' } });
  refusalOf(await signUp(service, 'kofi'), 403, 'forbidden');
  assert.equal((await set(service, 'open')).status, 204);
  assert.equal((await signUp(service, 'kofi')).status, 200);
});

test('nobody else sees or changes the settings, not even a key of an administrator', async () => {
  await using service = await startService();
  const admin = service.as('admin');
  const key = (await admin({ method: 'POST', path: '/auth/keys', json: { name: 'k' } })).json;
  const byKey = (request: Parameters<Service['call']>[0]) =>
    service.call({ ...request, token: (key as { key: string }).key });
  for (const stranger of [service.as('guest'), service.as('ama'), byKey]) {
    refusalOf(await stranger({ path }), 403, 'forbidden');
    const json = { sign_up: 'closed' };
    refusalOf(await stranger({ method: 'PUT', path, json }), 403, 'forbidden');
  }
  assert.equal((await signUp(service, 'kofi')).status, 200);
});

test('what an administrator set outlives a restart, whatever the configuration says', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-settings-'));
  try {
    {
      await using service = await startService({ directory });
      await set(service, 'closed');
    }
    await using service = await startService({
      directory,
      environment: { KIPIMO_SIGNUP: 'open' },
    });
    refusalOf(await signUp(service, 'kofi'), 403, 'forbidden');
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('administrators see what is stored, and who has most', async () => {
  await using service = await startService();
  for (const [username, count] of [
    ['ama', 1],
    ['kofi', 3],
  ] as const) {
    for (let number = 0; number < count; number += 1) {
      const json = { id: `${username}-${number}` };
      await service.as(username)({ method: 'POST', path: '/devices', json });
    }
  }
  await service.call({ method: 'POST', path: '/devices', json: { id: 'nobodys' } });
  const { json } = await service.as('admin')({ path: '/admin/service' });
  const { storage } = json as {
    storage: { used: number; guests: number; largest: { username: string; used: number }[] };
  };
  assert.deepEqual(
    storage.largest.map(({ username }) => username),
    ['kofi', 'ama'],
  );
  const [most, next] = storage.largest;
  assert.ok(most && next && most.used > next.used && storage.guests > 0);
  assert.equal(storage.used, most.used + next.used + storage.guests);
});
