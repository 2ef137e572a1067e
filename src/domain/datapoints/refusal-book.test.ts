import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Payer, payerAt, payerOfAccount } from '../budgets/budget.ts';
import { createRefusalBook, type NewRefusal, type RefusedPush } from './refusal-book.ts';

const limits = {
  perSheetMax: 3,
  sheetsPerPageMax: 4,
  bytesPerSenderMax: 4_000,
  bytesMax: 10_000,
};

const aRefusal = (sensorId: string, at = 0): NewRefusal => ({
  ...{ at, problem: 'unknown_sensor', via: 'http', deviceId: 'pond', sensorId },
});

const ama = { payer: payerOfAccount('ama'), isOwner: true };
const stranger = (number: number) => ({ payer: payerAt(`10.0.0.${number}`), isOwner: false });
const sensors = (refusals: readonly RefusedPush[]) => refusals.map(({ sensorId }) => sensorId);

test('what is alike is counted, and hides nothing else', () => {
  const book = createRefusalBook(limits);
  book.write('ama', 'pond', ama, aRefusal('a'));
  for (let at = 1; at <= 500; at += 1) book.write('Ama', 'pond', ama, aRefusal('b', at));
  const seen = book.read('ama', 'pond').own.map(({ sensorId, count, at }) => [sensorId, count, at]);
  assert.deepEqual(seen, [
    ['a', 1, 0],
    ['b', 500, 500],
  ]);
});

test('a sheet keeps the last ones', () => {
  const book = createRefusalBook(limits);
  for (const id of ['a', 'b', 'c', 'd']) book.write('ama', 'pond', ama, aRefusal(id));
  assert.deepEqual(sensors(book.read('ama', 'pond').own), ['b', 'c', 'd']);
});

test('a stranger hides neither what the owner was refused for, nor what another was', () => {
  const book = createRefusalBook(limits);
  book.write('ama', 'pond', ama, aRefusal('own', 1));
  book.write('ama', 'pond', stranger(1), aRefusal('other', 2));
  for (let at = 3; at < 500; at += 1) {
    book.write('ama', 'pond', stranger(2), aRefusal(`s${at}`, at));
    book.write('ama', `pond-${at}`, stranger(2), aRefusal('s', at));
  }
  const { own, others } = book.read('ama', 'pond');
  assert.deepEqual(sensors(own), ['own']);
  assert.deepEqual(sensors(others).slice(0, 1), ['other']);
  for (let number = 3; number < 60; number += 1) {
    book.write('ama', 'pond', stranger(number), aRefusal('s', 500 + number));
  }
  assert.deepEqual(sensors(book.read('ama', 'pond').own), ['own']);
  assert.equal(book.read('ama', 'pond').others.length, limits.sheetsPerPageMax);
});

test('a sender who fills the own room forgets the own oldest sheets, nobody else’s', () => {
  const book = createRefusalBook(limits);
  book.write('kofi', 'well', { payer: payerOfAccount('kofi'), isOwner: true }, aRefusal('a'));
  for (let at = 0; at < 100; at += 1) book.write('ama', `p${at}`, ama, aRefusal('a'));
  assert.equal(book.read('ama', 'p0').own.length, 0);
  assert.equal(book.read('ama', 'p99').own.length, 1);
  assert.equal(book.read('kofi', 'well').own.length, 1);
});

test('many senders who fill the book forget their own before those who wrote little', () => {
  const book = createRefusalBook(limits);
  book.write('kofi', 'well', { payer: payerOfAccount('kofi'), isOwner: true }, aRefusal('a'));
  for (let at = 0; at < 300; at += 1) {
    book.write('ama', `p${at}`, stranger(at % 5), aRefusal('a'));
  }
  assert.equal(book.read('kofi', 'well').own.length, 1);
});

test('whatever is written, it stays within its bytes, and counts them right', () => {
  const id = fc.string({ maxLength: 256 });
  const payer = fc.constantFrom<Payer>('account/a', 'account/b', 'address/c', 'address/d');
  const name = fc.string({ minLength: 1, maxLength: 3 });
  const write = fc.tuple(name, id, id, payer, fc.boolean());
  fc.assert(
    fc.property(fc.array(write, { maxLength: 200 }), (writes) => {
      const book = createRefusalBook(limits);
      for (const [owner, page, sensor, by, isOwner] of writes) {
        book.write(owner, page, { payer: by, isOwner }, aRefusal(sensor));
        assert.ok(book.bytes <= limits.bytesMax);
      }
      const kept = writes.some(([owner, page]) => {
        const { own, others } = book.read(owner, page);
        return own.length + others.length > 0;
      });
      assert.equal(book.bytes > 0, kept);
    }),
  );
});
