import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../api/api-error.ts';
import { mayPass, pauseMs } from './recovery.ts';

test('what failed for a reason that passes is tried again, a refusal is not', () => {
  const error = (status: number) => new ApiError({ status, code: 'x', description: 'x' });
  for (const status of [0, 429, 500, 503]) assert.ok(mayPass(error(status)), String(status));
  for (const status of [400, 401, 403, 404, 409]) assert.ok(!mayPass(error(status)));
  assert.ok(!mayPass(new TypeError('a bug')));
});

test('attempts are further and further apart, up to half a minute', () => {
  assert.deepEqual([0, 1, 2, 3, 4, 99].map(pauseMs), [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});
