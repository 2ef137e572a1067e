import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMerge } from './merge.ts';

async function* inSteps<Item>(steps: readonly (readonly Item[])[]) {
  yield* steps;
}

test('merged streams come as all items sorted, equal keys by their streams', async () => {
  const streams = fc.array(fc.array(fc.array(fc.nat({ max: 20 }), { maxLength: 4 })));
  await fc.assert(
    fc.asyncProperty(streams, async (raw) => {
      const sorted = raw.map((steps, stream) => {
        const keys = steps.flat().toSorted((a, b) => a - b);
        return steps.map(({ length }) => keys.splice(0, length).map((key) => ({ key, stream })));
      });
      const merge = createMerge<{ key: number; stream: number }>(({ key }) => key);
      for (const steps of sorted) {
        const first = steps.find(({ length }) => length > 0);
        assert.deepEqual(await merge.add(inSteps(steps)), first);
      }
      const seen: { key: number; stream: number }[] = [];
      for (let top = merge.top(); top !== undefined; top = merge.top()) {
        assert.equal(top.place, top.item.stream);
        seen.push(top.item);
        await merge.next();
      }
      assert.deepEqual(
        seen,
        sorted.flat(2).toSorted((a, b) => a.key - b.key || a.stream - b.stream),
      );
    }),
  );
});
