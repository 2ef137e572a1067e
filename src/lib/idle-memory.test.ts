import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createExternalBound, createIdleMemory } from './idle-memory.ts';

/** Actions at each check of a thread that was busy for these fractions of the time. */
function looksAt(shares: readonly number[], quietLooks = 3): readonly string[] {
  const done = shares.map(() => '');
  let at = 0;
  const look = createIdleMemory({
    quietLooks,
    busyShare: () => shares[at] ?? 0,
    save: () => {
      done[at] += 'save';
    },
    stopSaving: () => {
      done[at] += 'stop';
    },
  });
  for (at = 0; at < shares.length; at += 1) look();
  return done;
}

test('memory is saved once, when there was next to nothing to do for three looks', () => {
  assert.deepEqual(looksAt([1, 0, 0.03, 0, 0, 0, 0]), ['', '', '', 'save', '', '', '']);
  assert.deepEqual(looksAt([0, 0, 0.04, 0, 0, 0.5, 0, 0]), ['', '', '', '', '', '', '', '']);
});

test('a little to do changes nothing, much ends the saving until the next rest', () => {
  const shares = [0, 0.05, 0.09, 0.1, 0.05, 0, 0.2];
  assert.deepEqual(looksAt(shares, 1), ['save', '', '', 'stop', '', 'save', 'stop']);
});

test('what objects hold outside of the heap is collected once it has grown by so much', () => {
  let bytes = 10;
  let left = 10;
  let collected = 0;
  const look = createExternalBound({
    externalBytes: () => bytes,
    growthBytesMax: 4,
    collect: () => {
      collected += 1;
      bytes = left;
    },
  });
  const steps: number[] = [];
  // It grows, is collected to 12, then goes by itself to 5, and grows from there.
  for (const [now, after] of [
    [14, 0],
    [15, 12],
    [16, 0],
    [5, 0],
    [9, 0],
    [10, 6],
  ] as const) {
    bytes = now;
    left = after;
    look();
    steps.push(collected);
  }
  assert.deepEqual(steps, [0, 1, 1, 1, 1, 2]);
});
