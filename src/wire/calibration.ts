import Type, { type Static } from 'typebox';
import {
  type Calibration,
  type CalibrationPoint,
  createCalibration,
} from '../domain/devices/calibration.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { createReader } from './validation.ts';

const PointMessage = Type.Object({
  sensor_value: Type.Number({ description: 'What the sensor said.' }),
  real_value: Type.Number({ description: 'What it really was.' }),
});

export const CalibrationMessage = Type.Object(
  {
    linear: Type.Object({
      enabled: Type.Optional(Type.Boolean({ description: 'Default true.' })),
      value_min: Type.Optional(PointMessage),
      value_max: Type.Optional(PointMessage),
      points: Type.Optional(
        Type.Array(PointMessage, {
          maxItems: limits.calibrationPointsMax,
          description: 'Piecewise linear through all of these, instead of value_min and value_max.',
        }),
      ),
    }),
  },
  { description: 'Online calibration, applied on read to JSON numbers; the raw value is kept.' },
);

export const readCalibration = createReader(CalibrationMessage, 'calib');

export function calibrationFromWire(message: Static<typeof CalibrationMessage>): Calibration {
  const { enabled: isEnabled = true, value_min, value_max, points } = message.linear;
  if (points !== undefined) {
    const spelling = 'points';
    return createCalibration({ isEnabled, points: points.map(pointFromWire), spelling });
  }
  if (value_min === undefined || value_max === undefined) {
    throw invalid('calib.linear must have value_min and value_max, or points');
  }
  const ends = [pointFromWire(value_min), pointFromWire(value_max)];
  return createCalibration({ isEnabled, points: ends, spelling: 'ends' });
}

export function calibrationToWire(calibration: Calibration): Static<typeof CalibrationMessage> {
  const points = calibration.points.map(pointToWire);
  const [value_min, value_max] = points;
  if (calibration.spelling === 'ends' && value_min !== undefined && value_max !== undefined) {
    return { linear: { enabled: calibration.isEnabled, value_min, value_max } };
  }
  return { linear: { enabled: calibration.isEnabled, points } };
}

function pointFromWire(message: Static<typeof PointMessage>): CalibrationPoint {
  return { sensorValue: message.sensor_value, realValue: message.real_value };
}

function pointToWire(point: CalibrationPoint): Static<typeof PointMessage> {
  return { sensor_value: point.sensorValue, real_value: point.realValue };
}
