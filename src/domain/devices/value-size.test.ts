import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { type JsonValue, parseJson } from '../../lib/json.ts';
import { isJsonWithin } from './device.ts';

test('a value fits exactly when its JSON text does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 200 }), (value, bytesMax) => {
      const bytes = Buffer.byteLength(JSON.stringify(value));
      assert.equal(isJsonWithin(value as JsonValue, bytesMax), bytes <= bytesMax);
      assert.ok(isJsonWithin(value as JsonValue, bytes));
      assert.ok(!isJsonWithin(value as JsonValue, bytes - 1));
    }),
  );
});

test('numbers with many digits and characters of many bytes count as they are written', () => {
  const values = [
    parseJson('123456789012345678901234567890'),
    '\u0000',
    '€€',
    '😀',
    '\ud800',
    '"\\',
  ];
  for (const value of values) {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    assert.ok(isJsonWithin(value, bytes));
    assert.ok(!isJsonWithin(value, bytes - 1));
  }
});
