import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTextBytes } from './text-bytes.ts';
import { formatTimestamp } from './timestamp.ts';

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

const decimal = fc
  .tuple(fc.integer({ min: -(10 ** 12), max: 10 ** 12 }), fc.nat({ max: 12 }))
  .map(([digits, decimals]) => Number(`${digits}e-${decimals}`));
const anyNumber = fc.oneof(
  decimal,
  decimal,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.constantFrom(0, -0, 2 ** 31, -(2 ** 31), 2 ** 31 - 1, 0.1 + 0.2, 5e-324, 1e21, 1e-7, 0.00001),
);

test('numbers are written as JSON writes them', () => {
  const bytes = createTextBytes();
  fc.assert(
    fc.property(anyNumber, (number) => {
      bytes.putNumber(number);
      assert.equal(textOf(bytes.take()), JSON.stringify(number));
    }),
    { numRuns: 20_000 },
  );
});

test('instants are written as timestamps, whatever day was written before', () => {
  const bytes = createTextBytes();
  const instant = fc.oneof(
    fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }),
    fc.integer({ min: 1_700_000_000_000, max: 1_700_200_000_000 }),
    fc.integer({ min: -90_000_000, max: 90_000_000 }),
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    fc.double({ min: -1e12, max: 1e12, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(instant, { maxLength: 5 }), (instants) => {
      for (const one of instants) bytes.putInstant(one);
      assert.equal(textOf(bytes.take()), instants.map(formatTimestamp).join(''));
    }),
    { numRuns: 5_000 },
  );
});

test('texts and bytes of any length stand in their order', () => {
  const bytes = createTextBytes();
  const part = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.integer());
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      for (const one of parts) {
        if (typeof one === 'number') bytes.putNumber(one);
        else if (one.length % 2 === 0) bytes.putText(one);
        else bytes.putBytes(Buffer.from(one));
      }
      assert.equal(textOf(bytes.take()), parts.join(''));
    }),
  );
  assert.equal(bytes.take().length, 0);
});
