import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calibrated } from '../../live/calibration.ts';
import { likelyWrong, storedFor } from './wrong-values.ts';

test('the value that is farthest from the others is most likely meant', () => {
  assert.equal(likelyWrong([20, 21, -127, 20.5]), 2);
  assert.equal(likelyWrong([20, 85, 21, 20.5]), 1);
  assert.equal(likelyWrong(['on', 'off']), 1);
  assert.equal(likelyWrong([7]), 0);
});

const calib = (...points: readonly (readonly [number, number])[]) => ({
  ...{ enabled: true, type: 'linear' },
  linear: {
    enabled: true,
    points: points.map(([sensor_value, real_value]) => ({ sensor_value, real_value })),
  },
});

test('what is stored shows as the value that was typed', () => {
  const rising = calib([0, 100], [10, 200], [20, 250]) as never;
  const falling = calib([0, 100], [1_023, 0]) as never;
  for (const shown of [-20, 100, 123.4, 200, 240, 900]) {
    for (const one of [rising, falling]) {
      const again = calibrated(storedFor(shown, one), one) as number;
      assert.ok(Math.abs(again - shown) < 1e-9, `${shown} ${again}`);
    }
  }
  assert.equal(storedFor('wet', rising), 'wet');
  assert.equal(storedFor(5, undefined), 5);
});

test('a value that no stored one shows as is told', () => {
  assert.equal(storedFor(5, calib([0, 1], [10, 1]) as never), undefined);
});
