import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { noon } from '../../../test/contract/storage/builders.ts';
import { draftOf, emptiedStorage, gridMs, live, type Moment } from '../../../test/lived-rules.ts';
import { firesTheSameAfterCrashes, firesTheSameInAnyOrder } from '../../../test/rule-properties.ts';

describe('rules on the sqlite engine', () => {
  const ground = emptiedStorage();
  firesTheSameAfterCrashes({ ground, numRuns: 200 });
  firesTheSameInAnyOrder({ ground, numRuns: 200 });

  test('a silence counts from the last value, or the start where that is later', async () => {
    const draft = draftOf('silent(SM1, 1.5s)', 0);
    const moments = [1, 0, 0, 0, 0, 0, 0, 0, 0].map((sensor): Moment => {
      const pushed = { device: 0, sensor, values: [{ value: 26, lateBy: undefined }] };
      return { steps: 1, pushes: [pushed], isSaved: true };
    });
    // A silence that was handled before the process ended is not handled again.
    const expected = { none: 3, 0: 3, 1: 4, 2: 5, 3: 3, 4: 3, 7: 3 };
    for (const [at, step] of Object.entries(expected)) {
      const crash = { at: Number(at), looked: 1 };
      const { fired } = await live(draft, moments, { ground, crash });
      const ofFirst = fired.filter(({ text }) => text.startsWith('d0 '));
      const steps = ofFirst.map((one) => Math.floor((one.at - noon) / gridMs) - 1);
      assert.deepEqual(steps, [step], `end at ${at}`);
    }
  });

  test('a silence clears no alarm, whatever number came before it, crash or not', async () => {
    const draft = draftOf('silent(TC1, 2s) clear TC1 < 29', 0);
    const values = [26, 'nan', null, 26, 26];
    const moments = values.map((value, at): Moment => {
      const isHeard = value !== null;
      const pushed = { device: isHeard ? 0 : 1, sensor: 0, values: [{ value, lateBy: undefined }] };
      return { steps: [1, 4, 4, 4, 8][at] ?? 1, pushes: [pushed], isSaved: false };
    });
    for (const isOrderly of [true, false]) {
      const crash = { at: 2, looked: 3, isOrderly };
      const { fired } = await live(draft, moments, { ground, crash });
      const steps = fired.flatMap(({ at, text }) =>
        text.startsWith('d0 ') ? [Math.floor((at - noon) / gridMs)] : [],
      );
      // After the number that cleared it, and not before.
      assert.deepEqual(steps, [5, 17], `in order: ${isOrderly}`);
    }
  });

  test('a silence that throttling holds back waits for its "for" once, crash or not', async () => {
    const draft = draftOf('silent(TC1, 2s); SM1 > 29 for 1s', 4, { isForAll: true });
    const [tc1, sm1] = [0, 1];
    const push = (device: number, sensor: number, value: number) => ({
      ...{ device, sensor, values: [{ value, lateBy: undefined }] },
    });
    const later: Moment = { steps: 5, pushes: [push(0, sm1, 20)], isSaved: false };
    const moments: readonly Moment[] = [
      { steps: 1, pushes: [push(0, sm1, 30), push(0, tc1, 30), push(1, sm1, 30)], isSaved: true },
      { steps: 2, pushes: [push(1, tc1, 30)], isSaved: true },
      // The first device has fired, the second one waits for the end of the window.
      { ...later, steps: 7 },
      ...[later, later],
    ];
    for (const isOrderly of [true, false]) {
      const crash = { at: 2, looked: 3, isOrderly };
      const { fired } = await live(draft, moments, { ground, crash });
      const steps = fired.map(({ at, text }) => [
        ...[text.slice(0, 2), Math.floor((at - noon) / gridMs)],
      ]);
      assert.deepEqual(steps, [
        ['d0', 7],
        ['d1', 16],
      ]);
    }
  });
});
