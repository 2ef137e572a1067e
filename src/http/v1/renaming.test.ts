import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import Type from 'typebox';
import { parseJson } from '../../lib/json.ts';
import { DeviceMessage, NewDeviceMessage } from '../../wire/device.ts';
import { Prose, Word } from '../../wire/fields.ts';
import { renamingOf } from './renaming.ts';

const Part = Type.Object({ id: Type.String(), meta: Type.Optional(Type.Unknown()) });

const Message = Type.Object({
  device_id: Type.String(),
  sensor_id: Type.Optional(Type.String()),
  sensors: Type.Optional(Type.Array(Part)),
  scopes: Type.Optional(Type.Array(Word())),
  note: Type.Optional(Prose('Of the device.')),
  name: Type.Optional(Type.String()),
  meta: Type.Optional(Type.Unknown()),
  action: Type.Optional(
    Type.Union([Type.Object({ devices: Type.Array(Type.String()) }), Type.Object({ value: Part })]),
  ),
});

const renaming = renamingOf(Message);

test('keys and marked texts are renamed, free values and other texts are not', () => {
  const free = { device_id: 1, sensors: [{ action: 'device' }] };
  const ofV2 = {
    device_id: 'device',
    sensor_id: 'sensors',
    sensors: [{ id: 'sensor', meta: free }],
    scopes: ['devices:view', 'gateways:view'],
    name: 'device',
    meta: free,
    action: { devices: ['device'] },
  };
  const ofV1 = {
    sensor_id: 'device',
    measurement_id: 'sensors',
    measurements: [{ id: 'sensor', meta: free }],
    scopes: ['sensors:view', 'gateways:view'],
    name: 'device',
    meta: free,
    notification: { sensors: ['device'] },
  };
  assert.deepEqual(renaming.toV1(ofV2), ofV1);
  assert.deepEqual(renaming.toV2(ofV1), ofV2);
});

test('sentences of the service are told in the words of version 1', () => {
  const told = renaming.toV1({ device_id: 'a', note: 'no such device' });
  assert.deepEqual(told, { sensor_id: 'a', note: 'no such sensor' });
});

test('what version 2 alone knows by a name is nothing in version 1', () => {
  assert.deepEqual(renaming.toV2({ device_id: 'a', sensors: [], action: {}, others: 1 }), {
    others: 1,
  });
});

test('a message that is no object is handed through for the validation to refuse', () => {
  for (const message of [null, 1, 'device', [], [null, 'x'], true]) {
    assert.deepEqual(renaming.toV2(message), message);
    assert.deepEqual(renaming.toV1(message), message);
  }
  const long = parseJson(
    '{"device_id":12345678901234567890.5,"sensors":-98765432109876543210}',
    10,
  );
  assert.equal(
    JSON.stringify(renaming.toV1(long)),
    '{"sensor_id":12345678901234567890.5,"measurements":-98765432109876543210}',
  );
});

test('a key that means something to JavaScript stays a key', () => {
  const message = JSON.parse('{"device_id":"a","__proto__":{"sensors":1}}');
  assert.equal(
    JSON.stringify(renaming.toV1(message)),
    '{"sensor_id":"a","__proto__":{"sensors":1}}',
  );
});

test('the schema is renamed with its descriptions, required fields and nothing else', () => {
  const schema = JSON.parse(JSON.stringify(renaming.schema));
  assert.deepEqual(schema.required, ['sensor_id']);
  assert.equal(schema.properties.note.description, 'Of the sensor.');
  assert.deepEqual(Object.keys(schema.properties.notification.anyOf[0].properties), ['sensors']);
  assert.ok(!('device_id' in schema.properties));
});

test('a schema without words is plain and its messages are the same object', () => {
  const plain = renamingOf(Type.Object({ value: Type.Unknown(), of: Type.Array(Part) }));
  assert.ok(plain.isPlain);
  const message = { value: { device_id: 1 } };
  assert.equal(plain.toV1(message), message);
  assert.equal(plain.toV2(message), message);
});

test('texts that a device has not are empty in version 1, and absent again in version 2', () => {
  const told = renamingOf(DeviceMessage).toV1({ id: 'a', owner: 'ama', name: 'x' });
  const texts = JSON.stringify(told);
  assert.equal(texts, '{"id":"a","gateway_id":"","name":"x","visibility":"","owner":"ama"}');
  const back = renamingOf(NewDeviceMessage).toV2(told);
  assert.deepEqual(back, { id: 'a', name: 'x', owner: 'ama' });
});

test('any message of version 2 comes back from version 1 as it was', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('device', 'sensors', 'notification'));
  const json = fc.jsonValue();
  const part = fc.record({ id: text, meta: json }, { requiredKeys: ['id'], noNullPrototype: true });
  const messages = fc.record(
    {
      device_id: text,
      sensor_id: text,
      sensors: fc.array(part),
      name: text,
      meta: json,
      action: fc.oneof(
        fc.record({ devices: fc.array(text) }, { noNullPrototype: true }),
        fc.record({ value: part }, { noNullPrototype: true }),
      ),
    },
    { requiredKeys: [], noNullPrototype: true },
  );
  fc.assert(
    fc.property(messages, (message) => {
      const there = renaming.toV1(message);
      assert.equal(JSON.stringify(renaming.toV2(there)), JSON.stringify(message));
    }),
  );
});
