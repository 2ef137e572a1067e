import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { embedded } from '../engine.ts';
import { type Service, startService } from '../service.ts';
import { assertDone, assertRefused } from './refusal.ts';
import { openSensor } from './sensor-endpoint.ts';

const kilobyte = 'x'.repeat(1_024);
const quota = 65_536;
const guests = { KIPIMO_QUOTA_GUESTS_BYTES: String(quota) };
const accounts = { KIPIMO_QUOTA_ACCOUNT_BYTES: String(quota) };

/** Pushes until there is no room; how many were stored. */
async function fill(push: () => Promise<{ status: number }>): Promise<number> {
  for (let stored = 0; stored < 1_000; stored += 1) {
    const { status } = await push();
    if (status === 507) return stored;
    assert.equal(status, 204);
  }
  throw new Error('nothing was refused');
}

const useOf = async (service: Service, name: string): Promise<{ used: number; quota?: number }> => {
  const me = (await service.as(name)({ path: '/users/me' })).json;
  return (me as { storage: { used: number; quota?: number } }).storage;
};

test('what belongs to nobody is refused at its quota, reads and deletions go on', async () => {
  await using service = await startService({ environment: guests });
  const sensor = await openSensor(service);
  const push = () => sensor.send(JSON.stringify(kilobyte));
  const half = await fill(push);
  assert.ok(half > 25 && half < 32, `${half} kilobytes were stored by one address`);
  const saying = /KIPIMO_QUOTA_GUESTS_BYTES/;
  assertRefused(await push(), 507, { saying: /at your address filled half/ });
  const toNobody = { method: 'POST', path: `${sensor.path}/value`, json: kilobyte };
  const stored = half + (await fill(() => service.as('ama')(toNobody)));
  assert.ok(stored > 50 && stored < 64, `${stored} kilobytes were stored`);
  assertRefused(await push(), 507, { saying });
  assertRefused(
    await service.as('ama')({ method: 'POST', path: `${sensor.path}/value`, json: 1 }),
    507,
  );
  const another = { method: 'POST', path: '/devices', json: { id: 'another' } };
  assertRefused(await service.call(another), 507, { saying });
  const lines = [{ device_id: sensor.deviceId, sensor_id: sensor.sensorId, value: 1 }];
  const bulk = await service.call({ method: 'POST', path: '/sensors_data', json: lines });
  assert.equal((bulk.json as { refused: { error: string }[] }).refused[0]?.error, 'storage_full');
  assert.equal((await sensor.all()).length, stored);
  assertDone(await service.as('ama')({ ...another, json: { id: 'hers' } }));
  assertDone(await service.call({ method: 'DELETE', path: sensor.path }));
  assertDone(await service.call(another));
  assert.ok((await fill(async () => pushAgain(service, sensor.deviceId))) > 25);
});

async function pushAgain(service: Service, deviceId: string) {
  const path = `/devices/${deviceId}/sensors`;
  await service.call({ method: 'POST', path, json: { id: 'new' } });
  return service.call({ method: 'POST', path: `${path}/new/value`, body: kilobyte });
}

