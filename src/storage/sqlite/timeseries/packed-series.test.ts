import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import {
  aDevice,
  aSensor,
  aUser,
  deviceId,
  noon,
  sensorId,
  username,
} from '../../../../test/contract/storage/builders.ts';
import { push, sensor } from '../../../../test/contract/storage/datapoint-builders.ts';
import { temporaryDirectory } from '../../../../test/contract/storage/temporary-directory.ts';
import { toColumnBatch } from '../../../domain/datapoints/column-batch.ts';
import { latestInstant } from '../../../lib/clock.ts';
import { silentLog } from '../../../lib/log.ts';
import { openSqlite } from '../sqlite-storage.ts';
import { datapointLimits } from './datapoint-limits.ts';
import { addPush, pushesOf } from './packed-series.ts';

const count = datapointLimits.wholeDevicesPerRead + 4;
const ids = Array.from({ length: count }, (_, n) => `d${n}`);
const values = [1.5, 'wet', null, 'x'.repeat(100), { deep: ['é', '😀'] }, 'y'.repeat(600)];
const valueFor = (n: number) => values[n % values.length] ?? null;
const datapointOf = (n: number) =>
  n % 2 === 0
    ? { value: valueFor(n), receivedAt: noon + n }
    : { value: valueFor(n), timestamp: noon - n, receivedAt: noon + n };

/** A storage opened anew, whose sensors have their datapoints in the log alone. */
async function reopened(t: TestContext) {
  const directory = temporaryDirectory(t);
  const before = await openSqlite({ directory, log: silentLog });
  await before.users.insert(aUser('alice'), 'hash');
  for (const id of ids) await before.devices.insert(aDevice(id, { sensors: [aSensor('s')] }));
  await before.datapoints.append(ids.map((id, n) => push([datapointOf(n)], sensor(id, 's'))));
  const owned = (await before.devices.storedByOwner()).get(username('alice'));
  await before.close();
  const storage = await openSqlite({ directory, log: silentLog });
  t.after(() => storage.close());
  return { storage, owned };
}

const lastsOf = (found: ReadonlyMap<unknown, ReadonlyMap<unknown, unknown>>) =>
  ids.map((id) => found.get(deviceId(id))?.get(sensorId('s')));

test('what a start found in the log is listed, counted, read and stored once', async (t) => {
  const { storage, owned } = await reopened(t);
  const { datapoints, devices } = storage;
  const all = ids.map((id) => deviceId(id));
  const expected = ids.map((_, n) => datapointOf(n));
  assert.deepEqual(lastsOf(await datapoints.lastValues(all)), expected);
  const brief = lastsOf(await datapoints.briefLastValues(all));
  assert.deepEqual(
    brief,
    expected.map((one) => (one.value === values[5] ? 'large' : one)),
  );
  assert.equal((await devices.storedByOwner()).get(username('alice')), owned);
  let stored = 0;
  for (const id of all) stored += await devices.storedBytes(id);
  assert.equal(stored, owned);
  assert.equal(await storage.newestReceived(latestInstant), noon + count - 1);
  assert.equal(await storage.newestReceived(noon + 2), noon + 2);
  const again = ids.map((id, n) => push([datapointOf(n)], sensor(id, 's')));
  for (const [n, outcome] of (await datapoints.append(again)).entries()) {
    // What has no timestamp is another value.
    assert.equal(outcome.kind === 'stored' && outcome.fresh.count, n % 2 === 0 ? 1 : 0);
  }
});

test('what the log holds of a removed sensor goes with it', async (t) => {
  const { storage, owned } = await reopened(t);
  const { datapoints, devices } = storage;
  const id = deviceId('d3');
  const bytes = await devices.storedBytes(id);
  await devices.remove(id);
  await devices.insert(aDevice('d3', { sensors: [aSensor('s')] }));
  const empty = await devices.storedBytes(id);
  assert.equal(
    (await devices.storedByOwner()).get(username('alice')),
    (owned ?? 0) - bytes + empty,
  );
  assert.equal(await datapoints.lastValue(sensor('d3', 's')), undefined);
  const all = ids.map((one) => deviceId(one));
  const expected = ids.map((_, n) => (n === 3 ? undefined : datapointOf(n)));
  assert.deepEqual(lastsOf(await datapoints.lastValues(all)), expected);
});

test('pushes are unpacked as they were packed, in their order', () => {
  const datapoint = fc.record({
    value: fc.jsonValue(),
    receivedAt: fc.integer({ min: 0, max: noon }),
    timestamp: fc.option(fc.integer({ min: -noon, max: noon }), { nil: undefined }),
  });
  const somePushes = fc.array(
    fc.record({
      series: fc.nat(),
      sequenceNumber: fc.nat(),
      last: fc.nat({ max: 5 }),
      batch: fc
        .array(datapoint, { minLength: 1, maxLength: 5 })
        .map((all) =>
          toColumnBatch(
            all.map(({ value, receivedAt, timestamp }) =>
              timestamp === undefined
                ? { value: value as string, receivedAt }
                : { value: value as string, receivedAt, timestamp },
            ),
          ),
        ),
    }),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(somePushes, (pushes) => {
      const packed = { firstRow: 1, startedAt: 0, weight: 0, bytes: 0, pushes: '' };
      for (const one of pushes) addPush(packed, one);
      const plain = (all: readonly { batch: object }[]) =>
        all.map(({ batch, ...rest }) => ({ ...rest, batch: { ...batch, weight: undefined } }));
      assert.deepEqual(plain(pushesOf(packed)), plain(pushes));
    }),
  );
});
