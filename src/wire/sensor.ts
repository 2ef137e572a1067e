import Type, { type Static } from 'typebox';
import type { SensorSnapshot } from '../domain/datapoints/snapshots.ts';
import { measuresWords, type Sensor } from '../domain/devices/device.ts';
import { parseSensorId } from '../domain/ids.ts';
import { defined, ifDefined } from '../lib/record.ts';
import { CalibrationMessage, calibrationFromWire, calibrationToWire } from './calibration.ts';
import { LastValueMessage, lastValueToWire } from './datapoint.ts';
import { Anything, Id, newMeta, OneOf, Text, type Wire } from './fields.ts';
import { createReader } from './validation.ts';

const described = {
  name: Type.Optional(Text('Human-readable name.', 'Air temperature')),
  sensing_device: Type.Optional(Text('Kind of physical sensor.', 'Thermometer')),
  sensor_kind: Type.Optional(Text('Another spelling of sensing_device.')),
  quantity_kind: Type.Optional(Text('What is measured.', 'AirTemperature')),
  unit: Type.Optional(Text('Unit of measurement.', 'DegreeCelsius')),
  measures: Type.Optional(
    OneOf(
      measuresWords,
      'gauge: each value is a reading; counter: the standing of a meter, which grows and may ' +
        'start again; amount: what came since the value before. Totals are the increase of a ' +
        'counter and the sum of an amount.',
    ),
  ),
  calib: Type.Optional(CalibrationMessage),
  meta: Type.Optional(Anything('Anything you want to keep with it.')),
};

const id = Id('The id gateways and devices use to push data.', 'TC1');

export const NewSensorMessage = Type.Object({ id, ...described }, { title: 'NewSensor' });

export const SensorMessage = Type.Object(
  {
    id,
    ...described,
    last_value: Type.Optional(LastValueMessage),
    value: Type.Optional(LastValueMessage),
  },
  { title: 'Sensor' },
);

const readNewSensor = createReader(NewSensorMessage, 'sensor');

export const readSensor = (message: unknown): Sensor => sensorFromWire(readNewSensor(message));

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
