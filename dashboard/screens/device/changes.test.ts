import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesOf } from './changes.ts';

const at = (n: number): string => `2026-11-03T10:0${n}:00.000Z`;

test('a correction says from what to what, a removal what it took', () => {
  const pushed = [
    { value: 85, timestamp: at(0), correction: 'a' },
    { value: 20, timestamp: at(1) },
    { value: -127, date_received: at(2), correction: 'b' },
  ];
  const shown = [
    { value: 25.9, timestamp: at(0) },
    { value: 20, timestamp: at(1) },
  ];
  const changes = (id: string, kind: 'corrected' | 'removed') =>
    changesOf({ id, kind }, pushed, shown);
  assert.deepEqual(changes('a', 'corrected'), [{ before: 85, after: 25.9 }]);
  assert.deepEqual(changes('b', 'removed'), [{ before: -127 }]);
  assert.deepEqual(changes('c', 'corrected'), [], 'a later one changed the values again');
});

test('of many values the first ones are said', () => {
  const pushed = [0, 1, 2, 3, 4].map((n) => ({ value: n, timestamp: at(n), correction: 'a' }));
  const changes = changesOf({ id: 'a', kind: 'removed' }, pushed, []);
  assert.deepEqual(
    changes.map(({ before }) => before),
    [0, 1, 2],
  );
});
