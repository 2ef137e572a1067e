import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyToV1, pathToV1, refusalToV1, textToV1, textToV2 } from './dictionary.ts';

test('a device is a sensor and its sensors are measurements, all at once', () => {
  assert.equal(
    textToV1('A device with its sensors: Devices, the sensor of a device.'),
    'A sensor with its measurements: Sensors, the measurement of a sensor.',
  );
  assert.equal(textToV1('an action of the notification'), 'a notification of the notification');
});

test('scopes are words in both directions', () => {
  assert.equal(textToV1('devices:view'), 'sensors:view');
  assert.equal(textToV1('devices-data:create'), 'sensors-data:create');
  assert.equal(textToV2('sensors-data:create'), 'devices-data:create');
  assert.equal(textToV2('sensor:view'), 'device:view');
  assert.equal(textToV1('gateways:view'), 'gateways:view');
});

test('names that only look like words stay', () => {
  for (const name of [
    'sensing_device',
    'sensor_kind',
    'sensors_data',
    'sensor_value',
    'SocialAction',
  ]) {
    assert.equal(keyToV1(name), name);
    assert.equal(textToV1(name), name);
  }
});

test('fields and parameters are renamed as a whole', () => {
  const keys = ['devices', 'device_id', 'device_ids', 'sensors', 'sensor_id', 'action', 'id'];
  assert.deepEqual(keys.map(keyToV1), [
    'sensors',
    'sensor_id',
    'sensor_ids',
    'measurements',
    'measurement_id',
    'notification',
    'id',
  ]);
});

test('a path keeps its form', () => {
  assert.equal(
    pathToV1('/devices/:device_id/sensors/:sensor_id/values'),
    '/sensors/:sensor_id/measurements/:measurement_id/values',
  );
  assert.equal(pathToV1('/ontologies/sensor_kinds'), '/ontologies/sensor_kinds');
});

test('a refusal leaves alone what the client gave', () => {
  assert.equal(
    refusalToV1('device my-device has no sensor with id sensor 1', ['my-device', 'sensor 1', 'x']),
    'sensor my-device has no measurement with id sensor 1',
  );
  const given = ['device', 'sensor'];
  assert.equal(
    refusalToV1('device sensor has no sensor with id device', given),
    'sensor sensor has no measurement with id device',
  );
  assert.equal(refusalToV1('no device (a+device)', ['(a+device)']), 'no sensor (a+device)');
  assert.equal(refusalToV1('no device here', []), 'no sensor here');
});
