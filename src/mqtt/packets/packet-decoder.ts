import type { Qos } from '../../domain/messaging/message.ts';
import { neverExpires } from '../../domain/messaging/session-store.ts';
import { isTopicFilter, isTopicName, readSharedFilter } from '../../lib/topic-filter.ts';
import { mqttLimits } from '../limits.ts';
import {
  type ConnectPacket,
  malformed,
  ProtocolError,
  type ProtocolVersion,
  type PublishPacket,
  packetType,
  protocolError,
  reason,
  type WillPacket,
} from './packet.ts';
import { ByteReader, noProperties, place, readProperties } from './properties.ts';
import { readTopicName } from './topic-names.ts';

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
  const topic = readTopicName(body, 2, topicEnd);
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
  if (topic === '' && properties.topicAlias === undefined) throw malformed('the topic is empty');
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
export function decodeAcknowledgement(header: number, body: Buffer, version: ProtocolVersion) {
  if ((header & 15) !== 0) throw malformed('the packet has reserved flags');
  return readAcknowledgement(body, version, acknowledgementCodes);
}

/** Reads PUBREL, whose flags are 2, and PUBCOMP, whose flags are 0. */
export function decodeRelease(header: number, body: Buffer, version: ProtocolVersion) {
  const flags = header >> 4 === 6 ? 2 : 0;
  if ((header & 15) !== flags) throw protocolError('the packet has reserved flags');
  return readAcknowledgement(body, version, releaseCodes);
}

