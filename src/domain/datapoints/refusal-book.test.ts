import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createRefusalBook, type NewRefusal } from './refusal-book.ts';

const limits = { perPageMax: 3, bytesPerOwnerMax: 4_000, bytesMax: 10_000 };

const aRefusal = (sensorId: string, at = 0): NewRefusal => ({
  ...{ at, problem: 'unknown_sensor', via: 'http', deviceId: 'pond', sensorId },
});

test('what is alike is counted, and hides nothing else', () => {
  const book = createRefusalBook(limits);
  book.write('ama', 'pond', aRefusal('a'));
  for (let at = 1; at <= 500; at += 1) book.write('Ama', 'pond', aRefusal('b', at));
  const seen = book.read('ama', 'pond').map(({ sensorId, count, at }) => [sensorId, count, at]);
  assert.deepEqual(seen, [
    ['a', 1, 0],
    ['b', 500, 500],
  ]);
});

test('a page keeps the last ones', () => {
  const book = createRefusalBook(limits);
  for (const id of ['a', 'b', 'c', 'd']) book.write('ama', 'pond', aRefusal(id));
  const ids = book.read('ama', 'pond').map(({ sensorId }) => sensorId);
  assert.deepEqual(ids, ['b', 'c', 'd']);
});

test('an owner who fills a shelf forgets the own oldest pages, nobody else’s', () => {
  const book = createRefusalBook(limits);
  book.write('kofi', 'well', aRefusal('a'));
  for (let number = 0; number < 100; number += 1) book.write('ama', `p${number}`, aRefusal('a'));
  assert.equal(book.read('ama', 'p0').length, 0);
  assert.equal(book.read('ama', 'p99').length, 1);
  assert.equal(book.read('kofi', 'well').length, 1);
});

test('whatever is written, it stays within its bytes, and counts them right', () => {
  const id = fc.string({ maxLength: 256 });
  const write = fc.tuple(fc.string({ minLength: 1, maxLength: 3 }), id, id);
  fc.assert(
    fc.property(fc.array(write, { maxLength: 200 }), (writes) => {
      const book = createRefusalBook(limits);
      for (const [owner, page, sensor] of writes) {
        book.write(owner, page, aRefusal(sensor));
        assert.ok(book.bytes <= limits.bytesMax);
      }
      const kept = writes.some(([owner, page]) => book.read(owner, page).length > 0);
      assert.equal(book.bytes > 0, kept);
    }),
  );
});
