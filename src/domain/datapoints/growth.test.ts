import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createGrowth, increaseOf, noGrowth, significant } from './growth.ts';

const increase = (...numbers: readonly number[]): number | undefined => {
  const growth = createGrowth();
  const grown = noGrowth();
  for (const number of numbers) growth.add(number, grown);
  growth.end();
  return increaseOf(grown);
};

test('a counter grows by its steps upwards, with the decimals that its values have', () => {
  assert.equal(increase(20_411.3, 20_418.5, 20_418.55), 7.25);
  assert.equal(increase(100, 100, 100), 0);
  assert.equal(increase(0.1, 0.2, 0.30000000000000004), 0.2);
  assert.equal(increase(7), 0);
  assert.equal(increase(0, 9_007_199_254_740_991), 9_007_199_254_740_991);
});

test('a number outside both its neighbours is passed over where these go on as before', () => {
  assert.equal(increase(215.6, 215.7, 215.6, 215.8), 0.2);
  assert.equal(increase(3.737, 0, 3.746), 0.009);
  assert.equal(increase(100, 900, 101), 1);
  assert.equal(increase(215.7, 215.6, 215.8), 0.1);
  assert.equal(increase(5, 0, 5), 0);
  assert.equal(increase(100, 0, 101, 0, 102), 2);
});

test('any other fall is a restart, and what follows counts from zero', () => {
  assert.equal(increase(100, 5, 7), 7);
  assert.equal(increase(100, 0, 0, 3), 3);
  assert.equal(increase(100, 0), 0);
  assert.equal(increase(100, 20), 20);
  assert.equal(increase(5, -3, -1, 2), 5);
  assert.equal(increase(-10, -8, -8, 1), 11);
});

test('15 digits are those of toPrecision, and leave shorter numbers alone', () => {
  assert.equal(significant(-2180.7999999999997), -2180.8);
  assert.equal(significant(54.42999999999999), 54.43);
  for (const number of [0, -7, 1e300, 5e-324, 0.1, 1e15, 123456789012345680]) {
    assert.equal(significant(number), Number(number.toPrecision(15)));
  }
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
      const near = Number(number.toPrecision(15));
      assert.ok(significant(number) === near || !Number.isFinite(near), `${number}`);
    }),
    { numRuns: 5_000 },
  );
});
