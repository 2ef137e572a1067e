import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createManualClock } from '../../test/manual-clock.ts';
import { createTokenBucket } from './token-bucket.ts';

test('a key may use its capacity at once, then one after each pause, and no other waits', () => {
  const clock = createManualClock(0);
  const bucket = createTokenBucket({ capacity: 3, refillMs: 1_000, entriesMax: 10, clock });
  assert.deepEqual(
    [1, 2, 3, 4].map(() => bucket.take('a')),
    [0, 0, 0, 1_000],
  );
  assert.equal(bucket.take('b'), 0);
  clock.advance(999);
  assert.equal(bucket.take('a'), 1);
  clock.advance(1);
  assert.deepEqual([bucket.take('a'), bucket.take('a')], [0, 1_000]);
  clock.advance(60_000);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => bucket.take('a')),
    [0, 0, 0, 1_000],
  );
});
