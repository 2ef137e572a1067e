import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait, setImmediate as yieldOnce } from 'node:timers/promises';
import { silentLog } from '../../../lib/log.ts';
import { datapointLimits } from './datapoint-limits.ts';
import { createFlusher } from './flusher.ts';
import type { Memtable } from './memtable.ts';

const calmMs = 400;

/** A flusher over a memtable of which only the questions matter; its steps are counted. */
function flusherOf(state: { isUrgent: boolean; stepsLeft: number }) {
  const taken: number[] = [];
  const memtable = {
    isDue: () => state.stepsLeft > 0,
    isUrgent: () => state.isUrgent,
    freezeDue: () => [],
    doneThrough: () => 0,
    rest: () => undefined,
  } as unknown as Memtable;
  const flusher = createFlusher({
    memtable,
    limits: { ...datapointLimits, calmMs },
    log: silentLog,
    async carryOut() {
      taken.push(performance.now());
      state.stepsLeft -= 1;
      return { trimmed: 0, damaged: 0 };
    },
  });
  return { flusher, taken };
}

test('what is due waits for the end of a burst', async () => {
  const { flusher, taken } = flusherOf({ isUrgent: false, stepsLeft: 2 });
  let lastAt = 0;
  for (let n = 0; n < 10; n += 1) {
    flusher.arrived();
    lastAt = performance.now();
    await yieldOnce();
  }
  while (taken.length < 2) await wait(5);
  assert.ok((taken[0] ?? 0) - lastAt >= calmMs - 2, 'the burst was over for long enough');
  await flusher.close();
});

test('what is urgent, or wanted, does not wait', async () => {
  const urgent = flusherOf({ isUrgent: true, stepsLeft: 1 });
  urgent.flusher.arrived();
  const wanted = flusherOf({ isUrgent: false, stepsLeft: 3 });
  wanted.flusher.arrived();
  wanted.flusher.poke();
  while (wanted.taken.length < 3) await yieldOnce();
  assert.deepEqual([urgent.taken.length, wanted.taken.length], [1, 3]);
  await Promise.all([urgent.flusher.close(), wanted.flusher.close()]);
});
