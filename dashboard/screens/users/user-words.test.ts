import assert from 'node:assert/strict';
import { test } from 'node:test';
import { creditOf } from './user-words.ts';

test('a credit is a whole number, or nothing for no limit', () => {
  assert.equal(creditOf(' 12 '), 12);
  assert.equal(creditOf('0'), 0);
  assert.equal(creditOf(''), 'unlimited');
  for (const text of ['-1', '1.5', 'many', '1e3', '99999999999999999999']) {
    assert.equal(creditOf(text), undefined, text);
  }
});
