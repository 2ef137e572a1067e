import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import type { Device } from '../domain/devices/device.ts';
import type { Sensor } from '../domain/devices/sensor.ts';
import { guestUsername, parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { JsonValue } from '../lib/json.ts';
import { deviceToWire } from './device.ts';
import { deviceText } from './device-text.ts';

const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('"sensors":[]'));
const values = fc.jsonValue() as fc.Arbitrary<JsonValue>;

const sensors: fc.Arbitrary<Sensor> = fc
  .record({ id: fc.constantFrom('TC1', 'a:b'), name: texts, unit: texts }, { requiredKeys: ['id'] })
  .map((sensor) => ({ ...sensor, id: parseSensorId(sensor.id) }));

const devices: fc.Arbitrary<Device> = fc
  .record(
    { name: texts, domain: texts, meta: values, sensors: fc.array(sensors, { maxLength: 3 }) },
    { requiredKeys: ['sensors'] },
  )
  .map((device) => ({
    ...device,
    id: parseDeviceId('D1'),
    owner: guestUsername,
    actuators: [],
    createdAt: 0,
    modifiedAt: 1_700_000_000_000,
  }));

const datapoints: fc.Arbitrary<Datapoint | undefined> = fc.option(
  fc.record(
    { value: values, timestamp: fc.integer(), receivedAt: fc.integer() },
    { requiredKeys: ['value', 'receivedAt'] },
  ),
  { nil: undefined },
);

test('a device is written as its message would be, also the second time', () => {
  fc.assert(
    fc.property(devices, datapoints, datapoints, (device, first, second) => {
      for (const datapoint of [first, second]) {
        const snapshot = { device, lastValueOf: () => datapoint };
        assert.equal(deviceText(snapshot), JSON.stringify(deviceToWire(snapshot)));
      }
    }),
  );
});
