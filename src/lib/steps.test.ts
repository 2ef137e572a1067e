import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mapSteps, stepsOf } from './steps.ts';

const counted = (count: number) => {
  let made = 0;
  let ends = 0;
  const steps = stepsOf(
    async () => {
      made += 1;
      return made > count ? undefined : made;
    },
    async () => {
      ends += 1;
    },
  );
  return { steps, counts: () => ({ made, ends }) };
};

test('steps come until there are no more, and end once', async () => {
  const { steps, counts } = counted(3);
  assert.deepEqual(await Array.fromAsync(mapSteps(steps, (step) => 10 * step)), [10, 20, 30]);
  assert.deepEqual(await steps.next(), { done: true, value: undefined });
  assert.deepEqual(counts(), { made: 4, ends: 1 });
});

test('who has enough ends what the steps are made from', async () => {
  const { steps, counts } = counted(100);
  for await (const step of mapSteps(steps, (one) => one)) if (step === 2) break;
  assert.deepEqual(await steps.next(), { done: true, value: undefined });
  assert.deepEqual(counts(), { made: 2, ends: 1 });
});

test('a failure ends them and is told', async () => {
  let ends = 0;
  const steps = stepsOf(
    async () => {
      throw new Error('torn');
    },
    async () => {
      ends += 1;
    },
  );
  const mapped = mapSteps(steps, (step) => step);
  await assert.rejects(mapped.next(), /torn/);
  assert.deepEqual(await mapped.next(), { done: true, value: undefined });
  assert.equal(ends, 1);
});

test('a step is not kept while its reader is slow', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const made: WeakRef<object>[] = [];
  const steps = mapSteps(
    stepsOf(async () => {
      const step = { texts: Array.from({ length: 1_000 }, String) };
      made.push(new WeakRef(step));
      return step;
    }),
    ({ texts }) => texts.length,
  );
  assert.deepEqual(await steps.next(), { done: false, value: 1_000 });
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  assert.equal(made.length, 1);
  assert.equal(made[0]?.deref(), undefined);
});
