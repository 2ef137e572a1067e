import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Device, Sensor } from '../../api/types.ts';
import { quantitiesOf } from './quantities.ts';

const aDevice = (id: string, ...sensors: readonly Sensor[]): Device => ({
  ...{ id, owner: 'ama', sensors, actuators: [] },
  ...{ date_created: '2026-01-01T00:00:00.000Z', date_modified: '2026-01-01T00:00:00.000Z' },
});

test('sensors that measure the same are together, what most measure comes first', () => {
  const quantities = quantitiesOf([
    aDevice('a', { id: 'B', unit: 'Volt' }, { id: 'T', quantity_kind: 'AirTemperature' }),
    aDevice('b', { id: 'X', quantity_kind: 'AirTemperature', unit: 'DegreeCelsius' }),
    aDevice('c', { id: 'noise' }),
  ]);
  assert.deepEqual(
    quantities.map(({ key, sensors }) => [key, sensors.map(({ sensor }) => sensor.id)]),
    [
      ['AirTemperature', ['T', 'X']],
      ['Volt', ['B']],
      ['noise', ['noise']],
    ],
  );
});

test('without devices there is nothing to compare', () => {
  assert.deepEqual(quantitiesOf([]), []);
});
