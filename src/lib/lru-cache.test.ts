import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLruCache } from './cache.ts';

test('the entry used longest ago goes first, one at a time', () => {
  const cache = createLruCache<number, string>(3);
  for (const key of [1, 2, 3]) cache.set(key, `${key}`);
  assert.equal(cache.get(1), '1');
  cache.set(4, '4');
  assert.deepEqual(
    [1, 2, 3, 4].map((key) => cache.get(key)),
    ['1', undefined, '3', '4'],
  );
  assert.equal(cache.size, 3);
  cache.delete(3);
  cache.clear();
  assert.equal(cache.size, 0);
});

test('an entry that is asked for again and again is the one of the last change', () => {
  const cache = createLruCache<string, number>(2, { max: 4, weigh: (value) => value });
  cache.set('a', 1);
  const askTwice = (key: string) => [cache.get(key), cache.get(key)];
  assert.deepEqual(askTwice('a'), [1, 1]);
  cache.set('a', 2);
  assert.deepEqual(askTwice('a'), [2, 2]);
  cache.set('b', 2);
  assert.deepEqual(askTwice('a'), [2, 2]);
  // Used last, it stays, and the other one goes.
  cache.set('c', 1);
  assert.deepEqual([...askTwice('b'), ...askTwice('a')], [undefined, undefined, 2, 2]);
  // Too heavy to be kept.
  cache.set('a', 3);
  assert.deepEqual(askTwice('a'), [undefined, undefined]);
  cache.set('a', 1);
  assert.deepEqual(askTwice('a'), [1, 1]);
  cache.delete('a');
  assert.deepEqual(askTwice('a'), [undefined, undefined]);
  assert.deepEqual(askTwice('c'), [1, 1]);
  cache.clear();
  assert.deepEqual(askTwice('c'), [undefined, undefined]);
});

test('a cache that grows beyond its first entries keeps them, their order and their weight', () => {
  const weigh = (value: number) => value;
  const cache = createLruCache<number, number>(100, { max: 1_000, weigh });
  for (let key = 0; key < 32; key += 1) cache.set(key, 10);
  cache.get(0);
  for (let key = 32; key < 100; key += 1) cache.set(key, 10);
  assert.equal(cache.size, 100);
  // Full by number: 1 is the one used longest ago, as 0 was asked for.
  cache.set(100, 10);
  assert.deepEqual([cache.get(1), cache.get(0), cache.size], [undefined, 10, 100]);
  // Full by weight: five go for one that weighs as much as they.
  cache.set(101, 50);
  assert.equal(cache.size, 96);
});

/** How many of a walk round so many entries are found, each time anew. */
function walk(cache: ReturnType<typeof createLruCache<number, number>>, entries: number): number {
  let found = 0;
  for (let key = 0; key < entries; key += 1) {
    if (cache.get(key) !== undefined) found += 1;
    cache.set(key, key);
  }
  return found;
}

test('a walk round more than a cache holds finds a part of it', () => {
  const weight = { max: 1_000, weigh: () => 10 };
  const [whole, parts] = [{}, { keptOf: 8 }].map((also) =>
    createLruCache<number, number>(10_000, { ...weight, ...also }),
  );
  if (whole === undefined || parts === undefined) throw new Error('no caches');
  for (const cache of [whole, parts]) assert.deepEqual([walk(cache, 90), walk(cache, 90)], [0, 90]);
  for (const cache of [whole, parts]) walk(cache, 110);
  assert.equal(walk(whole, 110), 0);
  const found = walk(parts, 110);
  assert.ok(found >= 80, `${found} found`);
  assert.equal(parts.size, 100);
});

test('what is asked for often replaces what nobody asks for, in a full cache, too', () => {
  const cache = createLruCache<number, number>(10_000, { max: 100, weigh: () => 10, keptOf: 8 });
  walk(cache, 10);
  for (let round = 0; round < 300; round += 1) {
    for (let key = 100; key < 108; key += 1) {
      if (cache.get(key) === undefined) cache.set(key, key);
    }
  }
  for (let key = 100; key < 108; key += 1) assert.equal(cache.get(key), key);
});
