import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aDevice, aSensor, deviceId, noon } from '../../../test/contract/storage/builders.ts';
import { device, openSeveral, pushTo, sensor } from '../../../test/postgres-processes.ts';
import { isInParts, onServer } from '../../../test/postgres-server.ts';

const options = {
  skip: isInParts === false && 'KIPIMO_TEST_CITUS_URL names no coordinator',
  timeout: 120_000,
};

/** How many statements of these processes went to one part, and to several. */
async function tallyOf(url: string) {
  const { rows } = await onServer(
    url,
    `select query_execution_single_shard as one, query_execution_multi_shard as several
     from citus_stat_counters where name = current_database()`,
  );
  return { one: Number(rows[0].one), several: Number(rows[0].several) };
}

describe('where the data plane is in parts', options, () => {
  test('a push and a read of a sensor ask one server', async () => {
    await using process = await openSeveral('parts_statements');
    const { one, other, url } = process;
    const others = ['e', 'f', 'g', 'h', 'i', 'j'].map(deviceId);
    for (const id of others) await one.devices.insert(aDevice(id, { sensors: [aSensor('a')] }));
    const all = [device, ...others];
    const before = await tallyOf(url);
    for (let at = 0; at < 20; at += 1) {
      const pushes = all.map((id) => ({ ...pushTo('a', at, noon + at), deviceId: id }));
      for (const storage of [one, other]) {
        const outcomes = await storage.datapoints.append(pushes, async () => [{ text: 'note' }]);
        assert.ok(outcomes.every(({ kind }) => kind === 'stored'));
      }
      await one.datapoints.lastValue(sensor('a'));
      await one.datapoints.briefLastValues([device]);
      await one.datapoints.count(sensor('a'), {});
      await one.datapoints.hours(sensor('a'), {}, 10);
      await one.datapoints.standsFrom([sensor('a')], {});
    }
    const after = await tallyOf(url);
    assert.equal(after.several - before.several, 0);
    assert.ok(after.one - before.one > 20 * all.length * 2);
    for (const id of all) {
      assert.equal(await other.datapoints.count({ ...sensor('a'), deviceId: id }, {}), 20);
    }
  });
});
