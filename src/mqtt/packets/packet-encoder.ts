import type { Message, Qos } from '../../domain/messaging/message.ts';
import { type ProtocolVersion, packetType, returnCodeOf } from './packet.ts';
import type { PacketWriter } from './packet-writer.ts';

/** PUBACK, PUBREC, PUBREL or PUBCOMP; only MQTT 5 clients receive the reason. */
export function writeAcknowledgement(
  writer: PacketWriter,
  packet: {
    readonly type: number;
    readonly packetId: number;
    readonly reasonCode: number;
    readonly version: ProtocolVersion;
    readonly reasonString?: string | undefined;
  },
) {
  const { type, packetId, version, reasonString } = packet;
  const code = version === 5 ? packet.reasonCode : 0;
  if (code !== 0 && reasonString !== undefined) return writeExplained(writer, packet, reasonString);
  const size = code === 0 ? 4 : 5;
  const at = writer.reserve(size);
  const page = writer.page();
  page[at] = (type << 4) | (type === packetType.pubrel ? 2 : 0);
  page[at + 1] = size - 2;
  page[at + 2] = packetId >> 8;
  page[at + 3] = packetId & 0xff;
  if (code !== 0) page[at + 4] = code;
}

function writeExplained(
  writer: PacketWriter,
  packet: { readonly type: number; readonly packetId: number; readonly reasonCode: number },
  reasonString: string,
): void {
  const { type, packetId, reasonCode } = packet;
  const body = [packetId >> 8, packetId & 0xff, reasonCode];
  const properties = textProperty(31, reasonString);
  const flags = type === packetType.pubrel ? 2 : 0;
  writePacket(writer, (type << 4) | flags, [Buffer.from(body), withLength(properties)]);
}

/** Properties of its connection that an MQTT 5 client receives. */
export interface ConnackProperties {
  readonly sessionExpirySeconds?: number;
  readonly receiveMaximum: number;
  readonly maximumPacketSize: number;
  readonly topicAliasMaximum: number;
  readonly assignedClientId?: string;
  readonly serverKeepAliveSeconds?: number;
}

/** The answer to CONNECT, spelled for its version. */
export function encodeConnack(packet: {
  readonly version: ProtocolVersion;
  readonly reasonCode: number;
  readonly sessionPresent: boolean;
  readonly properties?: ConnackProperties;
  readonly reasonString?: string | undefined;
}): Buffer {
  const { version, reasonCode, sessionPresent, properties, reasonString } = packet;
  const flags = sessionPresent ? 1 : 0;
  if (version !== 5) return encodePacket(0x20, [Buffer.from([flags, returnCodeOf(reasonCode)])]);
  const list = [
    ...(properties === undefined ? [] : connackProperties(properties)),
    ...(reasonString === undefined ? [] : [textProperty(31, reasonString)]),
  ];
  return encodePacket(0x20, [Buffer.from([flags, reasonCode]), withLength(Buffer.concat(list))]);
}

function connackProperties(properties: ConnackProperties): Buffer[] {
  const { sessionExpirySeconds, assignedClientId, serverKeepAliveSeconds } = properties;
  return [
    twoByteProperty(33, properties.receiveMaximum),
    twoByteProperty(34, properties.topicAliasMaximum),
    fourByteProperty(39, properties.maximumPacketSize),
    ...(sessionExpirySeconds === undefined ? [] : [fourByteProperty(17, sessionExpirySeconds)]),
    ...(assignedClientId === undefined ? [] : [textProperty(18, assignedClientId)]),
    ...(serverKeepAliveSeconds === undefined ? [] : [twoByteProperty(19, serverKeepAliveSeconds)]),
  ];
}

/** SUBACK, or UNSUBACK, which had no codes before MQTT 5. */
export function writeListAcknowledgement(
  writer: PacketWriter,
  packet: {
    readonly type: number;
    readonly packetId: number;
    readonly codes: readonly number[];
    readonly version: ProtocolVersion;
    readonly reasonString?: string;
  },
): void {
  const { type, packetId, codes, version, reasonString = '' } = packet;
  const text = reasonString === '' ? Buffer.alloc(0) : textProperty(31, reasonString);
  const properties = version === 5 ? [withLength(text)] : [];
  const known = type === packetType.unsuback && version !== 5 ? [] : codes;
  // Before version 5 there is one code for every refusal [MQTT-3.9.3-2].
  const spelled = version === 5 ? known : known.map((code) => (code > 2 ? 0x80 : code));
  const head = Buffer.from([packetId >> 8, packetId & 0xff]);
  writePacket(writer, type << 4, [head, ...properties, Buffer.from(spelled)]);
}

/** PINGRESP. */
export function writePingResponse(writer: PacketWriter): void {
  const at = writer.reserve(2);
  const page = writer.page();
  page[at] = 0xd0;
  page[at + 1] = 0;
}

