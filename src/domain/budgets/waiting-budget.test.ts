import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget, createWaitingBudget, type Payer, payerAt, payerOfAccount } from './budget.ts';

/** A budget of 100 bytes: 20 at an address, 40 of all guests, 50 of an account. */
function open() {
  const budget = new Budget('request_bytes', {
    ...{ what: 'heads', unit: 'bytes', total: 100, perAccount: 50, perAddress: 20, guests: 40 },
    ...{ floor: 10, answer: 'rate', refused: '' },
  });
  const room = createWaitingBudget(budget);
  const ended: string[] = [];
  const place = (name: string, payer: Payer) =>
    room.place({ payerOf: () => payer, end: () => ended.push(name) });
  return { budget, ended, place };
}

test('who waits for longest at an address makes room for who comes there', () => {
  const { budget, ended, place } = open();
  const [first, second, third] = ['1', '2', '3'].map((name) => place(name, payerAt('192.0.2.1')));
  const other = place('other', payerAt('192.0.2.2'));
  assert.ok(other.hold(20));
  assert.ok(first?.hold(8));
  assert.ok(second?.hold(8));
  // A slow head keeps its position in the queue.
  assert.ok(first?.hold(9));
  assert.ok(third?.hold(8));
  assert.deepEqual(ended, ['1']);
  // A connection that begins anew is the newest.
  assert.ok(second?.hold(0));
  assert.ok(second?.hold(8));
  assert.ok(first?.hold(8));
  assert.deepEqual(ended, ['1', '3']);
  assert.equal(budget.used, 36);
  for (const one of [first, second, third, other]) assert.ok(one?.hold(0));
  assert.equal(budget.used, 0);
});

test('where all guests have no more, the guest that waits for longest ends', () => {
  const { budget, ended, place } = open();
  const guests = Array.from({ length: 6 }, (_, at) => place(`${at}`, payerAt(`192.0.2.${at}`)));
  const owner = place('owner', payerOfAccount('ann'));
  assert.ok(owner.hold(50));
  for (const guest of guests) assert.ok(guest.hold(10));
  assert.deepEqual(ended, ['0', '1']);
  assert.equal(budget.usedByGuests, 40);
  // An account that needs more than its floor takes it from guests first.
  assert.ok(place('other', payerOfAccount('bob')).hold(20));
  assert.deepEqual(ended, ['0', '1', '2']);
});

test('where accounts use all, who uses most makes room for a guest', () => {
  const { budget, ended, place } = open();
  for (const [owner, names] of Object.entries({ ann: '1234', bob: '56789', cy: 'a' })) {
    for (const name of names) assert.ok(place(name, payerOfAccount(owner)).hold(10));
  }
  const guest = place('guest', payerAt('192.0.2.1'));
  assert.ok(guest.hold(5));
  // A guest that adds more is not refused for it, either; the next one waits behind it.
  assert.ok(guest.hold(15));
  assert.deepEqual(ended, ['5', '1']);
  assert.ok(place('next', payerAt('192.0.2.2')).hold(15));
  assert.deepEqual([budget.used, ended], [95, ['5', '1', 'guest']]);
});

test('what accounts have beyond the total ends bit by bit', () => {
  const { ended, place } = open();
  for (let at = 0; at < 500; at += 1) assert.ok(place('', payerOfAccount(`${at}`)).hold(10));
  assert.equal(place('guest', payerAt('192.0.2.1')).hold(5), false);
  assert.ok(ended.length > 0 && ended.length <= 100, `${ended.length} ended`);
});

test('what is larger than its share has no room, and is not counted', () => {
  const { budget, ended, place } = open();
  const one = place('one', payerAt('192.0.2.1'));
  assert.ok(one.hold(15));
  assert.equal(one.hold(21), false);
  assert.deepEqual([budget.used, ended], [0, []]);
});
