import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSessionStore, sessionKey, type TextStore } from './session-store.ts';

function memoryStore(): TextStore & { readonly texts: Map<string, string> } {
  const texts = new Map<string, string>();
  return {
    texts,
    getItem: (key) => texts.get(key) ?? null,
    setItem: (key, text) => void texts.set(key, text),
    removeItem: (key) => void texts.delete(key),
  };
}

const session = { token: 't', username: 'ama', obtainedAt: 5 };

test('a session is read back, also by another store on the same place', () => {
  const place = memoryStore();
  createSessionStore(place).write(session);
  assert.deepEqual(createSessionStore(place).read(), session);
});

test('a cleared session is gone', () => {
  const store = createSessionStore(memoryStore());
  store.write(session);
  store.clear();
  assert.equal(store.read(), undefined);
});

for (const text of ['', '{', 'null', '{"token":5}', '[]', '{"username":"ama"}']) {
  test(`${JSON.stringify(text)} where the session should be is no session`, () => {
    const place = memoryStore();
    place.texts.set(sessionKey, text);
    assert.equal(createSessionStore(place).read(), undefined);
  });
}

test('owed logouts are read back, and of other texts there are none', () => {
  const place = memoryStore();
  const owed = [{ token: 't', remembered: true as const }, { token: 'u' }];
  createSessionStore(place).setOwed(owed);
  assert.deepEqual(createSessionStore(place).owed(), owed);
  for (const text of ['null', '[]', '[{}]', '{"token":"t"}', '[{"token":5}]']) {
    place.texts.set('kipimo.owed-logouts', text);
    assert.deepEqual(createSessionStore(place).owed(), [], text);
  }
});

test('a browser that keeps nothing has the session as long as the page', () => {
  const refuse = (): never => {
    throw new Error('forbidden');
  };
  const store = createSessionStore({ getItem: refuse, setItem: refuse, removeItem: refuse });
  store.write(session);
  assert.deepEqual(store.read(), session);
  store.clear();
  assert.equal(store.read(), undefined);
});
