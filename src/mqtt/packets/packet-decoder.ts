import type { Qos } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';
import { isTopicFilter, isTopicName, readSharedFilter } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import { ByteReader, readText } from './byte-reader.ts';
import {
  type AcknowledgementPacket,
  type DisconnectPacket,
  malformed,
  type ProtocolVersion,
  type PublishPacket,
  protocolError,
  type SubscribePacket,
  type UnsubscribePacket,
} from './packet.ts';
import { noProperties, place, readProperties } from './properties.ts';

/** Reads a PUBLISH; nothing of it is copied. */
export function decodePublish(header: number, body: Buffer, version: number): PublishPacket {
  const qos = (header >> 1) & 3;
  if (qos === 3) throw malformed('the QoS is 3');
  const isDuplicate = (header & 8) !== 0;
  if (qos === 0 && isDuplicate) throw malformed('DUP is set with QoS 0');
  if (body.length < 2) throw malformed('the packet is shorter than its fields');
  const topicEnd = 2 + body.readUInt16BE(0);
  let offset = topicEnd + (qos > 0 ? 2 : 0);
  if (offset > body.length) throw malformed('the packet is shorter than its fields');
  const topic = readText(body, 2, topicEnd);
  const packetId = qos > 0 ? body.readUInt16BE(topicEnd) : 0;
  if (qos > 0 && packetId === 0) throw protocolError('the packet id is 0');
  let properties = noProperties;
  if (version === 5) {
    if (body[offset] === 0) offset += 1;
    else {
      const reader = new ByteReader(body, offset);
      properties = readProperties(reader, place.publish);
      offset = reader.offset;
    }
  }
  if (topic === '') {
    if (properties.topicAlias === undefined) throw malformed('the topic is empty');
  } else if (!isTopicName(topic)) throw malformed('the topic holds a wildcard');
  return {
    topic,
    qos: qos as Qos,
    retain: (header & 1) !== 0,
    isDuplicate,
    packetId,
    payload: body.subarray(offset),
    expirySeconds: properties.expirySeconds,
    topicAlias: properties.topicAlias ?? 0,
    properties: properties.forwarded,
  };
}

/** Reason codes that MQTT 5 allows in the packet. */
const acknowledgementCodes: ReadonlySet<number> = new Set([
  0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99,
]);
const releaseCodes: ReadonlySet<number> = new Set([0x00, 0x92]);

/** Reads PUBACK and PUBREC; for PUBREL and PUBCOMP, decodeRelease. */
export function decodeAcknowledgement(
  header: number,
  body: Buffer,
  version: ProtocolVersion,
): AcknowledgementPacket {
  if ((header & 15) !== 0) throw malformed('the packet has reserved flags');
  return readAcknowledgement(body, version, acknowledgementCodes);
}

/** Reads PUBREL, whose flags are 2, and PUBCOMP, whose flags are 0. */
export function decodeRelease(
  header: number,
  body: Buffer,
  version: ProtocolVersion,
): AcknowledgementPacket {
  const flags = header >> 4 === 6 ? 2 : 0;
  if ((header & 15) !== flags) throw protocolError('the packet has reserved flags');
  return readAcknowledgement(body, version, releaseCodes);
}

function readAcknowledgement(
  body: Buffer,
  version: ProtocolVersion,
  codes: ReadonlySet<number>,
): AcknowledgementPacket {
  if (body.length < 2) throw malformed('the packet is shorter than its fields');
  const packetId = body.readUInt16BE(0);
  if (packetId === 0) throw protocolError('the packet id is 0');
  if (body.length === 2) return { packetId, reasonCode: 0 };
  if (version !== 5) throw malformed('the packet is longer than its fields');
  const reasonCode = body[2] ?? 0;
  if (!codes.has(reasonCode)) throw protocolError('the reason code is not allowed here');
  if (body.length > 3) {
    const reader = new ByteReader(body, 3);
    readProperties(reader, place.acknowledgement);
    reader.requireEnd();
  }
  return { packetId, reasonCode };
}

/** Reads a SUBSCRIBE. */
export function decodeSubscribe(
  header: number,
  body: Buffer,
  version: ProtocolVersion,
): SubscribePacket {
  const { reader, packetId } = readListHead(header, body);
  const properties = version === 5 ? readProperties(reader, place.subscribe) : noProperties;
  const identifier = properties.subscriptionIdentifier ?? 0;
  const subscriptions: Subscription[] = [];
  while (!reader.isAtEnd && subscriptions.length < mqttLimits.filtersPerPacketMax) {
    const filter = readFilter(reader);
    const options = reader.byte();
    subscriptions.push({ filter, identifier, ...readOptions(options, filter, version) });
  }
  // [MQTT-3.8.3-2]
  if (subscriptions.length === 0) throw malformed('there is no filter');
  let surplus = 0;
  for (; !reader.isAtEnd; surplus += 1) {
    reader.skipText();
    reader.byte();
  }
  return { packetId, subscriptions, surplus };
}

function readOptions(options: number, filter: string, version: ProtocolVersion) {
  const qos = options & 3;
  const retainHandling = (options >> 4) & 3;
  const reserved = version === 5 ? 0xc0 : 0xfc;
  if (qos === 3 || retainHandling === 3 || (options & reserved) !== 0) {
    throw malformed('the options of a subscription are reserved');
  }
  const noLocal = (options & 4) !== 0;
  // [MQTT-3.8.3-4]
  if (noLocal && filter.startsWith('$share/')) {
    throw protocolError('a shared subscription cannot be without local messages');
  }
  return {
    qos: qos as Qos,
    noLocal,
    retainAsPublished: (options & 8) !== 0,
    retainHandling: retainHandling as 0 | 1 | 2,
  };
}

/** Reads an UNSUBSCRIBE. */
export function decodeUnsubscribe(
  header: number,
  body: Buffer,
  version: ProtocolVersion,
): UnsubscribePacket {
  const { reader, packetId } = readListHead(header, body);
  if (version === 5) readProperties(reader, place.unsubscribe);
  const filters: string[] = [];
  while (!reader.isAtEnd && filters.length < mqttLimits.filtersPerPacketMax) {
    filters.push(readFilter(reader));
  }
  if (filters.length === 0) throw malformed('there is no filter');
  let surplus = 0;
  for (; !reader.isAtEnd; surplus += 1) reader.skipText();
  return { packetId, filters, surplus };
}

function readListHead(header: number, body: Buffer) {
  if ((header & 15) !== 2) throw malformed('the packet has reserved flags');
  const reader = new ByteReader(body);
  const packetId = reader.twoBytes();
  if (packetId === 0) throw malformed('the packet id is 0');
  return { reader, packetId };
}

function readFilter(reader: ByteReader): string {
  const filter = reader.text();
  if (!isTopicFilter(filter)) throw malformed('the filter is not well-formed');
  if (readSharedFilter(filter) === 'invalid') throw malformed('the shared filter is incomplete');
  return filter;
}

/** Reads a DISCONNECT. */
export function decodeDisconnect(
  header: number,
  body: Buffer,
  version: ProtocolVersion,
): DisconnectPacket {
  if ((header & 15) !== 0) throw protocolError('DISCONNECT has reserved flags');
  if (body.length === 0) return { reasonCode: 0, sessionExpirySeconds: undefined };
  if (version !== 5) throw malformed('the packet is longer than its fields');
  const reasonCode = body[0] ?? 0;
  const reader = new ByteReader(body, 1);
  const properties = body.length > 1 ? readProperties(reader, place.disconnect) : noProperties;
  reader.requireEnd();
  return { reasonCode, sessionExpirySeconds: properties.sessionExpirySeconds };
}
