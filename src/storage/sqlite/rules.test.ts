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
    // What was told before the process ended is not told again.
    const expected = { none: 3, 0: 3, 1: 4, 2: 5, 3: 3, 4: 3, 7: 3 };
    for (const [at, step] of Object.entries(expected)) {
      const crash = { at: Number(at), looked: 1 };
      const { fired } = await live(draft, moments, { ground, crash });
      const ofFirst = fired.filter(({ text }) => text.startsWith('d0 '));
      const steps = ofFirst.map((one) => Math.floor((one.at - noon) / gridMs) - 1);
      assert.deepEqual(steps, [step], `end at ${at}`);
    }
  });
});
