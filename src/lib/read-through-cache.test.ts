import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLruCache, createReadThroughCache } from './cache.ts';

/** A source whose reads the test ends one by one. */
function aSource(isCurrent?: (readAt: number) => boolean) {
  const reads: PromiseWithResolvers<string>[] = [];
  const read = (): Promise<string> => {
    const one = Promise.withResolvers<string>();
    reads.push(one);
    return one.promise;
  };
  const options = { entriesMax: 10, ...(isCurrent && { isCurrent }) };
  return { reads, read, cache: createReadThroughCache<string, string>(options) };
}

test('a value is read once for all who ask, and then at hand', async () => {
  const { reads, read, cache } = aSource();
  assert.equal(cache.peek('k'), undefined);
  const asked = [cache.get('k', read), cache.get('k', read)];
  reads[0]?.resolve('one');
  assert.deepEqual(await Promise.all(asked), ['one', 'one']);
  assert.equal(cache.peek('k'), 'one');
  assert.equal(await cache.get('k', read), 'one');
  assert.equal(reads.length, 1);
});

for (const how of ['forget', 'clear'] as const) {
  test(`a read that races with a change does not put the old value back: ${how}`, async () => {
    const { reads, read, cache } = aSource();
    const early = cache.get('k', read);
    if (how === 'forget') cache.forget('k');
    else cache.clear();
    const late = cache.get('k', read);
    reads[1]?.resolve('new');
    assert.equal(await late, 'new');
    reads[0]?.resolve('old');
    assert.equal(await early, 'old');
    assert.equal(cache.peek('k'), 'new');
  });
}

test('a read that began too long ago is not joined, and does not put its value back', async () => {
  let currentFrom = 0;
  const { reads, read, cache } = aSource((readAt) => readAt >= currentFrom);
  const early = cache.get('k', read);
  currentFrom = performance.now() + 0.001;
  while (performance.now() < currentFrom);
  const late = cache.get('k', read);
  reads[1]?.resolve('new');
  assert.equal(await late, 'new');
  reads[0]?.resolve('old');
  assert.equal(await early, 'old');
  assert.equal(cache.peek('k'), 'new');
});

test('a read that fails is no value, and the next one asks again', async () => {
  const { reads, read, cache } = aSource();
  const failing = cache.get('k', read);
  reads[0]?.reject(new Error('the disk'));
  await assert.rejects(failing, /the disk/);
  const again = cache.get('k', read);
  reads[1]?.resolve('one');
  assert.equal(await again, 'one');
});

test('what is kept weighs at most so much, and what weighs too much is not kept', () => {
  const weigh = (value: string): number => value.length;
  const cache = createLruCache<number, string>(1_000, { max: 100, weigh });
  let kept = 0;
  for (let key = 0; key < 100; key += 1) cache.set(key, 'x'.repeat(10));
  for (let key = 0; key < 100; key += 1) kept += cache.get(key)?.length ?? 0;
  assert.ok(kept <= 100 && kept >= 50, `${kept}`);
  assert.equal(cache.get(99)?.length, 10);
  cache.set(99, 'x'.repeat(60));
  assert.equal(cache.get(99), undefined);
});
