import assert from 'node:assert/strict';
import { request } from 'node:http';
import test from 'node:test';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';

const quota = 4_194_304;
const line = { device_id: 'pump', sensor_id: 's', value: 'x'.repeat(8_192) };
const body = JSON.stringify(Array(500).fill(line));

/** Pushes 4 MB at once, without a token. */
function flood(town: Neighbourhood, localAddress: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const options = { method: 'POST', localAddress, headers };
    request(`${town.url}/api/v2/sensors_data`, options, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0));
    })
      .once('error', reject)
      .end(body);
  });
}

test('strangers fill a quarter of what an owner may have, also after a kill', async () => {
  await using town = await startNeighbourhood({
    environment: { KIPIMO_QUOTA_ACCOUNT_BYTES: String(quota) },
  });
  const token = await town.tokenOf('ama');
  const json = { id: 'pump', sensors: [{ id: 's' }] };
  const made = await town.call({ method: 'POST', path: '/devices', json, token });
  assert.equal(made.status, 204, made.text);
  const path = '/devices/pump/sensors/s/value';
  const push = async (as?: string) =>
    (await town.call({ method: 'POST', path, json: { value: 1 }, ...(as && { token: as }) }))
      .status;
  const attack = async () => {
    const addresses = [1, 2, 3, 4, 5, 6, 7, 8].map((part) => `127.0.0.${part}`);
    await Promise.all([...addresses, ...addresses].map((address) => flood(town, address)));
    assert.equal(await push(), 204);
  };
  await town.attack(attack);
  const value = { method: 'POST', path, json: { value: 'x'.repeat(60_000) } };
  const large = async () => (await town.call(value)).status;
  for (let times = 0; times < 20 && (await large()) === 204; times += 1);
  assert.equal(await large(), 507);
  assert.equal(await push(token), 204);
  await town.restart('SIGKILL');
  assert.equal(await large(), 507);
  assert.equal(await push(await town.tokenOf('ama')), 204);
});
