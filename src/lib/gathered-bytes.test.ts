import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { gatherBytes } from './gathered-bytes.ts';

test('gathered bytes are the pieces one after the other, and the pieces may change', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 20 });
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 3 }), (rounds) => {
      const gathered = gatherBytes();
      for (const given of rounds) {
        const expected = Buffer.concat(given);
        for (const piece of given) {
          const view = Uint8Array.from(piece);
          gathered.add(view);
          view.fill(0xff);
        }
        assert.equal(gathered.length, expected.length);
        assert.deepEqual(Buffer.from(gathered.take()), expected);
        assert.equal(gathered.length, 0);
      }
    }),
  );
});
