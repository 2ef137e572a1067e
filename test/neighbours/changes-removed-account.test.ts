import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';

const devices = 500;
const sensorsPerDevice = 1_000;

test('an account that goes with half a million sensors holds up nobody’s pushes', async () => {
  await using town = await startNeighbourhood();
  const token = await town.tokenOf('mallory');
  const sensors = Array.from({ length: sensorsPerDevice }, (_, at) => ({ id: `s${at}` }));
  await manyTimes(
    devices,
    async (at) => {
      const json = { id: `hoard-${at}`, sensors };
      const made = await town.call({ method: 'POST', path: '/devices', token, json });
      assert.equal(made.status, 204, made.text);
    },
    2,
  );
  const { json } = await town.call({ path: '/users/me', token });
  await town.attack(async () => {
    const path = `/users/${(json as { id: string }).id}`;
    const gone = await town.call({ method: 'DELETE', path, token });
    assert.equal(gone.status, 204, gone.text);
  });
  assert.equal((await town.call({ path: '/devices/hoard-0' })).status, 404);
  assert.equal((await town.call({ path: `/devices/hoard-${devices - 1}` })).status, 404);
});