/** DISCONNECT with a reason, which only MQTT 5 has. */
export function writeDisconnect(
  writer: PacketWriter,
  reasonCode: number,
  reasonString?: string | undefined,
): void {
  const properties = reasonString === undefined ? [] : [withLength(textProperty(31, reasonString))];
  writePacket(writer, 0xe0, [Buffer.from([reasonCode]), ...properties]);
}

function writePacket(writer: PacketWriter, header: number, parts: readonly Buffer[]): void {
  writer.write(encodePacket(header, parts));
}

function encodePacket(header: number, parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([header]), variableInteger(length), ...parts]);
}

const withLength = (properties: Buffer): Buffer =>
  Buffer.concat([variableInteger(properties.length), properties]);

/** How many bytes a variable byte integer takes. */
function variableLength(value: number): number {
  return value < 128 ? 1 : value < 16_384 ? 2 : value < 2_097_152 ? 3 : 4;
}

/** Writes a variable byte integer; answers the offset behind it. */
function putVariable(page: Buffer, offset: number, value: number): number {
  let rest = value;
  let at = offset;
  while (rest >= 128) {
    page[at] = (rest % 128) + 128;
    rest = Math.floor(rest / 128);
    at += 1;
  }
  page[at] = rest;
  return at + 1;
}

function variableInteger(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(variableLength(value));
  putVariable(bytes, 0, value);
  return bytes;
}

function textProperty(id: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from([id, bytes.length >> 8, bytes.length & 0xff]), bytes]);
}

function twoByteProperty(id: number, value: number): Buffer {
  return Buffer.from([id, value >> 8, value & 0xff]);
}

function fourByteProperty(id: number, value: number): Buffer {
  const bytes = Buffer.allocUnsafe(5);
  bytes[0] = id;
  bytes.writeUInt32BE(value, 1);
  return bytes;
}

/** How a message is to be sent on one connection. */
export interface PublishOptions {
  readonly version: number;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly identifiers: readonly number[];
  /** Seconds left until it expires; undefined: it does not expire. */
  readonly expirySeconds: number | undefined;
  /** 0: none; the topic is left out when the peer has received it with this alias. */
  readonly alias: number;
  readonly isTopicKnown: boolean;
}

/** An encoded PUBLISH; the packet id and the DUP flag are patched into copies of it. */
export interface PublishFrame {
  /** All of the packet, or, when the payload is large, what comes before it. */
  readonly head: Buffer;
  /** Offset of the packet id; 0 with QoS 0. */
  readonly idOffset: number;
  readonly payload: Buffer | undefined;
  /** The whole packet. */
  readonly size: number;
}

const inlinePayloadBytesMax = 4_096;
const noBytes = Buffer.alloc(0);

/** Encodes a message once, for as many connections as it is the same on. */
export function encodePublish(message: Message, options: PublishOptions): PublishFrame {
  const { version, qos, retain, isTopicKnown } = options;
  const topicBytes = isTopicKnown ? 0 : Buffer.byteLength(message.topic);
  const isInline = message.payload.length <= inlinePayloadBytesMax;
  const properties = version === 5 ? propertiesOf(message, options) : undefined;
  const propertyBytes =
    properties === undefined ? 0 : variableLength(properties.length) + properties.length;
  const length = 2 + topicBytes + (qos > 0 ? 2 : 0) + propertyBytes + message.payload.length;
  const size = 1 + variableLength(length) + length;
  const head = Buffer.allocUnsafe(isInline ? size : size - message.payload.length);
  head[0] = 0x30 | (qos << 1) | (retain ? 1 : 0);
  let at = putVariable(head, 1, length);
  at = head.writeUInt16BE(topicBytes, at);
  if (!isTopicKnown) at += head.write(message.topic, at);
  const idOffset = qos > 0 ? at : 0;
  if (qos > 0) at += 2;
  if (properties !== undefined) {
    at = putVariable(head, at, properties.length);
    head.set(properties, at);
    at += properties.length;
  }
  if (isInline) head.set(message.payload, at);
  return { head, idOffset, payload: isInline ? undefined : bufferOf(message.payload), size };
}

function propertiesOf(message: Message, options: PublishOptions): Uint8Array {
  const { identifiers, expirySeconds, alias } = options;
  const carried = message.properties ?? noBytes;
  if (identifiers.length === 0 && expirySeconds === undefined && alias === 0) return carried;
  const identifierBytes = identifiers.reduce((sum, id) => sum + 1 + variableLength(id), 0);
  const bytes = Buffer.allocUnsafe(
    carried.length + identifierBytes + (expirySeconds === undefined ? 0 : 5) + (alias > 0 ? 3 : 0),
  );
  let at = 0;
  if (expirySeconds !== undefined) {
    bytes[at] = 2;
    at = bytes.writeUInt32BE(expirySeconds, at + 1);
  }
  if (alias > 0) {
    bytes[at] = 35;
    at = bytes.writeUInt16BE(alias, at + 1);
  }
  for (const id of identifiers) {
    bytes[at] = 11;
    at = putVariable(bytes, at + 1, id);
  }
  bytes.set(carried, at);
  return bytes;
}

/** The same bytes as a Buffer. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes)
    ? bytes
    : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
