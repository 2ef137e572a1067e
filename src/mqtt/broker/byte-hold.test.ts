import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Budget, payerAt } from '../../domain/budgets/budget.ts';
import { ByteHold } from './packet-input.ts';

const room = { freeBytes: 16_384, stepBytes: 16_384 };

/** Counts the calls of a budget of `total` bytes. */
function countedBudget(total: number) {
  const seen = { used: 0, calls: 0 };
  const budget = {
    take(_payer: string, bytes: number) {
      seen.calls += 1;
      if (seen.used + bytes > total) return { scope: 'total' };
      seen.used += bytes;
      return undefined;
    },
    release(_payer: string, bytes: number) {
      seen.calls += 1;
      seen.used -= bytes;
    },
  };
  return { seen, hold: new ByteHold(budget as unknown as Budget, payerAt('192.0.2.1'), room) };
}

test('twenty publishes that are answered one by one take and release a few steps', () => {
  const { seen, hold } = countedBudget(1_000_000);
  for (let round = 0; round < 100; round += 1) {
    for (let count = 1; count <= 20; count += 1) assert.ok(hold.grow(count * 4_200));
    assert.ok(seen.used >= 20 * 4_200);
    for (let count = 19; count >= 0; count -= 1) hold.shrink(count * 4_200);
    assert.equal(seen.used, 0);
  }
  assert.ok(seen.calls <= 100 * 8, `${seen.calls} calls for 2,000 publishes`);
});

test('what is reserved is never less than needed, and at most four times and a step more', () => {
  const { seen, hold } = countedBudget(100_000_000);
  let needed = 0;
  for (let step = 0; step < 20_000; step += 1) {
    const isGrowing = (step * 2_654_435_761) % 4_294_967_296 < 2_147_483_648;
    if (isGrowing) {
      needed += (step * 7_919) % 9_000;
      assert.ok(hold.grow(needed));
    } else {
      needed = Math.max(0, needed - ((step * 104_729) % 9_000));
      hold.shrink(needed);
    }
    if (needed > room.freeBytes) assert.ok(seen.used >= needed);
    assert.ok(seen.used <= 4 * needed + room.stepBytes, `${seen.used} for ${needed}`);
  }
});

test('a full budget refuses what is more than reserved, and no less is reserved then', () => {
  const { seen, hold } = countedBudget(40_000);
  assert.ok(hold.grow(30_000));
  assert.equal(hold.grow(60_000), false);
  assert.equal(seen.used, 32_768);
  assert.ok(hold.grow(32_000));
  hold.shrink(0);
  assert.equal(seen.used, 0);
});
