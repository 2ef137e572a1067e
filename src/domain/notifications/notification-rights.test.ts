import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aDevice, aUser, deviceId, username } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { temporaryStorage } from '../../../test/temporary-storage.ts';
import type { Actor } from '../actor.ts';
import { createBudgets } from '../budgets/budgets.ts';
import { createLongWork } from '../budgets/long-work.ts';
import type { ChangeListener } from '../changes.ts';
import { createReadable } from './notification-rights.ts';
import { createRule } from './rule.ts';
import { createSensorIndex } from './sensor-index.ts';

const person = (name: string) => ({
  kind: 'user' as const,
  userId: aUser(name).id,
  username: username(name),
});

/** Rules of ana's on devices of hers, by the letters of what they name. */
async function start(longWorkMax?: number) {
  const storage = await temporaryStorage();
  const index = createSensorIndex();
  for (const [id, visibility] of [
    ['open', 'public'],
    ['hidden', 'private'],
    ['granted', 'private'],
  ] as const) {
    await storage.devices.insert(aDevice(id, { owner: username('ana'), visibility }));
  }
  await storage.users.insert(aUser('bob'), 'hash');
  const scopes = ['devices:view'] as const;
  const of = { kind: 'device', resource: 'granted', username: username('bob') } as const;
  assert.equal(await storage.grants.put({ ...of, scopes }), 'put');
  const named = ['open', 'hidden', 'granted', 'gone', 'open hidden', 'open granted gone', ''];
  for (const id of named) {
    const devices = id.split(' ').flatMap((one) => (one === '' ? [] : deviceId(one)));
    const condition = { devices, sensors: [], expression: 'TC1 > 30' };
    index.put(createRule(aNotification(id, { condition })));
  }
  const listeners: ChangeListener[] = [];
  let reads = 0;
  let fails = false;
  const changes = {
    onChange: (listener: ChangeListener) => {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const devices = {
    async list(page: Parameters<typeof storage.devices.list>[0]) {
      reads += page.limit;
      if (fails) throw new Error('the database is away');
      return storage.devices.list(page);
    },
  };
  const budgets = createBudgets(longWorkMax === undefined ? {} : { long_reads: longWorkMax });
  const access = { settings: { publicPush: 'granted' } } as const;
  const readable = createReadable({
    ...{ index, devices, grants: storage.grants, access, changes },
    longWork: createLongWork(budgets),
  });
  const listOf = async (actor: Actor) => {
    const listed = (await readable.rulesOf(actor)).map(({ notification }) => notification);
    const single: string[] = [];
    for (const { notification } of index.all()) {
      if (await readable.may(actor, notification)) single.push(notification.id);
    }
    const ids = listed.map(({ id }): string => id);
    assert.deepEqual(ids, single, 'a list shows what can be read one by one');
    return ids;
  };
  const change = async (id: string, visibility: 'public' | 'private') => {
    await storage.devices.update(deviceId(id), { visibility }, 1);
    for (const listener of listeners) {
      await listener({ kind: 'device_changed', deviceId: deviceId(id) });
    }
  };
  return { named, listOf, readable, change, reads: () => reads, fail: () => (fails = true) };
}

test('one reads what one made, and what names nothing that is hidden from one', async () => {
  const { named, listOf } = await start();
  assert.deepEqual(await listOf(person('ana')), named);
  assert.deepEqual(await listOf({ ...person('root'), kind: 'admin' as const }), named);
  assert.deepEqual(await listOf(person('bob')), ['open', 'granted', 'open granted gone']);
  assert.deepEqual(await listOf(person('eve')), ['open']);
  assert.deepEqual(await listOf({ kind: 'guest' }), ['open']);
});

test('what hides a device hides its rules at once, and others are not asked for', async () => {
  const { listOf, change, reads } = await start();
  assert.deepEqual(await listOf(person('eve')), ['open']);
  await change('open', 'private');
  assert.deepEqual(await listOf(person('eve')), []);
  await change('open', 'public');
  await change('hidden', 'public');
  const before = reads();
  assert.deepEqual(await listOf(person('eve')), ['open', 'hidden', 'open hidden']);
  const first = reads() - before;
  await listOf(person('eve'));
  // A device that is gone is asked for each time.
  assert.ok(reads() - before - first < first, `${first}, then ${reads() - before - first}`);
});

test('readers that wait for one read of a device all hear that it failed', async () => {
  const { readable, named, fail } = await start();
  fail();
  const rule = aNotification('open', { condition: { devices: [deviceId('open')] } as never });
  assert.ok(named.includes('open'));
  const asked = ['eve', 'bob'].map((who) => readable.may(person(who), rule));
  const outcomes = await Promise.allSettled(asked);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  // A rejection that nobody heard would end the process.
  await new Promise((resolve) => setImmediate(resolve));
});

test('whoever asks for a list pays for the search', async () => {
  const { readable } = await start(8);
  await assert.rejects(readable.rulesOf({ kind: 'guest' }), { code: 'rate_limited' });
  assert.equal((await readable.rulesOf({ ...person('root'), kind: 'admin' })).length, 7);
});
