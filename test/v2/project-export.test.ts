import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { readCsvTexts } from '../csv-reader.ts';
import { type Service, startService } from '../service.ts';
import { readZip } from '../zip-reader.ts';
import { assertDone, assertRefused } from './refusal.ts';
import { minute } from './sensor-endpoint.ts';

let service: Service;

before(async () => {
  service = await startService();
  const ama = service.as('ama');
  for (const [id, visibility] of [
    ['open', 'public'],
    ['secret', 'private'],
  ] as const) {
    const json = { id, visibility, sensors: [{ id: 'B' }, { id: 'A' }] };
    assertDone(await ama({ method: 'POST', path: '/devices', json }));
    const rows = ['A', 'B'].map((sensor_id) => ({
      device_id: id,
      sensor_id,
      value: `${id} ${sensor_id}`,
      timestamp: minute(1),
    }));
    const pushed = await ama({ method: 'POST', path: '/sensors_data', json: rows });
    assert.equal((pushed.json as { stored: number }).stored, 2);
  }
  const project = { id: 'farm', device_ids: ['secret', 'gone', 'open'] };
  assert.equal((await ama({ method: 'POST', path: '/projects', json: project })).status, 200);
});

after(() => service[Symbol.asyncDispose]());

async function filesOf(token: string): Promise<ReadonlyMap<string, string>> {
  const response = await fetch(`${service.url}/api/v2/projects/farm/export`, {
    headers: { authorization: `Bearer ${token}` },
  });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'application/zip');
  assert.equal(response.headers.get('content-disposition'), 'attachment; filename="farm.zip"');
  return readZip(Buffer.from(await response.arrayBuffer()));
}

test('a project is a ZIP with one CSV for each device that is there', async () => {
  const files = await filesOf(await service.tokenOf('ama'));
  assert.deepEqual([...files.keys()], ['secret.csv', 'open.csv']);
  const values = readCsvTexts(files.get('secret.csv') ?? '').map((record) => record[2]);
  assert.deepEqual(values, ['value', 'secret B', 'secret A']);
  const alone = await service.call({ path: '/devices/open/export' });
  assert.equal(files.get('open.csv'), alone.text);
});

test('devices whose data one may not view are left out', async () => {
  const grant = { method: 'PUT', path: '/projects/farm/grants/kofi', json: ['projects:view'] };
  await service.tokenOf('kofi');
  assertDone(await service.as('ama')(grant));
  const shared = [...(await filesOf(await service.tokenOf('kofi'))).keys()];
  assert.deepEqual(shared, ['secret.csv', 'open.csv']);
  // Rights on devices that are named in the grant, without the one to view their data.
  const rights = { ...grant, json: ['projects:update', 'devices:view'] };
  assertDone(await service.as('ama')(rights));
  assert.deepEqual([...(await filesOf(await service.tokenOf('kofi'))).keys()], ['open.csv']);
});

test('a project that is missing is 404, and one that one may not view 403', async () => {
  assertRefused(await service.call({ path: '/projects/none/export' }), 404);
  assertRefused(await service.call({ path: '/projects/farm/export' }), 403);
});
