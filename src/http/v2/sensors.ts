import Type from 'typebox';
import type { Snapshots } from '../../domain/datapoints/snapshots.ts';
import type { Devices } from '../../domain/devices/devices.ts';
import type { SensorChanges } from '../../domain/devices/sensor.ts';
import { parseSensorId, type SensorId } from '../../domain/ids.ts';
import {
  CalibrationMessage,
  calibrationFromWire,
  readCalibration,
} from '../../wire/calibration.ts';
import { readMeta } from '../../wire/fields.ts';
import {
  NewSensorMessage,
  readNewSensor,
  SensorMessage,
  sensorFromWire,
  sensorToWire,
} from '../../wire/sensor.ts';
import { done, json } from '../answer.ts';
import { bareJson } from '../body.ts';
import { defineRoute, type Route } from '../route.ts';
import { deviceIdOf } from './devices.ts';
import { bareTextBody, type Field, fieldRoutes } from './field-routes.ts';
import { optionalText } from './fields.ts';

const tag = 'Sensors';

/** Sensors of a device: add, list, read, change, delete. */
export function sensorRoutes(devices: Devices, snapshots: Snapshots): readonly Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/devices/:device_id/sensors',
      tag,
      summary: 'Add a sensor, or replace its description and keep its datapoints',
      body: { kind: 'json', schema: NewSensorMessage },
      answer: { status: 204, description: 'Added or replaced.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params, body }) => {
        await devices.putSensor(actor, deviceIdOf(params), sensorFromWire(readNewSensor(body)));
        return done;
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/devices/:device_id/sensors',
      tag,
      summary: 'List the sensors of a device with their last values',
      answer: {
        status: 200,
        description: 'In order of creation.',
        content: { 'application/json': Type.Array(SensorMessage) },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) => {
        const { device, lastValueOf } = await snapshots.device(actor, deviceIdOf(params));
        return json(
          device.sensors.map((sensor) => sensorToWire({ sensor, lastValue: lastValueOf(sensor) })),
        );
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/devices/:device_id/sensors/:sensor_id',
      tag,
      summary: 'Read a sensor with its last value',
      answer: {
        status: 200,
        description: 'The sensor.',
        content: { 'application/json': SensorMessage },
      },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) =>
        json(sensorToWire(await snapshots.sensor(actor, deviceIdOf(params), sensorIdOf(params)))),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/devices/:device_id/sensors/:sensor_id',
      tag,
      summary: 'Delete a sensor with its datapoints',
      answer: { status: 204, description: 'Deleted.' },
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found'],
      handle: async ({ actor, params }) => {
        await devices.removeSensor(actor, deviceIdOf(params), sensorIdOf(params));
        return done;
      },
    }),
    ...fieldRoutes({
      path: '/devices/:device_id/sensors/:sensor_id',
      tag,
      thing: 'a sensor',
      fields: sensorFields,
      update: (actor, params, changes) =>
        devices.updateSensor(actor, deviceIdOf(params), sensorIdOf(params), changes),
    }),
  ];
}

export const sensorIdOf = (params: Readonly<Record<string, string>>): SensorId =>
  parseSensorId(params['sensor_id']);

const sensorFields: readonly Field<SensorChanges>[] = [
  { name: 'name', schema: bareTextBody, read: (body) => ({ name: optionalText(body) }) },
  {
    name: 'sensing_device',
    schema: bareTextBody,
    read: (body) => ({ kind: optionalText(body), kindSpelling: undefined }),
  },
  {
    name: 'sensor_kind',
    schema: bareTextBody,
    read: (body) => ({ kind: optionalText(body), kindSpelling: 'sensor_kind' }),
  },
  {
    name: 'quantity_kind',
    schema: bareTextBody,
    read: (body) => ({ quantityKind: optionalText(body) }),
  },
  { name: 'unit', schema: bareTextBody, read: (body) => ({ unit: optionalText(body) }) },
  {
    name: 'calib',
    schema: { kind: 'bare', schema: CalibrationMessage },
    read: (body) => {
      const value = bareJson(body);
      if (value === null) return { calibration: undefined };
      return { calibration: calibrationFromWire(readCalibration(value)) };
    },
  },
  {
    name: 'meta',
    schema: { kind: 'bare', schema: Type.Unknown() },
    read: (body) => {
      const value = bareJson(body);
      return { meta: value === null ? undefined : readMeta(value) };
    },
  },
];
