import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isNear } from './refused-pushes.ts';

test('slips of the pen are near, other ids are not', () => {
  for (const [written, id] of [
    ['Pond', 'pond'],
    ['field_3', 'field-3'],
    ['feild-3', 'field-3'],
    ['fild-3', 'field-3'],
    ['pnd', 'pond'],
    ['', 'é'],
  ] as const) {
    assert.equal(isNear(written, id), true, `${written} ${id}`);
  }
  for (const [written, id] of [
    ['tank', 'pond'],
    ['field-3-north', 'field-3'],
    ['ab', 'cd'],
    ['x'.repeat(200), `${'x'.repeat(199)}y`],
  ] as const) {
    assert.equal(isNear(written, id), false, `${written} ${id}`);
  }
});

test('near is a matter of both, and any text may be asked about', () => {
  const text = fc.string({ minLength: 5, maxLength: 20 });
  fc.assert(
    fc.property(text, text, (one, other) => {
      assert.equal(isNear(one, one), true);
      // The shorter one says how much is allowed, where it has fewer than five letters.
      if (isNear(one, other) && isNear(other, one)) return;
      const letters = [one, other].map((id) => id.replaceAll(/[^\p{L}\p{N}]/gu, '').length);
      assert.ok(isNear(one, other) === isNear(other, one) || Math.min(...letters) < 5);
    }),
  );
});
