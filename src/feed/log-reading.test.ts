import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLog } from '../lib/log.ts';
import { createHeldBack } from './log-reading.ts';

const positionsOf = (two: number, three: number) =>
  new Map([
    [2, two],
    [3, three],
  ]);

test('what comes while others are read waits for what they had written before it', () => {
  let newest = positionsOf(5, 3);
  const held = createHeldBack({ before: () => newest, look: () => undefined, log: silentLog });
  const told: string[] = [];
  held.inOrder(() => void told.push('first'));
  // The others are read up to here from now on.
  const [before, count] = [newest, held.count()];
  newest = positionsOf(9, 3);
  held.inOrder(() => void told.push('second'));
  held.actedOn({ writer: 2, place: 5 });
  assert.deepEqual(told, []);
  // All that had been written when the reading began was acted on; the entry at 9 came later.
  held.readUpTo(before, count);
  assert.deepEqual(told, ['first']);
  assert.ok(held.isDone(1) && !held.isDone(2));
  held.actedOn({ writer: 2, place: 9 });
  assert.deepEqual(told, ['first', 'second']);
  assert.ok(held.isDone(2));
  held.rest();
  assert.equal(held.isDone(2), false, 'a process that was given up may have done nothing');
});

test('an entry of one process says nothing of those of another one before it', () => {
  const held = createHeldBack({
    before: () => positionsOf(5, 8),
    look: () => undefined,
    log: silentLog,
  });
  const told: string[] = [];
  held.inOrder(() => void told.push('own'));
  held.actedOn({ writer: 3, place: 8 });
  assert.deepEqual(told, []);
  held.actedOn({ writer: 2, place: 5 });
  assert.deepEqual(told, ['own']);
  held.rest();
});
