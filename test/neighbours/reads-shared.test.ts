import assert from 'node:assert/strict';
import test from 'node:test';
import { watchHealth } from './health.ts';
import { servedMsMax, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

const devices = 1_000;
const projects = 250;
const readsAtOnce = 10;

test('250 shared projects of the same 1,000 devices leave the event loop to others', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('mallory');
  const trudy = await town.tokenOf('trudy');
  const ids = Array.from({ length: devices }, (_, at) => `shared-${at}`);
  const json = ids.map((id) => ({ id, visibility: 'private' }));
  const made = await town.call({ method: 'POST', path: '/devices', token, json });
  assert.ok(made.status < 300, made.text);
  await manyTimes(projects, async (at) => {
    const json = { id: `all-${at}`, name: 'all', device_ids: ids };
    const project = await town.call({ method: 'POST', path: '/projects', token, json });
    assert.ok(project.status < 300, project.text);
    const path = `/projects/all-${at}/grants/trudy`;
    const rights = ['projects:view'];
    const shared = await town.call({ method: 'PUT', path, token, json: rights });
    assert.equal(shared.status, 204, shared.text);
  });
  await town.attack(async () => {
    const health = watchHealth(town.url);
    const reads = Array.from({ length: readsAtOnce }, () =>
      town.call({ path: '/devices?limit=5', token: trudy }),
    );
    for (const { status, headers } of await Promise.all(reads)) {
      assert.equal(status, 200);
      assert.ok(Number(headers.get('x-total-count')) >= devices);
    }
    const longestMs = await health.longestMs();
    assert.ok(longestMs < servedMsMax / 4, `/healthz waited for ${longestMs} ms`);
  });
});