test('values are taken away also where the quota is full, and given no other value', async () => {
  await using service = await startService({ environment: { ...guests, ...accounts } });
  const timestamp = '2026-06-01T00:00:00Z';
  for (const [name, says] of [
    ['ama', /ACCOUNT/],
    ['guest', /at your address/],
  ] as const) {
    const call = name === 'guest' ? service.call : service.as(name);
    const json = { id: `of-${name}`, sensors: [{ id: 's' }] };
    assertDone(await call({ method: 'POST', path: '/devices', json }));
    const path = `/devices/of-${name}/sensors/s`;
    const first = [{ value: 1, timestamp }];
    assertDone(await call({ method: 'POST', path: `${path}/values`, json: first }));
    const push = () => call({ method: 'POST', path: `${path}/value`, body: kilobyte });
    const stored = await fill(push);
    const values = `${path}/values`;
    const again = { method: 'PATCH', path: values, json: [{ value: 2, timestamp }] };
    assertRefused(await call(again), 507, { saying: says });
    const all = { method: 'DELETE', path: `${values}?all=true&value=${kilobyte}` };
    const removed = await call(all);
    assert.equal(removed.status, 200, removed.text);
    assert.equal((removed.json as { removed: number }).removed, stored);
    assert.equal(((await call({ path: values })).json as unknown[]).length, 1);
    // What was pushed is still there, until it is deleted with its sensor.
    assertRefused(await push(), 507, { saying: says });
  }
  // What all guests have together is full as well: a guest at any address takes away.
  const path = '/devices/of-guest/sensors/s/value';
  await fill(() => service.as('ama')({ method: 'POST', path, body: kilobyte }));
  const rest = { method: 'DELETE', path: '/devices/of-guest/sensors/s/values?all=true' };
  const removed = await service.call(rest);
  assert.equal(removed.status, 200, removed.text);
  const saying = /keep values for fewer days.*KIPIMO_QUOTA_GUESTS_BYTES/;
  assertRefused(await service.as('ama')({ method: 'POST', path, body: '1' }), 507, { saying });
});

test('an account sees what it uses of its quota, also after a restart', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  const options = { environment: accounts, directory } as const;
  let used = 0;
  const path = '/devices/hers/sensors/s/value';
  {
    await using service = await startService(options);
    const ama = service.as('ama');
    assert.deepEqual(await useOf(service, 'ama'), { used: 0, quota });
    assertDone(
      await ama({ method: 'POST', path: '/devices', json: { id: 'hers', sensors: [{ id: 's' }] } }),
    );
    const stored = await fill(() => ama({ method: 'POST', path, body: kilobyte }));
    ({ used } = await useOf(service, 'ama'));
    assert.ok(used >= quota && used < quota + 2_048, `${used} for ${stored}`);
    // Whoever pushes: what belongs to her counts for her.
    assertRefused(await service.as('kofi')({ method: 'POST', path, body: '1' }), 507, {
      saying: /ama.*KIPIMO_QUOTA_ACCOUNT_BYTES/,
    });
    assertDone(await service.as('kofi')({ method: 'POST', path: '/devices', json: { id: 'his' } }));
  }
  {
    await using service = await startService(options);
    assert.equal((await useOf(service, 'ama')).used, used);
    const admin = service.as('admin');
    assertRefused(await admin({ method: 'POST', path, body: '1' }), 507);
    const headers = { 'kipimo-import': 'true' };
    assertDone(await admin({ method: 'POST', path, body: '1', headers }));
    await service.tokenOf('kofi');
    assertDone(await admin({ method: 'PUT', path: '/devices/hers/owner', body: 'kofi' }));
    assert.equal((await useOf(service, 'ama')).used, 0);
    assert.ok((await useOf(service, 'kofi')).used > quota);
    assertDone(await service.as('kofi')({ method: 'DELETE', path: '/devices/hers' }));
    const { used: left } = await useOf(service, 'kofi');
    assert.ok(left < 1_000, `${left} bytes are left`);
  }
  rmSync(directory, { recursive: true });
});

test('descriptions count: devices, sensors and what is attached to them', async () => {
  await using service = await startService({ environment: accounts });
  const ama = service.as('ama');
  assertDone(await ama({ method: 'POST', path: '/devices', json: { id: 'd' } }));
  const before = (await useOf(service, 'ama')).used;
  assertDone(await ama({ method: 'PUT', path: '/devices/d/meta', json: { notes: kilobyte } }));
  assert.ok((await useOf(service, 'ama')).used > before + 1_024);
  assertDone(await ama({ method: 'PUT', path: '/devices/d/meta', json: null }));
  assert.equal((await useOf(service, 'ama')).used, before);
  let count = 0;
  const add = async () => {
    count += 1;
    const json = { id: `s${count}`, name: kilobyte };
    return ama({ method: 'POST', path: '/devices/d/sensors', json });
  };
  assert.ok((await fill(add)) < 64);
  assertDone(await ama({ method: 'DELETE', path: '/devices/d/sensors/s1' }));
  assertDone(await add());
});

