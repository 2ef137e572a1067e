import Type, { type Static } from 'typebox';
import type { SensorSnapshot } from '../domain/datapoints/snapshots.ts';
import type { Calibration, CalibrationPoint } from '../domain/devices/calibration.ts';
import { createCalibration, measuresWords, type Sensor } from '../domain/devices/device.ts';
import { invalid } from '../domain/errors.ts';
import { parseSensorId } from '../domain/ids.ts';
import { limits } from '../domain/limits.ts';
import { defined, ifDefined } from '../lib/record.ts';
import { LastValueMessage, lastValueToWire } from './datapoint.ts';
import {
  Anything,
  Flag,
  Id,
  Message,
  newMeta,
  OneOf,
  optional,
  Text,
  type Wire,
} from './fields.ts';
import { createReader } from './validation.ts';

export const PointMessage = Message('CalibrationPoint', {
  sensor_value: Type.Number({ description: 'What the sensor said.' }),
  real_value: Type.Number({ description: 'What it really was.' }),
});

export const CalibrationMessage = Message(
  'Calibration',
  {
    linear: Type.Object(
      optional({
        enabled: Flag('Default true.'),
        value_min: PointMessage,
        value_max: PointMessage,
        points: Type.Array(PointMessage, {
          maxItems: limits.calibrationPointsMax,
          description: 'Piecewise linear through these, and value_min and value_max if given.',
        }),
      }),
    ),
  },
  { description: 'Online calibration, applied on read to JSON numbers; the raw value is kept.' },
);

function calibrationFromWire(message: Static<typeof CalibrationMessage>): Calibration {
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

export const readCalibration = createReader(CalibrationMessage, 'calib', calibrationFromWire);

function calibrationToWire(calibration: Calibration): Static<typeof CalibrationMessage> {
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

const described = optional({
  name: Text('Human-readable name.', 'Air temperature'),
  sensing_device: Text('Kind of physical sensor.', 'Thermometer'),
  sensor_kind: Text('Another spelling of sensing_device.'),
  quantity_kind: Text('What is measured.', 'AirTemperature'),
  unit: Text('Unit of measurement.', 'DegreeCelsius'),
  measures: OneOf(
    measuresWords,
    'gauge: each value is a reading; counter: the standing of a meter, which grows and may ' +
      'start again; amount: what came since the value before. Totals are the increase of a ' +
      'counter and the sum of an amount.',
  ),
  calib: CalibrationMessage,
  meta: Anything('Anything you want to keep with it.'),
});

const id = Id('The id gateways and devices use to push data.', 'TC1');
export const NewSensorMessage = Message('NewSensor', { id, ...described });

export const SensorMessage = Message('Sensor', {
  id,
  ...described,
  last_value: Type.Optional(LastValueMessage),
  value: Type.Optional(LastValueMessage),
});

export function sensorFromWire(message: Static<typeof NewSensorMessage>): Sensor {
  const { name, sensing_device, sensor_kind, quantity_kind, unit, measures, calib, meta } = message;
  const kind = sensing_device ?? sensor_kind;
  return defined({
    id: parseSensorId(message.id),
    name,
    kind,
    ...(sensing_device === undefined &&
      sensor_kind !== undefined && { kindSpelling: 'sensor_kind' as const }),
    quantityKind: quantity_kind,
    unit,
    measures,
    calibration: ifDefined(calib, calibrationFromWire),
    ...newMeta(meta),
  });
}

export const readSensor = createReader(NewSensorMessage, 'sensor', sensorFromWire);

/** Exactly the keys the sensor was given; with data, the last datapoint under both its names. */
export function sensorToWire({ sensor, lastValue }: SensorSnapshot): Wire<typeof SensorMessage> {
  const last = lastValue === undefined ? undefined : lastValueToWire(lastValue);
  const { name, kind, kindSpelling, quantityKind, unit, measures, calibration, meta } = sensor;
  return defined({
    id: sensor.id,
    name,
    ...(kind !== undefined &&
      (kindSpelling === undefined ? { sensing_device: kind } : { sensor_kind: kind })),
    quantity_kind: quantityKind,
    unit,
    measures,
    calib: ifDefined(calibration, calibrationToWire),
    meta,
    ...{ last_value: last, value: last },
  });
}
