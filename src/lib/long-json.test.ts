import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from './json.ts';
import {
  LongJson,
  sameJson,
  sliceCharacters,
  slicesOf,
  storedJson,
  writeJson,
} from './long-json.ts';

/** Everything that may be cut in a wrong place, often. */
const awkward = fc
  .array(fc.constantFrom('\\', '"', '\n', '\u0001', 'x', 'ü', '→', '😀', '\ud800', '\udc00', 'u'))
  .map((parts) => parts.join(''));
const text = fc.oneof(awkward, fc.string({ unit: 'binary' }));
const longOf = (value: unknown): LongJson => new LongJson(JSON.stringify(value));

/** So long that the awkward part lies at the end of a slice, and begins anywhere before it. */
const aroundSlice = fc
  .tuple(fc.integer({ min: 0, max: 40 }), awkward)
  .map(([before, part]) => `${'x'.repeat(sliceCharacters - before)}${part}${part}y`);

test('the slices of a string are its characters, none of which is cut', () => {
  fc.assert(
    fc.property(fc.oneof(text, aroundSlice), (whole) => {
      const slices = [...longOf(whole).characters()];
      assert.equal(slices.join(''), whole);
      const bytes = Buffer.concat(slices.map((slice) => Buffer.from(slice)));
      assert.deepEqual(bytes, Buffer.from(whole));
      for (const slice of slices) assert.ok(slice.length <= sliceCharacters);
    }),
    { numRuns: 500 },
  );
});

test('the beginning of a string is a beginning, as long as it is asked for or nearly', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 8, max: 30 }), (whole, characters) => {
      const beginning = longOf(whole).beginning(characters);
      assert.ok(whole.startsWith(beginning));
      // An escape takes up to six characters, and one that would be cut is left out.
      assert.ok(beginning.length >= Math.min(whole.length, Math.floor((characters - 6) / 6)));
    }),
    { numRuns: 1_000 },
  );
});

test('slices of any text are the text, and their bytes its bytes', () => {
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 9 }), (whole, characters) => {
      const slices = [...slicesOf(whole, characters)];
      assert.equal(slices.join(''), whole);
      const bytes = Buffer.concat(slices.map((slice) => Buffer.from(slice)));
      assert.deepEqual(bytes, Buffer.from(whole));
    }),
    { numRuns: 1_000 },
  );
});

test('long values within a message are written as they would be if they were read', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (values) => {
      const message = { values, again: values };
      const withLong = { values: values.map(longOf), again: values.map(longOf) };
      assert.equal(writeJson(withLong), JSON.stringify(message));
      assert.equal(JSON.stringify(withLong), JSON.stringify(message));
      assert.ok(sameJson(withLong.values as readonly JsonValue[], values as JsonValue));
    }),
  );
});

test('of an array the first elements are seen, of those in it only that they are there', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), fc.integer({ min: 0, max: 9 }), (values, max) => {
      const seen = longOf(values).elements(max);
      const expected = values.slice(0, max).map((value) => {
        if (typeof value !== 'object' || value === null) return value;
        return Array.isArray(value) ? [] : {};
      });
      assert.equal(JSON.stringify(seen), JSON.stringify(expected));
    }),
  );
});

test('only what is longer than a value may usually be stays a text', () => {
  const usual = JSON.stringify('x'.repeat(65_534));
  assert.equal(typeof storedJson(usual), 'string');
  const longer = JSON.stringify('x'.repeat(65_535));
  const kept = storedJson(longer);
  assert.ok(kept instanceof LongJson);
  assert.equal(writeJson(kept), longer);
});
