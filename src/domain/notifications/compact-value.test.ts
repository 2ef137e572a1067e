import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import type { JsonValue } from '../../lib/json.ts';
import { charactersOf, compacted, SeenValues, shortened } from './sensor-values.ts';

const json = fc.jsonValue() as fc.Arbitrary<JsonValue>;

test('what is small stays as it is, and what is large becomes small', () => {
  fc.assert(
    fc.property(json, fc.integer({ min: 8, max: 40 }), (value, max) => {
      for (const compact of [compacted, shortened]) {
        const small = compact(value, max);
        if (charactersOf(value) <= max) assert.equal(small, value);
        else assert.ok(charactersOf(small) <= 8 * max + 8, JSON.stringify(small));
      }
    }),
  );
});

test('a list keeps the elements that fit, and an object its fields', () => {
  assert.deepEqual(compacted(['a', 'x'.repeat(50), 'b'], 10), ['a', 'b']);
  assert.deepEqual(compacted({ a: 1, b: 'x'.repeat(50) }, 20), { a: 1 });
  assert.equal(shortened(['a', 'b'], 6), '["a","');
});

test('values of a device know what they take', () => {
  const values = new SeenValues();
  values.set('TC1', { value: 'x'.repeat(100_000), at: 1, ageMs: 0 });
  const large = values.characters;
  assert.ok(large > 4_096 && large < 5_000, `${large}`);
  values.set('TC1', { value: 1, at: 2, ageMs: 0 });
  assert.ok(values.characters < 200);
  values.delete('TC1');
  assert.equal(values.characters, 0);
});

test('what is kept of a long text does not keep the rest of it in memory', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const longText = (at: number): string =>
    Buffer.alloc(1_048_576, `${at} \ud800é`).toString('latin1');
  const kept: JsonValue[] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 40; at += 1) kept.push(shortened(longText(at), 256));
  collect();
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(grown < 10 * 1_048_576, `${kept.length} short texts take ${grown} bytes`);
  assert.equal(shortened(`\ud800${'é'.repeat(300)}`, 256), `\ud800${'é'.repeat(255)}`);
});
