// In a process of its own: it changes fetch.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askEarly, nowOrStart, takeEarly } from '../api/early-answers.ts';
import { firstReads } from './first-reads.ts';

const page = { search: '', username: 'ama', widthPx: 390, now: Date.parse('2026-03-20T12:00:00Z') };

test('a screen is asked for by what it shows first, and others by nothing', () => {
  const reads = (path: string, more = {}) => firstReads({ ...page, path, ...more });
  assert.deepEqual(reads('/'), [
    '/devices?q=owner%3D%3D%27ama%27&limit=48&meta=short',
    '/notifications?owner=ama&sort=dsc&limit=1000',
  ]);
  assert.deepEqual(reads('/', { username: undefined }), []);
  assert.equal(reads('/devices/a%20b').length, 2);
  assert.equal(reads('/devices/a%20b')[0], '/devices/a%20b');
  assert.deepEqual(reads('/devices/x', { widthPx: 1_440 }), ['/devices/x']);
  for (const path of ['/devices/%', '/devices/x/settings', '/alerts', '/devices/']) {
    assert.deepEqual(reads(path), [], path);
  }
});

test('an early answer is for the same user, once', async () => {
  const asked: string[] = [];
  const original = globalThis.fetch;
  globalThis.fetch = async (input) => {
    asked.push(String(input));
    return new Response('{}');
  };
  try {
    const session = { token: 'token of ama', username: 'ama', obtainedAt: 0 };
    askEarly({ urls: ['/api/v2/devices/x'], session, now: 1_000, tokenLifeMs: 600_000 });
    assert.deepEqual([nowOrStart(9_000), nowOrStart(99_000)], [1_000, 99_000]);
    const own = { headers: { authorization: 'Bearer token of ama' } };
    assert.equal(takeEarly('/api/v2/devices/x', {}), undefined);
    assert.equal(takeEarly('/api/v2/devices/x', { ...own, method: 'DELETE' }), undefined);
    assert.equal(takeEarly('/api/v2/devices/y', own), undefined);
    assert.equal((await takeEarly('/api/v2/devices/x', own))?.status, 200);
    assert.equal(takeEarly('/api/v2/devices/x', own), undefined);
    assert.deepEqual(asked, ['/api/v2/devices/x']);
  } finally {
    globalThis.fetch = original;
    globalThis.kipimoEarly = undefined;
  }
});

test('a token that is due is renewed first, by the cookie once it has ended', async () => {
  const original = globalThis.fetch;
  const renew = '/api/v2/auth/renew';
  const url = '/api/v2/devices/x';
  for (const [ageMs, remembered, by] of [
    [400_000, true, 'Bearer old'],
    [700_000, undefined, 'Bearer old'],
    [700_000, true, undefined],
  ] as const) {
    const asked: unknown[] = [];
    globalThis.fetch = async (input, init) => {
      const authorization = new Headers(init?.headers).get('authorization') ?? undefined;
      asked.push([input, init?.method ?? 'GET', authorization, init?.credentials]);
      return new Response(input === renew ? 'fresh' : '{}');
    };
    try {
      const login = { token: 'old', username: 'ama', obtainedAt: 0 };
      const session = { ...login, ...(remembered === true && { remembered }) };
      askEarly({ urls: [url], session, now: ageMs, tokenLifeMs: 600_000 });
      const post = { method: 'POST', headers: by === undefined ? {} : { authorization: by } };
      assert.equal(takeEarly(renew, { ...post, method: 'GET' }), undefined);
      assert.equal(await (await takeEarly(renew, post))?.text(), 'fresh');
      const own = { headers: { authorization: 'Bearer fresh' } };
      assert.equal((await takeEarly(url, own))?.status, 200);
      assert.deepEqual(asked, [
        [renew, 'POST', by, 'same-origin'],
        [url, 'GET', 'Bearer fresh', 'omit'],
      ]);
    } finally {
      globalThis.fetch = original;
      globalThis.kipimoEarly = undefined;
    }
  }
});
