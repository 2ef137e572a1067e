// In a process of its own: it starts a coordinator and workers.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { DeviceId } from '../../src/domain/ids.ts';
import type { Storage } from '../../src/storage/storage.ts';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  userId,
} from '../contract/storage/builders.ts';
import { connectTo, device, openSeveral, sensor } from '../postgres-processes.ts';
import { onServer } from '../postgres-server.ts';
import { type CitusServers, hasCitus, startCitus } from './citus-servers.ts';

const rounds = 100;
/** The second change begins so many milliseconds after the first, at most. */
const laterMsMax = 60;

/** Commits of the workers take longer: the other process comes between those of one change. */
async function slowDown({ workers }: CitusServers): Promise<void> {
  for (const { url } of workers) {
    await onServer(url, 'alter system set commit_delay = 10000');
    await onServer(url, 'alter system set commit_siblings = 0');
    await onServer(url, 'select pg_reload_conf()');
  }
}

/** Changes that two processes make at the same time, so many rounds; each is the first in turn. */
async function race(
  [one, other]: readonly [Storage, Storage],
  count: number,
  round: (at: number, first: Storage, second: Storage, later: Promise<void>) => Promise<unknown>,
): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const [first, second] = at % 2 === 0 ? [one, other] : [other, one];
    await round(at, first, second, wait((at * 17) % laterMsMax));
  }
}

const options = { skip: hasCitus() ? false : 'needs Citus', timeout: 240_000 };

describe('changes of one sensor by two processes where there are parts', options, () => {
  test('find what the one before left, however late its worker has it', async (context) => {
    await using servers = await startCitus({ isDurable: true });
    await slowDown(servers);
    process.env['TEST_POSTGRES_URL'] = servers.url;
    await using several = await openSeveral('citus_sensors');
    const both = [several.one, several.other] as const;
    await using plain = await connectTo(several.url);
    const sensorsOf = async (id: DeviceId) =>
      (await plain.run(`select from sensors where device_id = '${id}'`)).rowCount;

    await context.test('updates of different fields are both kept', async () => {
      const lost: number[] = [];
      await race(both, rounds, async (at, first, second, later) => {
        const text = `${at}`;
        const done = await Promise.all([
          first.devices.updateSensor(device, sensorId('a'), { name: text }, noon),
          later.then(() =>
            second.devices.updateSensor(device, sensorId('a'), { unit: text }, noon),
          ),
        ]);
        assert.deepEqual(done, ['updated', 'updated']);
        const found = await first.devices.find(device);
        const { name, unit } = found?.sensors[0] ?? {};
        if (name !== text || unit !== text) lost.push(at);
      });
      assert.deepEqual(lost, [], 'rounds that lost an update');
    });

    await context.test('a sensor that both make is made once, and refused to nobody', async () => {
      const refused: number[] = [];
      await race(both, rounds, async (at, first, second, later) => {
        const made = await Promise.allSettled([
          first.devices.putSensor(device, aSensor('new'), noon),
          later.then(() => second.devices.putSensor(device, aSensor('new'), noon)),
        ]);
        if (made.some(({ status }) => status === 'rejected')) refused.push(at);
        assert.equal(await sensorsOf(device), 3);
        assert.equal(await first.devices.removeSensor(device, sensorId('new'), noon), 'removed');
      });
      assert.deepEqual(refused, [], 'rounds that refused a change');
    });

    await context.test('no sensor stays behind that is added to a device that goes', async () => {
      const left: number[] = [];
      await race(both, rounds, async (at, first, second, later) => {
        const id = deviceId(`going-${at}`);
        // Each third with the device itself.
        const isNew = at % 3 === 0;
        if (!isNew) await first.devices.insert(aDevice(id));
        const sensors = [aSensor('s')];
        await Promise.all([
          isNew
            ? first.devices.insert(aDevice(id, { sensors }))
            : first.devices.putSensor(id, aSensor('s'), noon),
          later.then(() => second.devices.remove(id)),
        ]);
        await first.devices.remove(id);
        if (await sensorsOf(id)) left.push(at);
      });
      assert.deepEqual(left, [], 'rounds that left a sensor without its device');
    });

    await context.test('nor one of a device that goes with its account', async () => {
      const left: number[] = [];
      await race(both, rounds / 2, async (at, first, second, later) => {
        const owner = aUser(`user${at}`);
        await first.users.insert(owner, 'hash');
        const ids = ['x', 'y', 'z'].map((letter) => deviceId(`${letter}-${at}`));
        for (const id of ids) {
          await first.devices.insert(aDevice(id, { owner: owner.username }));
        }
        await Promise.all([
          ...ids.map((id) => first.devices.putSensor(id, aSensor('s'), noon)),
          later.then(() => second.users.remove(userId(`id-user${at}`))),
        ]);
        for (const id of ids) if (await sensorsOf(id)) left.push(at);
      });
      assert.deepEqual(left, [], 'rounds that left a sensor without its device');
    });

    await context.test('no retention is set for a sensor that goes', async () => {
      const left: number[] = [];
      const scope = { kind: 'sensor', ...sensor('new') } as const;
      await race(both, rounds, async (at, first, second, later) => {
        await first.devices.putSensor(device, aSensor('new'), noon);
        await Promise.all([
          first.devices.removeSensor(device, sensorId('new'), noon),
          later.then(() => second.retentions.put(scope, { rawDays: 3 })),
        ]);
        if ((await plain.run('delete from retentions')).rowCount) left.push(at);
      });
      assert.deepEqual(left, [], 'rounds that left a retention without its sensor');
    });
  });
});
