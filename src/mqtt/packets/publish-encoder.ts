import type { Message, Qos } from '../../domain/messaging/message.ts';
import { putVariable, variableLength } from './packet-encoder.ts';

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
