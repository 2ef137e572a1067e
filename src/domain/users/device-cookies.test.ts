import assert from 'node:assert/strict';
import { test } from 'node:test';
import { userId } from '../../../test/contract/storage/builders.ts';
import { createDeviceCookies } from './logins.ts';

test('a cookie is recognised for its account, and for no other, however it is bent', () => {
  const cookies = createDeviceCookies('secret');
  const [ana, bob] = [userId('ana'), userId('bob')];
  const cookie = cookies.issue(ana);
  assert.match(cookies.recognise(cookie, [bob, ana]) ?? '', /^device\//);
  assert.equal(cookies.recognise(cookie, [bob]), undefined);
  assert.equal(cookies.recognise(cookie, []), undefined);
  assert.equal(createDeviceCookies('other').recognise(cookie, [ana]), undefined);
  const [nonce, signature] = cookie.split('.');
  for (const bent of [undefined, '', '.', `x${cookie}`, `${nonce}.`, `${signature}.${nonce}`]) {
    assert.equal(cookies.recognise(bent, [ana]), undefined, bent);
  }
});