embedded('below the floor of free space nothing is taken away either', async () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  const removal = { method: 'DELETE', path: '/devices/d/sensors/s/values?all=true' };
  {
    await using service = await startService({ directory });
    const json = { id: 'd', sensors: [{ id: 's' }] };
    assertDone(await service.call({ method: 'POST', path: '/devices', json }));
    const path = '/devices/d/sensors/s/value';
    assertDone(await service.call({ method: 'POST', path, body: '1' }));
  }
  {
    const floor = String(Math.floor(bavail * bsize * 1.5));
    const environment = { KIPIMO_DISK_FLOOR_BYTES: floor };
    await using service = await startService({ directory, environment });
    assertRefused(await service.call(removal), 507, { saying: /disk.*KIPIMO_DISK_FLOOR_BYTES/ });
    assert.equal((await service.as('admin')(removal)).status, 200);
  }
  rmSync(directory, { recursive: true });
});

embedded('below the floor of free space guests are refused first, then everybody', async () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const free = bavail * bsize;
  const floor = (bytes: number) => ({ KIPIMO_DISK_FLOOR_BYTES: String(Math.floor(bytes)) });
  const device = (id: string) => ({ method: 'POST', path: '/devices', json: { id } });
  {
    await using service = await startService({ environment: floor(free * 1.5) });
    assertRefused(await service.call(device('a')), 507, {
      saying: /disk.*KIPIMO_DISK_FLOOR_BYTES/,
    });
    assertDone(await service.as('ama')(device('b')));
  }
  {
    await using service = await startService({ environment: floor(free * 4) });
    assertRefused(await service.as('admin')(device('a')), 507);
    const json = { username: 'ama', password: 'long enough' };
    assertRefused(await service.call({ method: 'POST', path: '/users', json }), 507);
    assert.equal((await service.call({ path: '/devices' })).status, 200);
    assert.equal((await service.as('admin')({ path: '/users/me' })).status, 200);
  }
  await using service = await startService({ environment: floor(0) });
  assertDone(await service.call(device('a')));
});

embedded('below the floor of free space nothing grows that no quota counts', async () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  const free = bavail * bsize;
  const directory = mkdtempSync(join(tmpdir(), 'kipimo-test-'));
  const grown = [
    { method: 'PUT', path: '/gateways/g/health', json: { uptime: 'x'.repeat(60_000) } },
    { method: 'PUT', path: '/projects/p/device_ids', json: ['x'.repeat(256)] },
    { method: 'POST', path: '/auth/keys', json: { name: 'key' } },
    { method: 'POST', path: '/groups', json: { name: 'group', usernames: ['ama'] } },
    { method: 'POST', path: '/gateways', json: { id: 'g2' } },
    { method: 'POST', path: '/projects', json: { id: 'p2' } },
    { method: 'POST', path: '/socials', json: { username: 'ama', channel: 'none', message: 'm' } },
    { method: 'POST', path: '/invitations', json: { devices: ['d'], scopes: ['devices:view'] } },
  ];
  {
    await using service = await startService({ directory });
    const ama = service.as('ama');
    assertDone(await ama({ method: 'POST', path: '/devices', json: { id: 'd' } }));
    assert.equal((await ama({ method: 'POST', path: '/gateways', json: { id: 'g' } })).status, 200);
    assert.equal((await ama({ method: 'POST', path: '/projects', json: { id: 'p' } })).status, 200);
  }
  // Below five eighths of the floor, above half of it: accounts of sign-ups are refused.
  const environment = { KIPIMO_DISK_FLOOR_BYTES: String(Math.floor(free * 1.75)) };
  {
    await using service = await startService({ directory, environment });
    for (const one of grown) assertRefused(await service.as('ama')(one), 507, { saying: /disk/ });
    assertDone(await service.as('ama')({ method: 'PUT', path: '/gateways/g/health' }));
    const admins = { method: 'POST', path: '/gateways', json: { id: 'of-admin' } };
    assert.equal((await service.as('admin')(admins)).status, 200);
  }
  rmSync(directory, { recursive: true });
});
