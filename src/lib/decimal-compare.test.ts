import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { compareNumbers } from './decimal-compare.ts';
import { type JsonValue, parseJson } from './json.ts';

test('numbers that one double stands for are compared digit by digit', () => {
  const cases: readonly [string, string, number | undefined][] = [
    ['840380235174088835', '840380235174088834', 1],
    ['840380235174088834', '840380235174088834', 0],
    ['-840380235174088835', '-840380235174088834', -1],
    ['0.10000000000000000001', '0.1', 1],
    ['1e-400', '0', 1],
    ['-1e-400', '0', -1],
    ['12345678901234567890', '1.2345678901234567890e19', 0],
    ['1.50', '1.5', 0],
    ['0.0', '0', 0],
    ['2', '10', -1],
  ];
  for (const [a, b, expected] of cases) {
    for (const read of [parseJson, (text: string): JsonValue => ` ${text} `]) {
      assert.equal(compareNumbers(read(a), b), expected, `${a} ${b}`);
    }
  }
  assert.equal(compareNumbers('+3', 3), 0);
  assert.equal(compareNumbers('open', 3), undefined);
  assert.equal(compareNumbers(3, null), undefined);
});

test('decimals of any length are ordered as whole numbers of the same scale are', () => {
  const scale = 20;
  const decimal = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n });
  const close = fc.tuple(decimal, fc.bigInt({ min: -2n, max: 2n })).map(([a, d]) => [a, a + d]);
  const literalOf = (whole: bigint): string => {
    const digits = (whole < 0n ? -whole : whole).toString().padStart(scale + 1, '0');
    return `${whole < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  };
  fc.assert(
    fc.property(close, ([a = 0n, b = 0n]) => {
      const expected = a < b ? -1 : a > b ? 1 : 0;
      assert.equal(compareNumbers(literalOf(a), literalOf(b)), expected);
      assert.equal(compareNumbers(`${a}e-${scale}`, literalOf(b)), expected);
    }),
    { numRuns: 500 },
  );
});
