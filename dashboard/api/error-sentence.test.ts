import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Translate } from '../i18n/formats.ts';
import { ApiError } from './api-error.ts';
import { errorSentence } from './error-sentence.ts';

const t: Translate = (key, params) => (params === undefined ? key : `${key} ${params['count']}`);
const error = (code: string, more: object = {}): ApiError =>
  new ApiError({ status: 400, code, description: 'name is too long', ...more });

test('every kind of refusal has its sentence', () => {
  for (const [code, key] of [
    ['offline', 'errors.offline'],
    ['forbidden', 'errors.forbidden'],
    ['not_found', 'errors.notFound'],
    ['unavailable', 'errors.unavailable'],
    ['internal', 'errors.internal'],
    ['never heard of', 'errors.internal'],
  ] as const) {
    assert.equal(errorSentence(error(code), t), key);
  }
});

test('what is wrong with a field is told in the words of the service', () => {
  assert.equal(errorSentence(error('invalid'), t), 'name is too long');
});

test('too many attempts say how long to wait', () => {
  const limited = error('rate_limited', { retryAfterSeconds: 30 });
  assert.equal(errorSentence(limited, t), 'errors.rateLimited 30');
});

test('a bug of the page is told as one, without its details', () => {
  assert.equal(errorSentence(new TypeError('x is undefined'), t), 'errors.internal');
});
