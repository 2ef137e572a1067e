import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Neighbourhood, startNeighbourhood } from './neighbours.ts';
import { manyTimes } from './raw-mqtt.ts';
import { residentMebibytes, type Sulker, sulk, walMebibytes } from './unread.ts';

const grownMebibytesMax = 300;
const walMebibytesMax = 64;

/** A public device whose one sensor has 24 MB of texts. */
async function furnish(world: Neighbourhood, token: string): Promise<void> {
  const json = { id: 'eve-hoard', sensors: [{ id: 's' }] };
  assert.equal((await world.call({ method: 'POST', path: '/devices', token, json })).status, 204);
  const path = '/devices/eve-hoard/sensors/s/values';
  for (let part = 0; part < 4; part += 1) {
    const values = Array.from({ length: 100 }, (_, index) => ({
      timestamp: new Date(Date.now() - 1_000 * (100 * part + index)).toISOString(),
      value: `${part}-${index}`.padEnd(60_000, 'x'),
    }));
    const pushed = await world.call({ method: 'POST', path, token, json: values });
    assert.equal(pushed.status, 204, pushed.text);
  }
}

const asked = [
  '/devices/eve-hoard/sensors/s/values?limit=1000000',
  '/devices/eve-hoard/sensors/s/values?limit=1000',
  '/devices/eve-hoard/sensors/s/values?limit=1000000&format=csv',
  '/sensors_data?device_id=eve-hoard&limit=1000000',
  '/devices/eve-hoard/export',
];

test('1,500 connections that ask for all and read nothing take their share alone', async () => {
  await using world = await startNeighbourhood();
  const token = await world.tokenOf('eve');
  await furnish(world, token);
  const before = residentMebibytes(world.process.pid);
  const sulkers: Sulker[] = [];
  await world.attack(async () => {
    await manyTimes(1_500, async (index) => {
      const path = asked[index % asked.length] ?? '';
      sulkers.push(await sulk(world, [path], index % 2 === 0 ? token : undefined));
    });
    await new Promise((resolve) => setTimeout(resolve, 10_000));
  });
  const grown = residentMebibytes(world.process.pid) - before;
  assert.ok(grown <= grownMebibytesMax, `${grown} MiB are held for those who do not read`);
  const wal = walMebibytes(world.directory);
  assert.ok(wal <= walMebibytesMax, `the log of the database has ${wal} MiB: a read holds it`);
  for (const { socket } of sulkers) socket.destroy();
});

test('nor do connections that ask for 4,000 answers in one breath', async () => {
  await using world = await startNeighbourhood();
  const token = await world.tokenOf('eve');
  await furnish(world, token);
  const before = residentMebibytes(world.process.pid);
  const paths = Array.from({ length: 4_000 }, () => '/devices/eve-hoard/sensors/s/values?limit=4');
  const sulkers: Sulker[] = [];
  await world.attack(async () => {
    await manyTimes(100, async (index) => {
      sulkers.push(await sulk(world, paths, index % 2 === 0 ? token : undefined));
    });
    await new Promise((resolve) => setTimeout(resolve, 3_000));
  });
  const grown = residentMebibytes(world.process.pid) - before;
  assert.ok(grown <= grownMebibytesMax, `${grown} MiB are held for those who do not read`);
  for (const { socket } of sulkers) socket.destroy();
});
