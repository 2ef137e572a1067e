import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseActuatorId, parseDeviceId, parseSensorId } from '../domain/ids.ts';
import { actuatorTopic, createTopicReader, valuesTopic, valueTopic } from './topics.ts';

const readTopic = createTopicReader();

const anId = fc
  .stringMatching(/^[!$*,\-.0-9:@A-Z[\]^_`a-z{|}~]{1,40}$/)
  .filter((id) => id !== '.' && id !== '..');

test('the topics of sensors and actuators lead back to their ids', () => {
  fc.assert(
    fc.property(anId, anId, (device, part) => {
      const deviceId = parseDeviceId(device);
      const sensor = { deviceId, sensorId: parseSensorId(part) };
      for (const topic of [valueTopic(sensor), valuesTopic(sensor)]) {
        assert.deepEqual(readTopic(topic), { kind: 'datapoints', sensor });
      }
      const actuatorId = parseActuatorId(part);
      const expected = { kind: 'actuator', deviceId, actuatorId };
      assert.deepEqual(readTopic(actuatorTopic(deviceId, actuatorId)), expected);
    }),
  );
});

test('any topic means something, and the same each time', () => {
  fc.assert(
    fc.property(
      fc.string(),
      fc.constantFrom('', 'devices/', 'devices/d/sensors/'),
      (end, start) => {
        assert.deepEqual(readTopic(start + end), createTopicReader()(start + end));
      },
    ),
  );
});

test('what is below a device or gateway and carries no value is a device topic', () => {
  const deviceTopics = {
    'devices/d/x': 'd',
    'devices/d/sensors/t': 'd',
    'devices/d/sensors/t/value/x': 'd',
    'devices/d/actuators/a/values': 'd',
    'devices/d/': 'd',
    'gateways/g/x/y': 'g',
  };
  for (const [topic, id] of Object.entries(deviceTopics)) {
    const kind = topic.startsWith('gateways') ? 'gateway' : 'device';
    assert.deepEqual(readTopic(topic), { kind: 'device_topic', owner: { kind, id } }, topic);
  }
});

test('everything else means nothing, and what begins with $SYS is the service’s', () => {
  for (const topic of ['devices', 'devices/d', 'devices//x', '/devices/d/x', 'x/devices/d/x', '']) {
    assert.deepEqual(readTopic(topic), { kind: 'nothing' }, topic);
  }
  for (const topic of ['devices/a b/sensors/t/value', 'devices/../sensors/t/value']) {
    assert.deepEqual(readTopic(topic), { kind: 'nothing' }, topic);
  }
  assert.deepEqual(readTopic('$SYS/x'), { kind: 'system' });
  assert.deepEqual(readTopic('$sys/x'), { kind: 'nothing' });
});
