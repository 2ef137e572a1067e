import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '../../lib/json.ts';
import type { Calibration } from '../devices/calibration.ts';
import { createCalibration } from '../devices/device.ts';
import { parseSensorId } from '../ids.ts';
import { calibratedDatapoint, type Datapoint } from './datapoint.ts';
import { calibratedColumns, toDatapointColumns } from './datapoint-columns.ts';

// No -0: as a place on a calibration's line it is the same as 0.
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0);
const point = fc.record({ sensorValue: number, realValue: number });
const points = (maxLength: number) =>
  fc.uniqueArray(point, { minLength: 2, maxLength, selector: ({ sensorValue }) => sensorValue });

/** As the API makes them: switched on, off, or with nothing said; of ends and of points. */
const calibration: fc.Arbitrary<Calibration> = fc
  .tuple(
    fc.oneof(fc.constant({}), fc.record({ isEnabled: fc.boolean() })),
    fc.oneof(
      fc.record({ points: points(2), spelling: fc.constant('ends' as const) }),
      fc.record({ points: points(5), spelling: fc.constant('points' as const) }),
    ),
  )
  .map(([flag, line]) => createCalibration({ ...flag, ...line }));

const value = fc.oneof(number, fc.jsonValue({ maxDepth: 1 })) as fc.Arbitrary<JsonValue>;

/** JSON and CSV write a zero without its sign. */
const unsigned = (value: number): number => (value === 0 ? 0 : value);
const written = (datapoint: Datapoint): Datapoint =>
  datapoint.value === 0 ? { ...datapoint, value: 0 } : datapoint;

test('a scan shows the values that a read shows, whatever the calibration', () => {
  const optional = fc.option(calibration, { nil: undefined });
  fc.assert(
    fc.property(optional, fc.array(value, { maxLength: 8 }), (calibration, values) => {
      const sensor = { id: parseSensorId('TC1'), ...(calibration && { calibration }) };
      const stored = values.map((value, n): Datapoint => ({ value, receivedAt: n }));
      const columns = calibratedColumns(toDatapointColumns(stored), calibration);
      const read = stored.map((datapoint) => calibratedDatapoint(sensor, datapoint));
      assert.deepEqual(
        stored.map((_, row) => written(columns.at(row))),
        read.map(written),
      );
      assert.deepEqual(
        [...columns.numbers].map(unsigned),
        read.map(({ value }) => (typeof value === 'number' ? unsigned(value) : Number.NaN)),
      );
    }),
  );
});
