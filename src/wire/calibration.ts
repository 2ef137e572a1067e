import Type, { type Static } from 'typebox';
import type { Calibration, CalibrationPoint } from '../domain/devices/calibration.ts';
import { createCalibration } from '../domain/devices/new-calibration.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { createReader } from './validation.ts';

export const PointMessage = Type.Object(
  {
    sensor_value: Type.Number({ description: 'What the sensor said.' }),
    real_value: Type.Number({ description: 'What it really was.' }),
  },
  { title: 'CalibrationPoint' },
);

export const CalibrationMessage = Type.Object(
  {
    linear: Type.Object({
      enabled: Type.Optional(Type.Boolean({ description: 'Default true.' })),
      value_min: Type.Optional(PointMessage),
      value_max: Type.Optional(PointMessage),
      points: Type.Optional(
        Type.Array(PointMessage, {
          maxItems: limits.calibrationPointsMax,
          description:
            'Piecewise linear through all of these, and value_min and value_max if given.',
        }),
      ),
    }),
  },
  {
    title: 'Calibration',
    description: 'Online calibration, applied on read to JSON numbers; the raw value is kept.',
  },
);

export const readCalibration = createReader(CalibrationMessage, 'calib');

export function calibrationFromWire(message: Static<typeof CalibrationMessage>): Calibration {
  const { enabled, value_min, value_max, points } = message.linear;
  const flag = enabled === undefined ? {} : { isEnabled: enabled };
  if (points !== undefined) {
    const given = [value_min, ...points, value_max].filter((point) => point !== undefined);
    const all = withoutRepeats(given.map(pointFromWire));
    return createCalibration({ ...flag, points: all, spelling: 'points' });
  }
  if (value_min === undefined || value_max === undefined) {
    throw invalid('calib.linear must have value_min and value_max, or points');
  }
  const ends = [pointFromWire(value_min), pointFromWire(value_max)];
  return createCalibration({ ...flag, points: ends, spelling: 'ends' });
}

export function calibrationToWire(calibration: Calibration): Static<typeof CalibrationMessage> {
  const { isEnabled, spelling } = calibration;
  const flag = isEnabled === undefined ? {} : { enabled: isEnabled };
  const points = calibration.points.map(pointToWire);
  const [value_min, value_max] = points;
  if (spelling === 'ends' && value_min !== undefined && value_max !== undefined) {
    return { linear: { ...flag, value_min, value_max } };
  }
  return { linear: { ...flag, points } };
}

/** Ends that are among the points as well are meant once. */
function withoutRepeats(points: readonly CalibrationPoint[]): readonly CalibrationPoint[] {
  return [...new Map(points.map((point) => [JSON.stringify(point), point])).values()];
}

function pointFromWire(message: Static<typeof PointMessage>): CalibrationPoint {
  return { sensorValue: message.sensor_value, realValue: message.real_value };
}

function pointToWire(point: CalibrationPoint): Static<typeof PointMessage> {
  return { sensor_value: point.sensorValue, real_value: point.realValue };
}
