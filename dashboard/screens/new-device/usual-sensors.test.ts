import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sensorsOf } from './usual-sensors.ts';

test('something else has a name, and a unit where one was chosen', () => {
  const chosen = { sensors: [], other: 'Milk of the day', otherUnit: 'Litre' };
  const [sensor] = sensorsOf(chosen);
  assert.deepEqual(sensor, { id: 'Milk-of-the-day', name: 'Milk of the day', unit: 'Litre' });
  assert.deepEqual(sensorsOf({ ...chosen, other: 'pH', otherUnit: '' }), [
    { id: 'pH', name: 'pH' },
  ]);
  assert.deepEqual(sensorsOf({ ...chosen, other: ' ' }), []);
});
