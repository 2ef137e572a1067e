import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMerge } from './merge.ts';

interface Item {
  readonly key: number;
  readonly stream: number;
}

async function* inSteps(steps: readonly (readonly Item[])[]) {
  yield* steps;
}

test('merged streams come as all items sorted, equal keys by their streams', async () => {
  const streams = fc.array(fc.array(fc.array(fc.nat({ max: 20 }), { maxLength: 4 })));
  await fc.assert(
    fc.asyncProperty(streams, fc.integer({ min: 1, max: 5 }), async (raw, max) => {
      const sorted = raw.map((steps, stream) => {
        const keys = steps.flat().toSorted((a, b) => a - b);
        return steps.map(({ length }) => keys.splice(0, length).map((key) => ({ key, stream })));
      });
      const merge = createMerge<readonly Item[]>((step) => step.map(({ key }) => key));
      for (const steps of sorted) {
        const first = steps.find(({ length }) => length > 0);
        assert.deepEqual(await merge.add(inSteps(steps)), first);
      }
      const seen: Item[] = [];
      for (let run = merge.run(max); run !== undefined; run = merge.run(max)) {
        const { place, step, from, to } = run;
        assert.ok(to > from && to - from <= max);
        for (const item of step.slice(from, to)) {
          assert.equal(place, item.stream);
          seen.push(item);
        }
        await merge.pass(to - from);
      }
      assert.deepEqual(
        seen,
        sorted.flat(2).toSorted((a, b) => a.key - b.key || a.stream - b.stream),
      );
    }),
  );
});
