import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../lib/json.ts';
import type { Datapoint } from './datapoint.ts';
import { toDatapointColumns } from './datapoint-columns.ts';
import { createDownsampling, type Downsampled } from './downsampling.ts';

const series = (values: readonly JsonValue[]): readonly Datapoint[] =>
  values.map((value, n) => ({ value, timestamp: n * 1_000, receivedAt: n }));

function downsampled(
  datapoints: readonly Datapoint[],
  pointsMax: number,
  stepSize = 3,
  count = datapoints.length,
): Promise<Downsampled> {
  const downsampling = createDownsampling({ count, pointsMax });
  for (let at = 0; at < datapoints.length; at += stepSize) {
    downsampling.add(toDatapointColumns(datapoints.slice(at, at + stepSize)));
  }
  return downsampling.finish();
}

const valuesOf = ({ datapoints }: Downsampled): readonly JsonValue[] =>
  datapoints.map(({ value }) => value);

test('as many datapoints as there is room for stay as they are', async () => {
  const datapoints = series([3, 1, 2, 5, 4]);
  assert.deepEqual(await downsampled(datapoints, 5), { datapoints, skipped: 0 });
  assert.deepEqual(await downsampled([], 2), { datapoints: [], skipped: 0 });
});

test('each stretch keeps its least and its greatest, and the whole its ends', async () => {
  const values = [5, 9, 5, 1, 5, 5, 2, 5, 8, 6];
  assert.deepEqual(valuesOf(await downsampled(series(values), 6)), [5, 9, 1, 2, 8, 6]);
});

test('two and three points are the least and the greatest of all', async () => {
  const values = [5, 5, 9, 5, 1, 5, 5];
  assert.deepEqual(valuesOf(await downsampled(series(values), 2)), [9, 1]);
  assert.deepEqual(valuesOf(await downsampled(series(values), 3)), [9, 1]);
});

test('a spike of one datapoint in a thousand is still there', async () => {
  const values = Array.from({ length: 1_000 }, (_, n) => (n === 617 ? 80 : Math.sin(n / 30)));
  assert.ok(valuesOf(await downsampled(series(values), 10)).includes(80));
});

test('text that is a number is kept as it is, and what is no number is left out', async () => {
  const answer = await downsampled(series(['7', 'error', 3, null, [9]]), 100);
  assert.deepEqual(valuesOf(answer), ['7', 3]);
  assert.equal(answer.skipped, 3);
});

test('datapoints that arrived since they were counted are downsampled with the rest', async () => {
  const datapoints = series(Array.from({ length: 50 }, (_, n) => n % 17));
  const answer = await downsampled(datapoints, 8, 3, 40);
  assert.ok(answer.datapoints.length <= 8);
  assert.equal(answer.datapoints.at(-1), datapoints.at(-1));
});

const anyValue = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -100, max: 100 }) },
  { weight: 1, arbitrary: fc.constantFrom('4', 'wet', null) },
);

test('what is left is real, in order, within the limit, and spans the same', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyValue, { maxLength: 300 }),
      fc.integer({ min: 2, max: 60 }),
      fc.integer({ min: 1, max: 70 }),
      async (values, pointsMax, stepSize) => {
        const all = series(values);
        const { datapoints, skipped } = await downsampled(all, pointsMax, stepSize);
        assert.ok(datapoints.length <= pointsMax);
        const places = datapoints.map((one) => all.indexOf(one));
        assert.deepEqual(
          places,
          [...new Set(places)].toSorted((a, b) => a - b),
        );
        assert.ok(!places.includes(-1));
        const numeric = all.filter(({ value }) => value !== 'wet' && value !== null);
        assert.equal(skipped, all.length - numeric.length);
        if (numeric.length === 0) return assert.equal(datapoints.length, 0);
        const numbersOf = (some: readonly Datapoint[]) => some.map(({ value }) => Number(value));
        assert.equal(Math.min(...numbersOf(datapoints)), Math.min(...numbersOf(numeric)));
        assert.equal(Math.max(...numbersOf(datapoints)), Math.max(...numbersOf(numeric)));
        if (pointsMax < 4) return;
        assert.equal(datapoints[0], numeric[0]);
        assert.equal(datapoints.at(-1), numeric.at(-1));
      },
    ),
    { numRuns: 200 },
  );
});
