import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Datapoint } from '../domain/datapoints/datapoint.ts';
import type { DeviceSnapshot } from '../domain/datapoints/snapshots.ts';
import type { Device, Sensor } from '../domain/devices/device.ts';
import { guestUsername, parseDeviceId, parseSensorId } from '../domain/ids.ts';
import type { JsonValue } from '../lib/json.ts';
import { deviceToWire } from './device.ts';
import { deviceTexts, wholeDeviceText } from './device-text.ts';
import { sensorToWire } from './sensor.ts';
import { v2Spelling } from './spelling.ts';

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

/** The text of a device and another one, in the pieces that are sent. */
async function piecesOf(device: Device, last: Datapoint | undefined, isLarge: boolean) {
  const snapshot: DeviceSnapshot = {
    device,
    lastValueOf: () => (isLarge && last !== undefined ? 'large' : last),
    largeValueOf: async () => last,
  };
  async function* steps(): AsyncGenerator<readonly DeviceSnapshot[]> {
    yield [snapshot];
    yield [];
    yield [snapshot];
  }
  return Array.fromAsync(deviceTexts(steps()));
}

/** The message of a device with this last value of all its sensors. */
function messageOf(device: Device, lastValue: Datapoint | undefined): object {
  const sensors = device.sensors.map((sensor) => sensorToWire({ sensor, lastValue }));
  return { ...deviceToWire(device), sensors };
}

test('devices are written as their messages would be, also the second time', async () => {
  await fc.assert(
    fc.asyncProperty(devices, datapoints, fc.boolean(), async (device, last, isLarge) => {
      for (const datapoint of [undefined, last]) {
        const pieces = await piecesOf(device, datapoint, isLarge);
        const expected = JSON.stringify(messageOf(device, datapoint));
        assert.equal(pieces.join(''), `${expected},${expected}`);
      }
    }),
  );
});

test('a large last value is a piece of its own', async () => {
  const sensor = { id: parseSensorId('s') };
  const device: Device = {
    ...{ id: parseDeviceId('d'), owner: guestUsername, sensors: [sensor, sensor], actuators: [] },
    ...{ createdAt: 0, modifiedAt: 0 },
  };
  const value = 'x'.repeat(1_000_000);
  const pieces = await piecesOf(device, { value, receivedAt: 0 }, true);
  assert.ok(pieces.every((piece) => piece.length < 1_001_000));
});

test('the text of a device is kept until one of its last values is another', () => {
  const sensors: readonly Sensor[] = ['a', 'b'].map((id) => ({ id: parseSensorId(id) }));
  const device: Device = {
    ...{ id: parseDeviceId('d'), owner: guestUsername, sensors, actuators: [] },
    ...{ createdAt: 0, modifiedAt: 0 },
  };
  const lasts = new Map<Sensor, Datapoint>();
  let written = 0;
  const read = (isStable = true) => {
    const snapshot: DeviceSnapshot = {
      device,
      lastValueOf(sensor) {
        written += 1;
        return lasts.get(sensor);
      },
      largeValueOf: async () => undefined,
      ...(isStable && { stableValueOf: (sensor) => lasts.get(sensor) }),
    };
    return wholeDeviceText(snapshot, v2Spelling);
  };
  const messages = () => {
    const shown = sensors.map((sensor) => sensorToWire({ sensor, lastValue: lasts.get(sensor) }));
    return JSON.stringify({ ...deviceToWire(device), sensors: shown });
  };
  for (const sensor of [undefined, ...sensors, ...sensors]) {
    if (sensor !== undefined) lasts.set(sensor, { value: lasts.size, receivedAt: written });
    const first = read();
    assert.equal(first?.text, messages());
    const writtenBefore = written;
    assert.equal(read(), first);
    assert.equal(written, writtenBefore);
    // For instance for a client that asks for values that are not calibrated.
    assert.equal(read(false), first);
    assert.equal(written, writtenBefore + sensors.length);
  }
  // An account that may not see the values gets a text of its own in between.
  const hidden = { device, lastValueOf: () => undefined, largeValueOf: async () => undefined };
  const withValues = read()?.text;
  assert.notEqual(wholeDeviceText(hidden, v2Spelling)?.text, withValues);
  assert.equal(read()?.text, withValues);
});
