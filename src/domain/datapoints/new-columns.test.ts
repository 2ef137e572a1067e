import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { NewColumns, type NewDatapoint } from './new-columns.ts';

test('columns answer what was put into them, in short and long ones', () => {
  for (const count of [0, 1, 4, 5, 16_384, 16_385, 40_000]) {
    const all: NewDatapoint[] = Array.from({ length: count }, (_, n) => ({
      value: n % 7 === 3 ? `text ${n}` : n / 2,
      ...(n % 3 !== 0 && { timestamp: n }),
    }));
    const columns = new NewColumns();
    for (const one of all) columns.push(one);
    assert.equal(columns.length, count);
    const read = Array.from({ length: count }, (_, position) => columns.at(position));
    assert.deepEqual(read, all);
    assert.equal(columns.at(count), undefined);
  }
});

test('a long array of columns is not copied while it grows', (t: TestContext) => {
  let longest = 0;
  const { push } = Array.prototype;
  const counting = function (this: unknown[], ...values: unknown[]) {
    longest = Math.max(longest, this.length);
    return push.apply(this, values);
  };
  Object.defineProperty(Array.prototype, 'push', { value: counting, configurable: true });
  t.after(() => Object.defineProperty(Array.prototype, 'push', { value: push, writable: true }));
  const columns = new NewColumns();
  for (let n = 0; n < 300_000; n += 1) columns.putNumber(n, Number.NaN);
  columns.putText('"a"', 5);
  assert.ok(longest > 0 && longest < 32_768, `${longest} numbers copied at once`);
  assert.deepEqual(columns.at(300_000), { value: 'a', timestamp: 5 });
});
