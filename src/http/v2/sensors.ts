import Type from 'typebox';
import type { DeviceSnapshot } from '../../domain/datapoints/snapshots.ts';
import { measuresWords, type SensorChanges } from '../../domain/devices/device.ts';
import { type DeviceId, parseSensorId, type SensorId } from '../../domain/ids.ts';
import type { Wire } from '../../wire/fields.ts';
import { readCalibration, readSensor, SensorMessage, sensorToWire } from '../../wire/sensor.ts';
import { json, list } from '../answer.ts';
import { bareBody, bareJson, messageBody } from '../body.ts';
import { messageAnswer, type Params, type Route, routesOf } from '../route.ts';
import { deviceIdOf } from './devices.ts';
import { type Fields, fieldRoutes, metaBody, textBody, wordBody } from './field-routes.ts';
import { valueOptions, valueParameters } from './lists.ts';
import type { Services } from './services.ts';

const route = routesOf('Sensors');
const ValuesQuery = Type.Object(valueParameters);

/** Sensors of a device: add, list, read, change, delete. */
export function sensorRoutes({ devices, snapshots }: Services): readonly Route[] {
  return [
    route.post('/devices/:device_id/sensors', {
      summary: 'Add a sensor, or replace its description and keep its datapoints',
      body: messageBody(readSensor),
      done: 'Added or replaced.',
      errors: ['invalid', 'unauthenticated', 'forbidden', 'not_found', 'limit_reached'],
      perform: ({ actor, params, body }) => devices.putSensor(actor, deviceIdOf(params), body),
    }),
    route.get('/devices/:device_id/sensors', {
      summary: 'List the sensors of a device with their last values',
      query: ValuesQuery,
      answer: messageAnswer('In order of creation.', Type.Array(SensorMessage)),
      handle: async ({ actor, params, query }) => {
        const options = valueOptions(query);
        return list(sensorSteps(await snapshots.device(actor, deviceIdOf(params), options)));
      },
    }),
    route.get('/devices/:device_id/sensors/:sensor_id', {
      summary: 'Read a sensor with its last value',
      query: ValuesQuery,
      answer: messageAnswer('The sensor.', SensorMessage),
      handle: async ({ actor, params, query }) =>
        json(sensorToWire(await snapshots.sensor(actor, ...sensorOf(params), valueOptions(query)))),
    }),
    route.delete('/devices/:device_id/sensors/:sensor_id', {
      summary: 'Delete a sensor with its datapoints',
      done: 'Deleted.',
      perform: ({ actor, params }) => devices.removeSensor(actor, ...sensorOf(params)),
    }),
    ...fieldRoutes(route, {
      path: '/devices/:device_id/sensors/:sensor_id',
      thing: 'a sensor',
      fields: sensorFields,
      update: (actor, params, changes) => devices.updateSensor(actor, ...sensorOf(params), changes),
    }),
  ];
}

/** The sensor that a path names. */
const sensorOf = (params: Params): [DeviceId, SensorId] => [
  deviceIdOf(params),
  parseSensorId(params['sensor_id']),
];

const sensorFields: Fields<SensorChanges> = {
  name: textBody((name) => ({ name })),
  sensing_device: textBody((kind) => ({ kind, kindSpelling: undefined })),
  sensor_kind: textBody((kind) => ({ kind, kindSpelling: 'sensor_kind' as const })),
  quantity_kind: textBody((quantityKind) => ({ quantityKind })),
  unit: textBody((unit) => ({ unit })),
  measures: wordBody('measures', measuresWords, (measures) => ({ measures })),
  calib: bareBody(readCalibration.schema, (body) => {
    const value = bareJson(body);
    if (value === null) return { calibration: undefined };
    return { calibration: readCalibration(value) };
  }),
  meta: metaBody,
};

/** Small last values together, large ones one by one. */
async function* sensorSteps(
  snapshot: DeviceSnapshot,
): AsyncGenerator<readonly Wire<typeof SensorMessage>[]> {
  const { device, lastValueOf, largeValueOf } = snapshot;
  let step: Wire<typeof SensorMessage>[] = [];
  for (const sensor of device.sensors) {
    const brief = lastValueOf(sensor);
    if (brief !== 'large') {
      step.push(sensorToWire({ sensor, lastValue: brief }));
      continue;
    }
    yield step;
    step = [sensorToWire({ sensor, lastValue: await largeValueOf(sensor) })];
  }
  yield step;
}
