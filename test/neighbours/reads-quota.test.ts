import assert from 'node:assert/strict';
import { statfsSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import test from 'node:test';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';

const quota = 1_048_576;
const value = 'x'.repeat(16_384);
const path = '/api/v2/devices/skip/sensors/s/value';

/** Pushes a value without a token, from an address of this machine; its status. */
function push(town: Neighbourhood, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', localAddress, headers: { 'content-type': 'text/plain' } };
    request(`${town.url}${path}`, options, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    })
      .once('error', reject)
      .end(value);
  });
}

/** Pushes until there is no room, and goes on for a while; how many bytes were stored. */
async function fill(town: Neighbourhood, address: string): Promise<number> {
  let [stored, refused] = [0, 0];
  while (refused < 200) {
    const status = await push(town, address);
    assert.ok(status === 204 || status === 507, `${status}`);
    if (status === 507) refused += 1;
    else stored += value.length;
    assert.ok(stored <= quota, 'nothing was refused');
  }
  return stored;
}

test('guests who fill their quota refuse no account, one address has half of it', async () => {
  await using town = await startNeighbourhood({
    environment: { KIPIMO_QUOTA_GUESTS_BYTES: String(quota) },
  });
  const json = { id: 'skip', sensors: [{ id: 's' }] };
  assert.equal((await town.call({ method: 'POST', path: '/devices', json })).status, 204);
  await town.attack(async () => {
    const stored = await fill(town, '127.0.0.1');
    assert.ok(stored > quota * 0.4 && stored < quota * 0.6, `${stored} bytes from one address`);
    assert.equal(await push(town, '127.0.0.2'), 204);
  });
  await town.restart('SIGKILL');
  await town.attack(async () => {
    await fill(town, '127.0.0.1');
    await fill(town, '127.0.0.2');
    assert.equal(await push(town, '127.0.0.3'), 507);
  });
});

test('on a disk that is nearly full guests are refused, reads and alarms go on', async () => {
  const { bavail, bsize } = statfsSync(tmpdir());
  await using town = await startNeighbourhood({
    environment: { KIPIMO_DISK_FLOOR_BYTES: String(Math.floor(bavail * bsize * 1.5)) },
  });
  const attack = async () => {
    for (let count = 0; count < 200; count += 1) {
      const json = { id: `full-${count}`, sensors: [{ id: 's' }] };
      const made = await town.call({ method: 'POST', path: '/devices', json });
      assert.equal(made.status, 507, made.text);
      assert.equal((await town.call({ path: '/devices' })).status, 200);
    }
  };
  await town.attack(attack);
  await town.restart('SIGKILL');
  await town.attack(attack);
});
