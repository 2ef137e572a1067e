import assert from 'node:assert/strict';
import { test } from 'node:test';
import { table } from './table.ts';

test('a table may have as many rows as a service has devices', () => {
  const rows = Array.from({ length: 200_000 }, (_, index) => [`d${index}`, String(index)]);
  assert.equal(table([['device', 'n'], ...rows]).split('\n').length, 200_001);
});
