import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import mqtt, { type Packet } from 'mqtt-packet';
import {
  createPacketReader,
  encodeConnect,
  encodeDisconnect,
  encodePing,
  encodePublish,
  encodeSubscribe,
  encodeUnsubscribe,
  MqttFault,
  type ServerPacket,
} from './mqtt-codec.ts';

/** What an independent reader makes of our bytes. */
function understood(bytes: Uint8Array): Packet {
  const parser = mqtt.parser({ protocolVersion: 4 });
  const found: Packet[] = [];
  parser.on('packet', (packet) => found.push(packet));
  parser.on('error', (fault) => assert.fail(fault));
  parser.parse(Buffer.from(bytes));
  const [packet] = found;
  assert.ok(packet !== undefined && found.length === 1);
  return packet;
}

const read = (bytes: Uint8Array): ServerPacket[] => createPacketReader(1_000_000)(bytes);

test('CONNECT carries name, token, and a clean session', () => {
  const packet = understood(
    encodeConnect({ clientId: 'web-1', keepAliveSeconds: 300, username: 'ama', password: 'öäü' }),
  );
  assert.ok(packet.cmd === 'connect');
  assert.deepEqual(
    [packet.clientId, packet.keepalive, packet.clean, packet.protocolVersion],
    ['web-1', 300, true, 4],
  );
  assert.deepEqual([packet.username, packet.password?.toString()], ['ama', 'öäü']);
});

test('CONNECT of a guest has neither name nor password', () => {
  const bytes = encodeConnect({ clientId: 'w', keepAliveSeconds: 45, password: 'left out' });
  const packet = understood(bytes);
  assert.ok(packet.cmd === 'connect');
  assert.equal(packet.username, undefined);
  assert.equal(packet.password, undefined);
});

test('SUBSCRIBE and UNSUBSCRIBE name their filters', () => {
  const filters = ['devices/a/sensors/+/value', 'devices/ü/#'];
  const subscribe = understood(encodeSubscribe(513, filters));
  assert.ok(subscribe.cmd === 'subscribe' && subscribe.messageId === 513);
  assert.deepEqual(
    subscribe.subscriptions.map(({ topic, qos }) => [topic, qos]),
    filters.map((topic) => [topic, 0]),
  );
  const unsubscribe = understood(encodeUnsubscribe(7, filters));
  assert.ok(unsubscribe.cmd === 'unsubscribe' && unsubscribe.messageId === 7);
  assert.deepEqual(unsubscribe.unsubscriptions, filters);
});

test('PINGREQ and DISCONNECT are understood', () => {
  assert.equal(understood(encodePing()).cmd, 'pingreq');
  assert.equal(understood(encodeDisconnect()).cmd, 'disconnect');
});

test('any PUBLISH of ours is understood by an independent reader', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z/]{1,300}$/),
      fc.string({ unit: 'grapheme', maxLength: 20_000 }),
      (topic, payload) => {
        const packet = understood(encodePublish(topic, payload));
        assert.ok(packet.cmd === 'publish' && packet.qos === 0);
        assert.equal(packet.topic, topic);
        assert.equal(packet.payload.toString(), payload);
      },
    ),
    { numRuns: 50 },
  );
});

test('what an independent writer sends is read, however it is cut into pieces', () => {
  const packets: readonly Packet[] = [
    { cmd: 'connack', returnCode: 5, sessionPresent: false },
    { cmd: 'suback', messageId: 300, granted: [0, 128] },
    { cmd: 'publish', topic: 'a/ü', payload: 'x'.repeat(20_000), qos: 0, dup: false, retain: true },
    { cmd: 'publish', topic: 'b', payload: '{}', qos: 1, messageId: 9, dup: false, retain: false },
    { cmd: 'unsuback', messageId: 2, granted: [] },
    { cmd: 'pingresp' },
  ];
  const bytes = Buffer.concat(packets.map((packet) => mqtt.generate(packet)));
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 8 }), (cuts) => {
      const reader = createPacketReader(1_000_000);
      const edges = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const found = edges
        .slice(1)
        .flatMap((end, index) => reader(bytes.subarray(edges[index], end)));
      assert.deepEqual(
        found.map((packet) => packet.type),
        ['connack', 'suback', 'publish', 'publish', 'unsuback', 'pingresp'],
      );
      const [connack, suback, first, second] = found;
      assert.ok(connack?.type === 'connack' && connack.code === 5);
      assert.ok(suback?.type === 'suback' && suback.packetId === 300);
      assert.deepEqual(suback.codes, [0, 128]);
      assert.ok(first?.type === 'publish' && first.topic === 'a/ü');
      assert.equal(first.payload.length, 20_000);
      assert.ok(second?.type === 'publish' && new TextDecoder().decode(second.payload) === '{}');
    }),
    { numRuns: 50 },
  );
});

test('what cannot be MQTT is refused', () => {
  const bad: readonly (readonly number[])[] = [
    [0x30, 0xff, 0xff, 0xff, 0xff, 0x01],
    [0x30, 0x03, 0x00, 0x05, 0x61],
    [0x30, 0x04, 0x00, 0x02, 0xc3, 0x28],
    [0x36, 0x03, 0x00, 0x01, 0x61],
    [0x20, 0x01, 0x00],
    [0x10, 0x00],
    [0xf0, 0x00],
  ];
  for (const bytes of bad) {
    assert.throws(() => read(Uint8Array.from(bytes)), MqttFault, bytes.join());
  }
});

test('a packet longer than the limit is refused before it has arrived', () => {
  const reader = createPacketReader(1_000);
  assert.throws(() => reader(Uint8Array.of(0x30, 0xe9, 0x07)), MqttFault);
});

test('random bytes are read, awaited or refused, never anything else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
      try {
        for (const packet of read(bytes)) assert.ok(packet.type.length > 0);
      } catch (error) {
        assert.ok(error instanceof MqttFault);
      }
    }),
  );
});
