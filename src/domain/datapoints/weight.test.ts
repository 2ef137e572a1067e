import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../lib/json.ts';
import { LongJson } from '../../lib/long-json.ts';
import { weigh, weightOfText } from './column-batch.ts';

test('a value weighs the same as its text, and the same when it is kept unread', () => {
  const awkward = fc
    .array(fc.constantFrom('\\', '"', '\n', '\u0001', 'xxxxxxxx', '\ud800', 'u'))
    .map((parts) => parts.join(''));
  const value = fc.oneof(awkward, fc.jsonValue()) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(value, (read) => {
      const text = JSON.stringify(read);
      const weight = weigh({ value: read, receivedAt: 0 });
      assert.equal(weightOfText(typeof read === 'number' ? undefined : text), weight);
      if (typeof read === 'number') return;
      assert.equal(weigh({ value: new LongJson(text), receivedAt: 0 }), weight);
    }),
    { numRuns: 1_000 },
  );
});
