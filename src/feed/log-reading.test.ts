import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../lib/log.ts';
import { createHeldBack } from './log-reading.ts';

test('what comes while others are read waits for what they had written before it', () => {
  let newest = 5;
  const held = createHeldBack({ before: () => newest, look: () => undefined, log: silentLog });
  const told: string[] = [];
  held.inOrder(() => void told.push('first'));
  // The others are read up to here from now on.
  const before = held.count();
  newest = 9;
  held.inOrder(() => void told.push('second'));
  held.actedOn(5);
  assert.deepEqual(told, ['first']);
  // All that had been written when the reading began was acted on; the entry at 9 came later.
  held.actedOn(5, before);
  assert.deepEqual(told, ['first']);
  held.actedOn(9);
  assert.deepEqual(told, ['first', 'second']);
  held.rest();
});
