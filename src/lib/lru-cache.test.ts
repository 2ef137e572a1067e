import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLruCache } from './lru-cache.ts';

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