function readAcknowledgement(
  body: Buffer,
  version: ProtocolVersion,
  codes: ReadonlySet<number>,
): { readonly packetId: number; readonly reasonCode: number } {
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
export function decodeSubscribe(header: number, body: Buffer, version: ProtocolVersion) {
  const { reader, packetId } = readListHead(header, body);
  const properties = version === 5 ? readProperties(reader, place.subscribe) : noProperties;
  const identifier = properties.subscriptionIdentifier ?? 0;
  const { list: subscriptions, surplus } = readList(reader, true, (filter, options) => ({
    filter,
    identifier,
    ...readOptions(options, filter, version),
  }));
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
export function decodeUnsubscribe(header: number, body: Buffer, version: ProtocolVersion) {
  const { reader, packetId } = readListHead(header, body);
  if (version === 5) readProperties(reader, place.unsubscribe);
  const { list: filters, surplus } = readList(reader, false, (filter) => filter);
  return { packetId, filters, surplus };
}

function readListHead(header: number, body: Buffer) {
  if ((header & 15) !== 2) throw malformed('the packet has reserved flags');
  const reader = new ByteReader(body);
  const packetId = reader.twoBytes();
  if (packetId === 0) throw malformed('the packet id is 0');
  return { reader, packetId };
}

/** Reads the filters of a packet; `surplus` counts those behind too many, which are not read. */
function readList<One>(
  reader: ByteReader,
  hasOptions: boolean,
  read: (filter: string, options: number) => One,
) {
  const list: One[] = [];
  while (!reader.isAtEnd && list.length < mqttLimits.filtersPerPacketMax) {
    const filter = reader.text();
    if (!isTopicFilter(filter)) throw malformed('the filter is not well-formed');
    if (readSharedFilter(filter) === 'invalid') throw malformed('the shared filter is incomplete');
    list.push(read(filter, hasOptions ? reader.byte() : 0));
  }
  // [MQTT-3.8.3-2]
  if (list.length === 0) throw malformed('there is no filter');
  let surplus = 0;
  for (; !reader.isAtEnd; surplus += 1) {
    reader.skipText();
    if (hasOptions) reader.byte();
  }
  return { list, surplus };
}

/** Reads a DISCONNECT. */
export function decodeDisconnect(header: number, body: Buffer, version: ProtocolVersion) {
  if ((header & 15) !== 0) throw protocolError('DISCONNECT has reserved flags');
  if (body.length === 0) return { reasonCode: 0, sessionExpirySeconds: undefined };
  if (version !== 5) throw malformed('the packet is longer than its fields');
  const reasonCode = body[0] ?? 0;
  const reader = new ByteReader(body, 1);
  const properties = body.length > 1 ? readProperties(reader, place.disconnect) : noProperties;
  reader.requireEnd();
  return { reasonCode, sessionExpirySeconds: properties.sessionExpirySeconds };
}

const flag = { cleanStart: 2, will: 4, willRetain: 32, password: 64, username: 128 } as const;
/** Set in the level of the protocol by a bridge of another broker. */
const bridgeBit = 0x80;

/** An error in a CONNECT, with the version that decides how the refusal is spelled. */
export class ConnectError extends ProtocolError {
  readonly version: ProtocolVersion;

  constructor(version: ProtocolVersion, error: ProtocolError) {
    super(error.code, error.message, error);
    this.name = 'ConnectError';
    this.version = version;
  }
}

/** Reads a CONNECT, or throws ConnectError. */
export function decodeConnect(header: number, body: Buffer): ConnectPacket {
  let version: ProtocolVersion = 5;
  try {
    const reader = new ByteReader(body);
    const name = readSilently(() => reader.text());
    const level = readSilently(() => reader.byte());
    version = spellingOf(level);
    // Before 3.1.1 they meant nothing.
    if ((header & 15) !== 0 && version !== 3) throw silently('CONNECT has reserved flags');
    const packet = readFields(reader, readVersion(name, level));
    return (level & bridgeBit) === 0 ? packet : { ...packet, isBridge: true };
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    // Before MQTT 5 there was no word for a malformed packet [MQTT-4.8.0-1].
    const hasWord = version === 5 || error.code !== reason.malformed;
    throw new ConnectError(version, hasWord ? error : silently(error.message));
  }
}

/** A version that is not spoken here at all is refused in the words of the newest. */
const spellingOf = (level: number): ProtocolVersion => {
  const version = level & ~bridgeBit;
  return version === 3 || version === 4 ? version : 5;
};

function readVersion(name: string, level: number): ProtocolVersion {
  const version = level & ~bridgeBit;
  if (name === 'MQIsdp' && version === 3) return 3;
  if (name === 'MQTT' && (version === 4 || version === 5)) return version;
  if (name === 'MQTT' || name === 'MQIsdp') {
    throw new ProtocolError(reason.protocolVersion, `protocol ${name} ${level} is not spoken here`);
  }
  throw silently('the protocol is not MQTT');
}

function readFields(reader: ByteReader, version: ProtocolVersion): ConnectPacket {
  const flags = readSilently(() => reader.byte());
  checkFlags(flags, version);
  const keepAliveSeconds = readSilently(() => reader.twoBytes());
  const properties = version === 5 ? readProperties(reader, place.connect) : noProperties;
  const clientId = readClientId(reader, version);
  const will = (flags & flag.will) === 0 ? undefined : readWill(reader, flags, version);
  const username = (flags & flag.username) === 0 ? undefined : readSilently(() => reader.text());
  const password = (flags & flag.password) === 0 ? undefined : readSilently(() => reader.binary());
  reader.requireEnd();
  const cleanStart = (flags & flag.cleanStart) !== 0;
  const { sessionExpirySeconds = 0, authenticationMethod } = properties;
  return {
    version,
    clientId,
    cleanStart,
    keepAliveSeconds,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(will !== undefined && { will }),
    // Before version 5, a session that is not clean has no end [MQTT-3.1.2-4].
    sessionExpirySeconds: version === 5 ? sessionExpirySeconds : cleanStart ? 0 : neverExpires,
    receiveMaximum: properties.receiveMaximum ?? 65_535,
    maximumPacketSize: properties.maximumPacketSize ?? 0xffff_ffff,
    topicAliasMaximum: properties.topicAliasMaximum ?? 0,
    wantsProblemInformation: properties.wantsProblemInformation ?? true,
    ...(authenticationMethod !== undefined && { authenticationMethod }),
  };
}

function checkFlags(flags: number, version: ProtocolVersion): void {
  // [MQTT-3.1.2-3]; 3.1 did not mind.
  if ((flags & 1) !== 0 && version !== 3) throw silently('the reserved flag of CONNECT is set');
  const qos = (flags >> 3) & 3;
  if (qos === 3) throw silently('the QoS of the will is 3');
  if ((flags & flag.will) === 0 && (flags & (flag.willRetain | 24)) !== 0) {
    throw silently('there are flags of a will, and no will');
  }
  // [MQTT-3.1.2-22]; version 5 allows a password alone.
  if (version !== 5 && (flags & flag.password) !== 0 && (flags & flag.username) === 0) {
    throw silently('there is a password without a username');
  }
}

function readClientId(reader: ByteReader, version: ProtocolVersion): string {
  try {
    return reader.text();
  } catch (error) {
    if (!(error instanceof ProtocolError) || version !== 5) throw error;
    throw new ProtocolError(reason.clientIdInvalid, error.message);
  }
}

function readWill(reader: ByteReader, flags: number, version: ProtocolVersion): WillPacket {
  const properties = version === 5 ? readProperties(reader, place.will) : noProperties;
  const topic = reader.text();
  const payload = reader.binary();
  if (!isTopicName(topic)) throw malformed('the topic of the will is no topic');
  const { willDelaySeconds: delaySeconds = 0, expirySeconds, forwarded } = properties;
  return {
    topic,
    payload,
    qos: ((flags >> 3) & 3) as Qos,
    retain: (flags & flag.willRetain) !== 0,
    delaySeconds,
    ...(expirySeconds !== undefined && { expirySeconds }),
    ...(forwarded !== undefined && { properties: forwarded }),
  };
}

/** The error of a peer that is not answered, as it cannot even say CONNECT. */
function silently(message: string): ProtocolError {
  return new ProtocolError(reason.malformed, message, { isSilent: true });
}

function readSilently<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof ProtocolError) throw silently(error.message);
    throw error;
  }
}

/** Enhanced authentication is not offered [MQTT-4.12.0-1]. */
export function requireNoMethod({ authenticationMethod }: ConnectPacket): void {
  if (authenticationMethod === undefined) return;
  throw new ProtocolError(
    reason.badAuthenticationMethod,
    'enhanced authentication is not offered: use a username and a password',
  );
}

/** Refuses a first packet that is not CONNECT, by its first byte [MQTT-3.1.0-1]. */
export function requireConnect(header: number): void {
  if (header >> 4 === packetType.connect) return;
  throw new ProtocolError(reason.protocolError, 'the first packet is not CONNECT', {
    isSilent: true,
  });
}
