import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayBeLonger, queryOf, readView, viewPath } from './user-view.ts';

test('a view is read from its address again', () => {
  for (const view of [
    { text: '', show: 'all', pages: 1 },
    { text: 'fatou diop', show: 'quarter', pages: 3 },
  ] as const) {
    const query = new URLSearchParams(viewPath(view).split('?')[1]);
    assert.deepEqual(readView(Object.fromEntries(query)), view);
  }
  assert.deepEqual(readView({ show: 'constructor', pages: '-4' }), readView({}));
  assert.equal(readView({ pages: '9999' }).pages, 20);
  assert.equal(mayBeLonger(readView({ pages: '9999' })), false);
});

test('the service is asked for who was inactive for so many days, by whole days', () => {
  const now = Date.UTC(2026, 10, 26, 17, 30);
  const of = (show: string) => queryOf(readView({ show }), now);
  assert.deepEqual(of('month'), {
    limit: 50,
    text: '',
    inactive_since: '2026-10-27T00:00:00.000Z',
  });
  assert.deepEqual(of('never'), { limit: 50, text: '', logged_in: 'false' });
  assert.deepEqual(of('admins'), { limit: 50, text: '', role: 'admin' });
  assert.deepEqual(of('locked'), { limit: 50, text: '', disabled: 'true' });
  assert.deepEqual(of('all'), { limit: 50, text: '' });
});
