import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLastKnown } from './last-known.ts';

function browserWith(charactersMax = Number.POSITIVE_INFINITY) {
  const texts = new Map<string, string>();
  const size = (): number => [...texts.values()].reduce((sum, { length }) => sum + length, 0);
  const store = {
    texts,
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, text: string) => {
      if (size() + text.length > charactersMax) throw new Error('full');
      texts.set(key, text);
    },
    removeItem: (key: string) => void texts.delete(key),
  };
  // Keys of a browser's store are listed among its properties.
  return new Proxy(store, {
    ownKeys: () => [...texts.keys()],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  });
}

test('what was known is read back with when that was', async () => {
  const known = createLastKnown(browserWith());
  known.write('home', { value: [1, 2], at: 5 });
  assert.deepEqual(await known.read('home'), { value: [1, 2], at: 5 });
  assert.equal(await known.read('other'), undefined);
});

test('the oldest goes when there are too many', async () => {
  const known = createLastKnown(browserWith());
  for (let n = 0; n < 41; n += 1) known.write(`key ${n}`, { value: n, at: n });
  assert.equal(await known.read('key 0'), undefined);
  assert.equal((await known.read('key 1'))?.value, 1);
  assert.equal((await known.read('key 40'))?.value, 40);
});

test('together they stay below the limit of characters', async () => {
  const browser = browserWith();
  const known = createLastKnown(browser);
  for (let n = 0; n < 10; n += 1) known.write(`key ${n}`, { value: 'x'.repeat(300_000), at: n });
  const total = [...browser.texts.values()].reduce((sum, { length }) => sum + length, 0);
  assert.ok(total < 1_600_000);
  assert.equal(await known.read('key 0'), undefined);
  assert.notEqual(await known.read('key 9'), undefined);
});

test('one answer that is too large is not kept', async () => {
  const known = createLastKnown(browserWith());
  known.write('large', { value: 'x'.repeat(1_000_000), at: 1 });
  assert.equal(await known.read('large'), undefined);
});

test('a full browser keeps what it has', async () => {
  const known = createLastKnown(browserWith(200));
  known.write('small', { value: 1, at: 1 });
  known.write('large', { value: 'x'.repeat(500), at: 2 });
  assert.equal((await known.read('small'))?.value, 1);
});

test('whoever leaves takes everything along, and nothing else', () => {
  const browser = browserWith();
  browser.texts.set('kipimo.theme', 'dark');
  const known = createLastKnown(browser);
  known.write('home', { value: 1, at: 1 });
  known.forget();
  assert.deepEqual([...browser.texts.keys()], ['kipimo.theme']);
});

test('a broken index is an empty one', async () => {
  const browser = browserWith();
  browser.texts.set('kipimo.known', '{');
  const known = createLastKnown(browser);
  known.write('home', { value: 1, at: 1 });
  assert.equal((await known.read('home'))?.value, 1);
});
