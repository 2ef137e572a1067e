// In a process of its own: it starts a coordinator, workers and processes.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aDevice, aSensor, deviceId, noon } from '../contract/storage/builders.ts';
import { device, openSeveral, pushTo, sensor } from '../postgres-processes.ts';
import { onServer } from '../postgres-server.ts';
import { type MemberProcess, membersOf } from '../walks/member-processes.ts';
import { makeField } from '../walks/rule-model.ts';
import { hasCitus, startCitus } from './citus-servers.ts';

const options = { skip: hasCitus() ? false : 'needs Citus', timeout: 240_000 };

/** How many statements went to one part so far, and to several. */
async function tallyOf(url: string) {
  const { rows } = await onServer(
    url,
    `select query_execution_single_shard as one, query_execution_multi_shard as several
     from citus_stat_counters where name = current_database()`,
  );
  return { one: Number(rows[0].one), several: Number(rows[0].several) };
}

describe('where the data plane is in parts', options, () => {
  test('a batch of pushes asks one server for each part, and keeps their places', async () => {
    await using servers = await startCitus();
    process.env['TEST_POSTGRES_URL'] = servers.url;
    await using several = await openSeveral('parts_batches');
    const { one, other } = several;
    const others = ['e', 'f', 'g', 'h', 'i', 'j'].map(deviceId);
    for (const id of others) await one.devices.insert(aDevice(id, { sensors: [aSensor('a')] }));
    const all = [device, ...others];
    const before = await tallyOf(servers.url);
    for (let at = 0; at < 20; at += 1) {
      const pushes = all.map((id) => ({ ...pushTo('a', at, noon + at), deviceId: id }));
      const absent = { ...pushTo('none', at, noon + at), deviceId: all[at % all.length] ?? device };
      pushes.splice(at % all.length, 0, absent);
      for (const storage of [one, other]) {
        const outcomes = await storage.datapoints.append(pushes, async () => [{ text: 'note' }]);
        const missing = outcomes.flatMap(({ kind }, place) => (kind === 'stored' ? [] : place));
        assert.deepEqual(missing, [at % all.length]);
      }
      await Promise.all(all.map((id) => one.datapoints.briefLastValues([id])));
      await one.datapoints.hours(sensor('a'), {}, 10);
      await one.datapoints.standsFrom([sensor('a')], {});
    }
    const after = await tallyOf(servers.url);
    assert.equal(after.several - before.several, 0, 'statements that asked several parts');
    assert.ok(after.one - before.one > 20 * all.length * 2);
    for (const id of all) {
      assert.equal(await other.datapoints.count({ ...sensor('a'), deviceId: id }, {}), 20);
    }
  });

  test('a push, a read of a device and a firing ask one server', async () => {
    await using servers = await startCitus();
    const start = await membersOf(servers, 'citus_parts');
    await using one = await start();
    await using other = await start();
    const { push, firings, token } = await makeField(one, ['t', 'u'], ['t > 30 clear t < 25']);
    const read = async (at: MemberProcess) => {
      const sensor = '/devices/field/sensors/t';
      const queries = ['', '?limit=5', '?aggregate=avg&interval=1h'];
      const paths = [...queries.map((query) => `${sensor}/values${query}`), sensor];
      for (const path of paths) {
        const { status, text } = await at.call({ path, token });
        assert.equal(status, 200, text);
      }
    };
    async function round(value: number): Promise<void> {
      await push(one, 't', value);
      await push(other, 'u', value);
      await push(other, 't', value - 10);
      for (const at of [one, other]) await read(at);
    }
    // What is asked for once, such as who may see the device, is known afterwards.
    await round(31);
    const fired = (await firings(one)).at(-1) ?? 0;
    const before = await tallyOf(servers.url);
    const rounds = 10;
    for (let at = 0; at < rounds; at += 1) await round(31 + at / 100);
    const after = await tallyOf(servers.url);
    assert.equal(after.several - before.several, 0, 'statements that asked several parts');
    assert.ok(after.one - before.one > 3 * rounds);
    assert.ok(((await firings(other)).at(-1) ?? 0) > fired, 'rules fired meanwhile');
  });
});
