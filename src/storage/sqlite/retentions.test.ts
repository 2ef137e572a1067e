import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { aDevice, aSensor, deviceId } from '../../../test/contract/storage/builders.ts';
import { temporaryDirectory } from '../../../test/contract/storage/temporary-directory.ts';
import { silentLog } from '../../lib/log.ts';
import { openSqlite } from './sqlite-storage.ts';

const scope = { kind: 'device', deviceId: deviceId('d1') } as const;

test('what is no number of days, after damage, deletes nothing', async () => {
  const directory = temporaryDirectory({ after });
  const open = () => openSqlite({ directory, log: silentLog });
  {
    const storage = await open();
    await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s1')] }));
    await storage.retentions.put(scope, { rawDays: 3, hourlyDays: 4 });
    await storage.close();
  }
  const database = new DatabaseSync(join(directory, 'kipimo.db'));
  database.exec('update retentions set raw_days = -1, hourly_days = 9999999');
  database.close();
  const storage = await open();
  assert.deepEqual(await storage.retentions.find(scope), {});
  const [sensor] = await storage.retentions.sensors({ after: -1, max: 10 });
  assert.deepEqual(sensor?.nearest, { retention: {}, source: 'device' });
  await storage.close();
});
