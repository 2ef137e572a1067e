import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { generate, type Packet } from 'mqtt-packet';
import { readPayload } from '../../../test/mqtt/sequence-payload.ts';
import { ProtocolError, reason } from './packet.ts';
import {
  decodeAcknowledgement,
  decodeConnect,
  decodeDisconnect,
  decodePublish,
  decodeRelease,
  decodeSubscribe,
  decodeUnsubscribe,
} from './packet-decoder.ts';
import { encodePublish } from './packet-encoder.ts';
import { PacketWriter } from './packet-writer.ts';

/** First byte and body of a packet in the words of a sequence, its length left out. */
function split(text: string): readonly [number, Buffer] {
  const bytes = readPayload(text);
  return [bytes[0] ?? 0, bytes.subarray(1)];
}

function codeOf(decode: () => unknown): number | 'accepted' {
  try {
    decode();
    return 'accepted';
  } catch (error) {
    assert.ok(error instanceof ProtocolError);
    return error.code;
  }
}

const { malformed, protocolError } = reason;

test('a publish that breaks a rule is refused with the code of that rule', () => {
  const cases: readonly [string, number | 'accepted'][] = [
    ["30 s3 'a/b' v0 'x'", 'accepted'],
    ["3d s3 'a/b' m7 v0 'x'", 'accepted'],
    ["36 s3 'a/b' m7 v0 'x'", malformed],
    ["38 s3 'a/b' v0 'x'", malformed],
    ["32 s3 'a/b' m0 v0 'x'", protocolError],
    ["30 s0 v0 'x'", malformed],
    ["30 s3 'a/+' v0", malformed],
    ["30 s3 'a/#' v0", malformed],
    ['30 s3 610062 v0', malformed],
    ['30 s3 61c328 v0', malformed],
    ['30 s3 eda080 v0', malformed],
    ['30 s3 efbfbf v0', malformed],
    ['30 s4 f09fbfbf v0', malformed],
    ['30 s4 f09f9880 v0', 'accepted'],
    ["30 s9 'a/b' v0", malformed],
    ["30 s1 'a' v3 01 02 00", protocolError],
    ["30 s1 'a' v2 01 02", protocolError],
    ["30 s1 'a' v2 0b 01", protocolError],
    ["30 s1 'a' v2 63 01", malformed],
    ["30 s1 'a' v4 01 01 01 01", protocolError],
    ["30 s1 'a' v9 01 01", malformed],
    ["30 s1 'a' v3 23 H0", reason.topicAliasInvalid],
    ["30 s1 'a' v6 08 s3 'b/#'", protocolError],
  ];
  for (const [text, code] of cases) {
    const [header, body] = split(text);
    assert.equal(
      codeOf(() => decodePublish(header, body, 5)),
      code,
      text,
    );
  }
});

test('tens of thousands of user properties are refused after one look at them', () => {
  const pair = readPayload('26 s0 s0');
  const properties = Buffer.concat(Array.from({ length: 40_000 }, () => pair));
  const body = Buffer.concat([readPayload(`s1 'a' v${properties.length}`), properties]);
  assert.equal(
    codeOf(() => decodePublish(0x30, body, 5)),
    reason.quotaExceeded,
  );
});

test('a message takes its own properties along, in order, without those for us', () => {
  const own = "01 01 03 s1 't' 26 s1 'a' s1 'b' 26 s1 'a' s1 'c'";
  const bytes = readPayload(own);
  const all = Buffer.concat([readPayload('02 L9'), bytes, readPayload('23 H4')]);
  const body = Buffer.concat([readPayload(`s1 'a' v${all.length}`), all, Buffer.from('x')]);
  const packet = decodePublish(0x30, body, 5);
  assert.deepEqual([packet.expirySeconds, packet.topicAlias], [9, 4]);
  assert.deepEqual(packet.properties, bytes);
  assert.equal(packet.payload.toString(), 'x');
});

