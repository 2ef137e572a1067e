import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aSensor, aUser, noon } from '../../../../test/contract/storage/builders.ts';
import { push, sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import type { Datapoint } from '../../../domain/datapoints/datapoint.ts';
import { silentLog } from '../../../lib/log.ts';
import { openSqlite } from '../sqlite-storage.ts';

const longest = 100_000;
/** Backwards in time: each one has to be searched for. */
const aLongOne: readonly Datapoint[] = Array.from({ length: longest }, (_, value) => ({
  value,
  receivedAt: noon,
  timestamp: noon - value,
}));

test('other devices are stored while a long push is prepared, and none is lost', async (t) => {
  const directory = temporaryDirectory(t);
  let storage = await openSqlite({ directory, log: silentLog });
  await storage.users.insert(aUser('alice'), 'hash');
  await storage.devices.insert(aDevice('d1', { sensors: [aSensor('s')] }));
  await storage.devices.insert(aDevice('d2', { sensors: [aSensor('s')] }));
  const ofLong = sensor('d1', 's');
  const ofOther = sensor('d2', 's');
  const order: string[] = [];
  const first = storage.datapoints.append([push(aLongOne, ofLong)]).then(() => order.push('long'));
  const again = storage.datapoints.append([push(aLongOne, ofLong)]);
  for (let value = 0; value < 5; value += 1) {
    await storage.datapoints.append([push([{ value, receivedAt: noon }], ofOther)]);
    order.push('short');
  }
  // To the same device: after the long ones, and known to them.
  const known = await storage.datapoints.append([
    push(aLongOne.slice(0, 2), ofLong),
    push([{ value: -1, receivedAt: noon, timestamp: noon + 1 }], ofLong),
  ]);
  await first;
  assert.deepEqual(
    (await again).map((outcome) => outcome.kind === 'stored' && outcome.fresh.count),
    [0],
  );
  assert.deepEqual(
    known.map((outcome) => outcome.kind === 'stored' && outcome.fresh.count),
    [0, 1],
  );
  assert.equal(order[0], 'short');
  for (const when of ['now', 'after a start']) {
    assert.equal(await storage.datapoints.count(ofLong, {}), longest + 1, when);
    assert.equal(await storage.datapoints.count(ofOther, {}), 5, when);
    assert.equal((await storage.datapoints.lastValue(ofLong))?.value, -1, when);
    if (when !== 'now') break;
    await storage.close();
    storage = await openSqlite({ directory, log: silentLog });
  }
  await storage.close();
});
