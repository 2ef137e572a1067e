import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Change } from '../domain/changes.ts';
import { singleBatch, toColumnBatch, toDatapoints } from '../domain/datapoints/column-batch.ts';
import type { ActuatorId, DeviceId, ProjectId, SensorId } from '../domain/ids.ts';
import { memberLimits } from '../domain/members/member-limits.ts';
import { sessionKey } from '../domain/messaging/message.ts';
import type { JsonValue } from '../lib/json.ts';
import { createPublishContextForm, MqttPublishContext } from '../mqtt/deliveries.ts';
import { changeOfText, createEventText, isEventText, textOfChange } from './entry-text.ts';

const text = createEventText(createPublishContextForm({ own: 1 }));
const anId = fc.string({ minLength: 1, maxLength: 20 });
const aTime = fc.integer({ min: 0, max: 4e12 });
const aValue = fc.jsonValue() as fc.Arbitrary<JsonValue>;
const written = (value: JsonValue): JsonValue => JSON.parse(JSON.stringify(value)) as JsonValue;

test('datapoints come out as they went in', () => {
  fc.assert(
    fc.property(
      anId,
      anId,
      aValue,
      fc.option(aTime),
      aTime,
      (device, sensor, value, at, received) => {
        const batch = singleBatch(value, at ?? undefined, received);
        const deviceId = device as DeviceId;
        const sensorId = sensor as SensorId;
        const one = text.ofLast({ deviceId, sensorId, batch });
        assert.ok(isEventText(one));
        assert.deepEqual(text.read(one), {
          ...{ kind: 'datapoints', deviceId, sensorId },
          datapoints: toDatapoints(singleBatch(written(value), at ?? undefined, received)),
        });
      },
    ),
  );
});

test('a setting keeps how it was published: bytes, properties and who did', () => {
  const message = {
    ...({ topic: 'devices/d/actuators/a/value', qos: 2, retain: true, expiresAt: 9 } as const),
    payload: Uint8Array.of(0, 255, 1),
    properties: Uint8Array.of(38, 0),
    publisher: sessionKey('account/ü', 'pump\u0000?'),
  };
  const publishContext = new MqttPublishContext(message, { datapoints: [], form: 'object' });
  const change = { deviceId: 'd' as DeviceId, actuatorId: 'a' as ActuatorId, value: [1, null] };
  const read = text.read(text.ofSetting({ ...change, publishContext }));
  assert.ok(read?.kind === 'actuator' && read.publishContext instanceof MqttPublishContext);
  const { payload, properties, ...rest } = read.publishContext.message;
  const { payload: bytes, properties: more, ...others } = message;
  assert.deepEqual(rest, others);
  assert.deepEqual([...payload, ...(properties ?? [])], [...bytes, ...more]);
  assert.deepEqual([read.value, read.publishContext.form], [[1, null], 'object']);
});

test('settings are named apart: they are published here before they are told', () => {
  const form = createPublishContextForm({ own: 3 });
  const { ofSetting } = createEventText(form);
  const nameOf = (publishContext?: MqttPublishContext): unknown => {
    const ids = { deviceId: 'd' as DeviceId, actuatorId: 'a' as ActuatorId };
    const change: Parameters<typeof ofSetting>[0] = {
      ...{ ...ids, value: 1 },
      ...(publishContext && { publishContext }),
    };
    ofSetting(change);
    return (publishContext?.message ?? change).origin;
  };
  const message = { topic: 't', qos: 1, retain: false, payload: Uint8Array.of(1) } as const;
  const first = form.origin();
  const settings = [
    nameOf(),
    nameOf(new MqttPublishContext(message, { datapoints: [], form: 'object' })),
  ];
  assert.deepEqual(settings, [
    { writer: -3, at: first.at },
    { writer: -3, at: 2 * first.at },
  ]);
  assert.deepEqual(form.origin(), { writer: 3, at: 2 * first.at });
});

test('what is no event of this version is nothing', () => {
  for (const other of ['[', '[]', '["datapoints"]', '["invented","d","s",{},null]', '[1,2,3]']) {
    assert.equal(text.read(other), undefined, other);
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (other) => {
      assert.equal(text.read(other), undefined);
    }),
  );
});

test('a long push is told in parts that have all of it, in order, none of them long', () => {
  const [deviceId, sensorId] = ['d' as DeviceId, 's' as SensorId];
  const datapoints = Array.from({ length: 3_456 }, (_, at) => ({
    ...{ value: at % 7 === 0 ? `text ${at} ${'x'.repeat(at % 500)}` : at, receivedAt: 5 },
    ...(at % 3 === 0 && { timestamp: at }),
  }));
  const batch = toColumnBatch(datapoints);
  const texts = [...text.ofPush({ deviceId, sensorId, batch })];
  assert.ok(texts.every((one) => one.length < 256 * 1_024));
  const read = texts.map((one) => text.read(one));
  assert.deepEqual(
    read.flatMap((event) => (event?.kind === 'datapoints' ? event.datapoints : [])),
    toDatapoints(batch),
  );
  const last = read.pop();
  assert.ok(last?.kind === 'datapoints' && last.isPart === undefined);
  assert.equal(last.datapoints.length, 1_000);
  assert.ok(read.every((event) => event?.kind === 'datapoints' && event.isPart));
  assert.equal(text.ofLast({ deviceId, sensorId, batch }), texts.at(-1));
});

const anythingChanged = { kind: 'anything' };

test('a change comes out as it went in', () => {
  const change: Change = { kind: 'device_changed', deviceId: 'Küche ☃' as DeviceId };
  assert.deepEqual(changeOfText(textOfChange(change)), change);
});

test('one that is too long says that anything may have changed', () => {
  const deviceIds = Array.from({ length: 40_000 }, (_, at) => `device-${at}` as DeviceId);
  const projectId = 'p' as ProjectId;
  const change: Change = { kind: 'project_changed', projectId, deviceIds, gatewayIds: [] };
  const text = textOfChange(change);
  assert.ok(text.length <= memberLimits.entryCharactersMax);
  assert.deepEqual(changeOfText(text), anythingChanged);
});

test('what this version does not know means that anything may have changed', () => {
  for (const kind of ['invented', 'constructor', '__proto__', 1, null]) {
    assert.deepEqual(changeOfText(JSON.stringify({ kind })), anythingChanged);
  }
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
      assert.deepEqual(changeOfText(text), anythingChanged);
    }),
  );
});