const texts = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((text) => !/[\p{C}+#]/u.test(text));

test('what is encoded is decoded as it was', () => {
  fc.assert(
    fc.property(
      texts.filter((topic) => topic !== ''),
      fc.uint8Array({ maxLength: 6_000 }),
      fc.constantFrom<0 | 1 | 2>(0, 1, 2),
      fc.constantFrom(4, 5),
      fc.option(fc.integer({ min: 1, max: 0xffff_ffff }), { nil: undefined }),
      (topic, payload, qos, version, expirySeconds) => {
        const properties = version === 5 ? readPayload("26 s1 'a' s1 'b'") : Buffer.alloc(0);
        const message = { topic, payload, qos, retain: true, properties };
        const how = { version, qos, retain: true, identifiers: [], expirySeconds, alias: 0 };
        const frame = encodePublish(message, { ...how, isTopicKnown: false });
        const bytes = Buffer.concat([frame.head, frame.payload ?? Buffer.alloc(0)]);
        assert.equal(bytes.length, frame.size);
        if (qos > 0) bytes.writeUInt16BE(77, frame.idOffset);
        const start = bytes.findIndex((byte, at) => at > 0 && byte < 0x80) + 1;
        const packet = decodePublish(bytes[0] ?? 0, bytes.subarray(start), version);
        assert.deepEqual([packet.topic, packet.qos, packet.retain], [topic, qos, true]);
        assert.equal(packet.packetId, qos > 0 ? 77 : 0);
        assert.deepEqual(Buffer.from(packet.payload), Buffer.from(payload));
        assert.equal(packet.expirySeconds, version === 5 ? expirySeconds : undefined);
      },
    ),
  );
});

test('a CONNECT of another encoder is read with all its fields', () => {
  const text = generate(
    {
      cmd: 'connect',
      clientId: 'é',
      protocolId: 'MQTT',
      protocolVersion: 5,
      clean: false,
      keepalive: 30,
      username: 'ann',
      password: Buffer.from([0, 255]),
      properties: {
        sessionExpiryInterval: 9,
        receiveMaximum: 8,
        maximumPacketSize: 700,
        topicAliasMaximum: 6,
        requestProblemInformation: false,
      },
      will: {
        topic: 'w',
        payload: Buffer.from('gone'),
        qos: 2,
        retain: true,
        properties: { willDelayInterval: 4, messageExpiryInterval: 5, contentType: 't' },
      },
    },
    { protocolVersion: 5 },
  );
  const start = text.findIndex((byte, at) => at > 0 && byte < 0x80) + 1;
  const { will, ...packet } = decodeConnect(text[0] ?? 0, text.subarray(start));
  assert.deepEqual(packet, {
    version: 5,
    clientId: 'é',
    cleanStart: false,
    keepAliveSeconds: 30,
    username: 'ann',
    password: Buffer.from([0, 255]),
    sessionExpirySeconds: 9,
    receiveMaximum: 8,
    maximumPacketSize: 700,
    topicAliasMaximum: 6,
    wantsProblemInformation: false,
  });
  assert.deepEqual(
    [
      will?.topic,
      will?.payload.toString(),
      will?.qos,
      will?.retain,
      will?.delaySeconds,
      will?.expirySeconds,
    ],
    ['w', 'gone', 2, true, 4, 5],
  );
});

const samples: readonly Packet[] = [
  { cmd: 'puback', messageId: 1 },
  { cmd: 'subscribe', messageId: 2, subscriptions: [{ topic: 'a/+', qos: 1 }] },
  { cmd: 'unsubscribe', messageId: 3, unsubscriptions: ['a', 'b'] },
  { cmd: 'disconnect', reasonCode: 0, properties: { sessionExpiryInterval: 3 } },
  {
    cmd: 'connect',
    clientId: 'c',
    protocolId: 'MQTT',
    protocolVersion: 5,
    clean: true,
    keepalive: 1,
  },
  { cmd: 'publish', topic: 'a', payload: 'x', qos: 1, messageId: 4, retain: false, dup: false },
];

test('bytes of any kind are read or refused by every decoder, and nothing else is thrown', () => {
  const decoders = [
    decodePublish,
    decodeAcknowledgement,
    decodeRelease,
    decodeSubscribe,
    decodeUnsubscribe,
    decodeDisconnect,
    decodeConnect,
  ];
  const real = fc
    .constantFrom(...samples)
    .map((packet) => generate(packet, { protocolVersion: 5 }).subarray(2));
  const bodies = fc.oneof(fc.uint8Array({ maxLength: 60 }), real);
  fc.assert(
    fc.property(
      bodies,
      fc.nat(255),
      fc.array(fc.tuple(fc.nat(40), fc.nat(255)), { maxLength: 3 }),
      (bytes, header, changes) => {
        const body = Buffer.from(bytes);
        for (const [at, byte] of changes) if (at < body.length) body[at] = byte;
        for (const decode of decoders) codeOf(() => decode(header, body, 5));
      },
    ),
    { numRuns: 1_000 },
  );
});

test('an writer sends in order, once for each turn, however large the parts are', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9_000 }), { maxLength: 12 });
  fc.assert(
    fc.property(sizes, (lengths) => {
      const written: Uint8Array[] = [];
      let turns = 0;
      const transport = {
        write: (bytes: Uint8Array) => void written.push(Buffer.from(bytes)),
        bufferedBytes: 0,
        end: () => undefined,
        destroy: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
      };
      const writer = new PacketWriter(transport, { add: () => (turns += 1) });
      const parts = lengths.map((length, index) => Buffer.alloc(length, index + 1));
      for (const part of parts) writer.write(part);
      writer.flush();
      assert.deepEqual(Buffer.concat(written), Buffer.concat(parts));
      assert.equal(writer.waitingBytes, 0);
      assert.ok(turns <= lengths.length);
    }),
  );
});
