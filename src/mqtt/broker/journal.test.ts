// In a process of its own: it changes the timers.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settled } from '../../../test/mqtt/memory-peer.ts';
import { type Budget, payerOfAccount } from '../../domain/budgets/budget.ts';
import { createBudgets } from '../../domain/budgets/budgets.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type { SessionChange } from '../../domain/messaging/session-store.ts';
import { silentLog } from '../../lib/log.ts';
import { Delivery } from './delivery.ts';
import { createJournal } from './journal.ts';

const ann = payerOfAccount('ann');
const aRoom = (total = 100_000): Budget =>
  createBudgets({ mqtt_store_changes: total }).of('mqtt_store_changes');
const key: SessionKey = sessionKey('x', 'y');
const aChange = (packetId: number): SessionChange => ({ kind: 'settled', key, packetId });

/** A store whose steps end when the test says so. */
function slowStore() {
  const steps: { readonly ids: readonly number[]; readonly done: PromiseWithResolvers<void> }[] =
    [];
  return {
    steps,
    load: async () => ({ sessions: [], retained: [] }),
    apply(changes: readonly SessionChange[]) {
      const ids = changes.flatMap((change) => (change.kind === 'settled' ? [change.packetId] : []));
      const done = Promise.withResolvers<void>();
      steps.push({ ids, done });
      return done.promise;
    },
  };
}

test('changes of one turn are one step, and those that come meanwhile are the next', async () => {
  const store = slowStore();
  const journal = createJournal({ store, room: aRoom(), log: silentLog });
  assert.equal(journal.synced(), undefined);
  for (const id of [1, 2]) journal.add(aChange(id), ann);
  await settled();
  for (const id of [3, 4]) journal.add(aChange(id), ann);
  let isSynced = false;
  const synced = journal.synced()?.then(() => {
    isSynced = true;
  });
  await settled();
  assert.deepEqual(
    store.steps.map(({ ids }) => ids),
    [[1, 2]],
  );
  store.steps[0]?.done.resolve();
  await settled();
  assert.equal(isSynced, false);
  store.steps[1]?.done.resolve();
  await synced;
  assert.deepEqual(store.steps[1]?.ids, [3, 4]);
  assert.equal(journal.synced(), undefined);
});

test('a journal gives up on a store that keeps failing at its end, not before', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let attempts = 0;
  const store = {
    load: async () => ({ sessions: [], retained: [] }),
    apply: async () => {
      attempts += 1;
      throw new Error('the disk is full');
    },
  };
  const journal = createJournal({ store, room: aRoom(), log: silentLog });
  journal.add(aChange(1), ann);
  for (let round = 0; round < 8; round += 1) {
    await settled();
    t.mock.timers.tick(1_000);
  }
  assert.ok(attempts > 3);
  assert.notEqual(journal.synced(), undefined);
  const finished = journal.finish();
  await settled();
  t.mock.timers.tick(1_000);
  await finished;
});

test('changes that wait for a slow store are the room of whoever makes them', async () => {
  const store = slowStore();
  const room = aRoom(10_000);
  const journal = createJournal({ store, room, log: silentLog });
  for (let id = 0; id < 3_000; id += 1) journal.add(aChange(id), ann);
  assert.equal(journal.hasRoomFor(ann), false);
  assert.equal(journal.hasRoomFor(payerOfAccount('ben')), true);
  await settled();
  for (const { done } of store.steps) done.resolve();
  await settled();
  assert.deepEqual([room.used, journal.hasRoomFor(ann)], [0, true]);
});

test('messages that are being decided about hold up nobody else', async () => {
  const journal = createJournal({ store: slowStore(), room: aRoom(), log: silentLog });
  const decision = Promise.withResolvers<void>();
  journal.hold(decision.promise, ann);
  assert.equal(journal.synced(payerOfAccount('ben')), undefined, 'others wait');
  assert.equal(journal.synced(), undefined, 'others wait');
  const synced = journal.synced(ann);
  assert.notEqual(synced, undefined);
  decision.resolve();
  await synced;
});

test('a message for many sessions pays for each row', async () => {
  const journal = createJournal({ store: slowStore(), room: aRoom(4_000), log: silentLog });
  const message = { topic: 't', payload: Buffer.from('1'), qos: 1, retain: false } as const;
  const delivery = new Delivery(message, 0);
  for (let packetId = 1; packetId <= 3_000; packetId += 1) {
    const terms = { qos: 1, retain: false, identifiers: [] } as const;
    delivery.record({ key, packetId, ...terms }, ann, journal);
  }
  assert.equal(journal.hasRoomFor(ann), false, 'there is still room');
});
