import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration, parseWait, wholeNumber } from './option-values.ts';

test('a duration is a number and a unit', () => {
  assert.equal(parseDuration('250ms'), 250);
  assert.equal(parseDuration('10s'), 10_000);
  assert.equal(parseDuration('1.5h'), 5_400_000);
  assert.equal(parseDuration('30d'), 2_592_000_000);
  assert.equal(parseDuration('2w'), 1_209_600_000);
});

test('anything else is refused with an example of what to write', () => {
  for (const text of ['', '10', 's', '0s', '-5s', '1e3s', '10 s', '5y', 'ten seconds']) {
    assert.throws(() => parseDuration(text), /above 0 and a unit, for instance 10s/, text);
  }
});

test('a whole number is read up to both of its ends', () => {
  const read = wholeNumber(1, 8);
  assert.equal(read('1'), 1);
  assert.equal(read('8'), 8);
  for (const text of ['0', '9', '', '1.5', '-1', 'two', '1e0']) {
    assert.throws(() => read(text), /1 to 8/, text);
  }
});

test('what is waited for is no longer than a timer can wait', () => {
  assert.equal(parseWait('24d'), 24 * 86_400_000);
  assert.throws(() => parseWait('30d'), /at most 24d/);
});
