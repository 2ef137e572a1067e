import assert from 'node:assert/strict';
import { test } from 'node:test';
import { valueGroupOf, valueGroups } from '../../domain/members/member-store.ts';
import type { WantedValues as Asked } from '../../domain/messaging/session-store.ts';
import { silentLog } from '../../lib/log.ts';
import { createWantedValues, deviceOfValues } from './wanted-values.ts';

const all = '1'.repeat(valueGroups);
const one = 'devices/one/sensors/s/value';
const other = 'devices/other/sensors/s/value';

/** What a store would have; each commit waits until it is let go. */
function start() {
  let stored = all;
  let writes = 0;
  let failures = 0;
  const waiting: (() => void)[] = [];
  const wanted = createWantedValues({
    log: silentLog,
    shared: {
      async want(ask: () => Asked) {
        const { groups, isAll } = ask();
        await new Promise<void>((resolve) => waiting.push(resolve));
        if (failures > 0) {
          failures -= 1;
          throw new Error('away');
        }
        writes += 1;
        const before = isAll ? '' : stored;
        stored = [...groups].map((bit, at) => (before[at] === '1' ? '1' : bit)).join('');
      },
    },
  });
  const commit = async () => {
    for (let round = 0; round < 5; round += 1) {
      waiting.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    ...{ wanted, commit },
    shrunk: async () => {
      const over = wanted.shrink();
      await commit();
      await over;
    },
    fail: (times: number) => {
      failures = times;
    },
    writes: () => writes,
    has: (device: string) => stored[valueGroupOf(device)] === '1',
    count: () => stored.replaceAll('0', '').length,
  };
}

test('the filters that include values name a device, or many', () => {
  const cases: [string, string | undefined][] = [
    ['devices/one/sensors/s/value', 'one'],
    ['devices/one/sensors/+/values', 'one'],
    ['devices/one/#', 'one'],
    ['devices/one/+/s/value', 'one'],
    ['+/one/sensors/s/value', 'one'],
    ['devices/+/sensors/s/value', '+'],
    ['devices/#', '+'],
    ['+/+/+/+/+', '+'],
    ['+/#', '+'],
    ['#', '+'],
    ['devices/one/actuators/a/value', undefined],
    ['devices/+/actuators/+/value', undefined],
    ['devices/one', undefined],
    ['devices', undefined],
    ['+', undefined],
    ['gateways/one/#', undefined],
    ['$SYS/#', undefined],
    ['', undefined],
    ['$share/group/devices/one/sensors/s/value', 'one'],
    ['$share/group/#', '+'],
    ['$share/group', undefined],
  ];
  for (const [filter, device] of cases) assert.equal(deviceOfValues(filter), device, filter);
});

test('a subscription waits until the store has its group, others of it do not', async () => {
  const { wanted, commit, shrunk, has, count, writes } = start();
  await shrunk();
  assert.equal(count(), 0);
  wanted.count(one, 1);
  const stored = wanted.stored([one]);
  assert.ok(stored);
  let isStored = false;
  void stored.then(() => {
    isStored = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isStored, false);
  await commit();
  await stored;
  assert.ok(has('one'));
  assert.equal(count(), 1);
  wanted.count(one, 1);
  assert.equal(wanted.stored([one]), undefined);
  const before = writes();
  wanted.count(one, -1);
  await shrunk();
  assert.ok(has('one'));
  wanted.count(one, -1);
  await shrunk();
  assert.equal(has('one'), false);
  assert.equal(writes(), before + 2);
});

test('a subscription to the values of many devices asks for all groups', async () => {
  const { wanted, commit, shrunk, count } = start();
  await shrunk();
  wanted.count('devices/+/sensors/+/value', 1);
  const stored = wanted.stored(['devices/+/sensors/+/value']);
  await commit();
  await stored;
  assert.equal(count(), valueGroups);
  wanted.count(other, 1);
  assert.equal(wanted.stored([other]), undefined);
});

test('one that comes while fewer are being stored is stored behind that', async () => {
  const { wanted, commit, shrunk, has } = start();
  wanted.count(one, 1);
  const first = wanted.stored([one]);
  await commit();
  await first;
  await shrunk();
  wanted.count(one, -1);
  const shrinking = wanted.shrink();
  await new Promise((resolve) => setImmediate(resolve));
  // The commit that gives the group up is under way.
  wanted.count(one, 1);
  const stored = wanted.stored([one]);
  assert.ok(stored);
  await commit();
  await Promise.all([shrinking, stored]);
  assert.ok(has('one'));
});

test('a filter waits for its own group alone, and for none that nobody subscribes to', async () => {
  const { wanted, commit, shrunk, writes } = start();
  await shrunk();
  wanted.count(one, 1);
  const first = wanted.stored([one]);
  await commit();
  await first;
  wanted.count(other, 1);
  const second = wanted.stored([other]);
  assert.ok(second);
  // A commit is under way that only adds.
  assert.equal(wanted.stored([one, '$SYS/#', 'devices/one/actuators/+/value']), undefined);
  await commit();
  await second;
  const before = writes();
  wanted.count('devices/third/#', 1);
  const ended = wanted.stored(['devices/third/#']);
  wanted.count('devices/third/#', -1);
  await commit();
  await ended;
  assert.ok(writes() <= before + 1);
  assert.equal(wanted.stored(['devices/third/#']), undefined);
});

test('what the store refuses is stored later, before the subscription counts', async () => {
  const { wanted, commit, shrunk, fail, has } = start();
  await shrunk();
  fail(2);
  wanted.count(one, 1);
  const stored = wanted.stored([one]);
  const until = performance.now() + 10_000;
  while (!has('one') && performance.now() < until) {
    await commit();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await stored;
  assert.ok(has('one'));
});
