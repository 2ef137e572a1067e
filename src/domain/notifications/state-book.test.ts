import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviceId, noon } from '../../../test/contract/storage/builders.ts';
import { aNotification } from '../../../test/contract/storage/notifications.contract.ts';
import { silentLog } from '../../lib/log.ts';
import type { StateChange } from './notification-store.ts';
import { createStateBook } from './state-book.ts';

const { id } = aNotification('n');
const d = deviceId('d');
const raised = { device: { isRaised: true }, lastFiredAt: noon } as const;

function openBook() {
  const saved: (readonly StateChange[])[] = [];
  let isFull = false;
  const book = createStateBook({
    store: {
      async saveStates(states) {
        if (isFull) throw new Error('the disk is full');
        saved.push(states);
      },
    },
    log: silentLog,
  });
  book.open(id);
  const fill = (full: boolean) => {
    isFull = full;
  };
  return { book, saved, fill };
}

test('a firing on its way is seen by the next look, and applied when it is stored', () => {
  const { book } = openBook();
  const proposal = book.propose(id, d, raised);
  assert.deepEqual(book.peek(id, d), raised);
  proposal.apply();
  assert.deepEqual(book.peek(id, d), raised);
});

test('one that did not come about leaves no trace, and tells of the window of another', () => {
  const { book } = openBook();
  book.propose(id, d, raised).drop();
  assert.deepEqual(book.peek(id, d), { device: {} });
  book.propose(id, d, raised).drop(noon - 5);
  assert.deepEqual(book.peek(id, d), { device: {}, lastFiredAt: noon - 5 });
});

test('of two on their way either may fail', () => {
  const { book } = openBook();
  const [first, second] = [book.propose(id, d, raised), book.propose(id, d, { device: {} })];
  first.drop();
  assert.deepEqual(book.peek(id, d).device, {});
  second.apply();
});

test('what follows a firing on its way is saved after it, and the last alone', async () => {
  const { book, saved } = openBook();
  const proposal = book.propose(id, d, raised);
  book.set(id, d, { holdsSince: 1 });
  book.set(id, d, { holdsSince: 2 });
  await book.save();
  assert.deepEqual(saved, []);
  proposal.apply();
  await book.save();
  assert.deepEqual(saved, [[{ notificationId: id, deviceId: d, state: { holdsSince: 2 } }]]);
  await book.save();
  assert.equal(saved.length, 1);
});

test('what could not be saved is saved later', async () => {
  const { book, saved, fill } = openBook();
  book.set(id, d, { holdsSince: 1 });
  fill(true);
  await book.save();
  fill(false);
  await book.save();
  assert.equal(saved.length, 1);
});

test('of a rule that went nothing is kept, whatever comes of its firings', async () => {
  const { book, saved } = openBook();
  const proposal = book.propose(id, d, raised);
  book.set(id, d, { holdsSince: 1 });
  book.forget(id);
  proposal.apply();
  assert.deepEqual(book.peek(id, d), { device: {} });
  await book.save();
  assert.ok(saved.length <= 1, 'the store drops what is left of it');
});
