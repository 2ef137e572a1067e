import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printableJson } from './printable-json.ts';

test('JSON for a terminal is the same JSON', () => {
  const value = {
    name: '\u001b]0;title\u0007\u001b[2J\u009b31m\u202e',
    far: '\u{e0001}',
    plain: 'Ä',
  };
  const text = printableJson(value);
  assert.doesNotMatch(text, /\p{C}/u);
  assert.deepEqual(JSON.parse(text), value);
});
