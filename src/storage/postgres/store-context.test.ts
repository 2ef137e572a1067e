import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  userId,
} from '../../../test/contract/storage/builders.ts';
import { emptySchemaCalled, noPostgres } from '../../../test/postgres-schemas.ts';
import { onServer } from '../../../test/postgres-server.ts';
import { singleBatch } from '../../domain/datapoints/column-batch.ts';
import { silentLog } from '../../lib/log.ts';
import { openPostgres } from './postgres-storage.ts';

describe('removing from PostgreSQL', { skip: noPostgres }, () => {
  test('takes along the datapoints that are in no chunk yet, and those alone', async (context) => {
    const url = await emptySchemaCalled('removal');
    const storage = await openPostgres({ url, log: silentLog });
    context.after(() => storage.close());
    const { users, devices, datapoints } = storage;
    for (const user of [aUser('ana'), aUser('bob')]) await users.insert(user, 'hash');
    const sensors = [aSensor('s1'), aSensor('s2')];
    for (const [id, owner] of [
      ['of-ana', aUser('ANA').username],
      ['of-bob', aUser('bob').username],
      ['other-of-bob', aUser('bob').username],
    ] as const) {
      await devices.insert(aDevice(id, { owner, sensors }));
      for (const sensor of sensors) {
        const batch = singleBatch(1, undefined, noon);
        await datapoints.append([{ deviceId: deviceId(id), sensorId: sensor.id, batch }]);
      }
    }
    const left = async (): Promise<unknown> =>
      (await onServer(url, 'select count(*)::integer as n from hot')).rows[0].n;

    assert.equal(await left(), 6);
    await users.remove(userId('id-ana'));
    assert.equal(await left(), 4);
    await devices.remove(deviceId('of-bob'));
    assert.equal(await left(), 2);
    await devices.removeSensor(deviceId('other-of-bob'), sensorId('s1'), noon);
    assert.equal(await left(), 1);
  });
});
