// MQTT 3.1.1, the part that a reader of values needs: clean sessions, QoS 0, no will.

/** Who connects. */
export interface ConnectOptions {
  readonly clientId: string;
  readonly keepAliveSeconds: number;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

/** What the service sends. */
export type ServerPacket =
  | { readonly type: 'connack'; readonly code: number }
  | { readonly type: 'publish'; readonly topic: string; readonly payload: Uint8Array }
  | { readonly type: 'suback'; readonly packetId: number; readonly codes: readonly number[] }
  | { readonly type: 'unsuback'; readonly packetId: number }
  | { readonly type: 'pingresp' }
  | { readonly type: 'other' };

/** The other side does not speak MQTT 3.1.1; the connection is of no use any more. */
export class MqttFault extends Error {}

/** Bytes in a buffer of their own, as sockets take them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const protocolLevel = 4;
const textBytesMax = 65_535;
const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

/** CONNECT with a clean session [MQTT-3.1]. */
export function encodeConnect(options: ConnectOptions): Bytes {
  const { clientId, keepAliveSeconds, username, password } = options;
  // A password without a user name is not allowed [MQTT-3.1.2-22].
  const hasPassword = username !== undefined && password !== undefined;
  const flags = 0x02 | (username === undefined ? 0 : 0x80) | (hasPassword ? 0x40 : 0);
  return packet(0x10, [
    encodeText('MQTT'),
    Uint8Array.of(protocolLevel, flags, keepAliveSeconds >> 8, keepAliveSeconds & 0xff),
    encodeText(clientId),
    ...(username === undefined ? [] : [encodeText(username)]),
    ...(hasPassword ? [encodeText(password)] : []),
  ]);
}

/** SUBSCRIBE with QoS 0 for every filter [MQTT-3.8]. */
export function encodeSubscribe(packetId: number, filters: readonly string[]): Bytes {
  const wanted = filters.flatMap((filter) => [encodeText(filter), Uint8Array.of(0)]);
  return packet(0x82, [encodeId(packetId), ...wanted]);
}

/** UNSUBSCRIBE [MQTT-3.10]. */
export function encodeUnsubscribe(packetId: number, filters: readonly string[]): Bytes {
  return packet(0xa2, [encodeId(packetId), ...filters.map(encodeText)]);
}

/** PUBLISH with QoS 0 [MQTT-3.3]. */
export function encodePublish(topic: string, payload: string): Bytes {
  return packet(0x30, [encodeText(topic), encoder.encode(payload)]);
}

/** PINGREQ [MQTT-3.12]. */
export function encodePing(): Bytes {
  return Uint8Array.of(0xc0, 0);
}

/** DISCONNECT [MQTT-3.14]. */
export function encodeDisconnect(): Bytes {
  return Uint8Array.of(0xe0, 0);
}

function packet(head: number, parts: readonly Uint8Array[]): Bytes {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = [head];
  let rest = length;
  do {
    const more = rest > 127 ? 0x80 : 0;
    bytes.push((rest & 0x7f) | more);
    rest >>= 7;
  } while (rest > 0);
  const whole = new Uint8Array(bytes.length + length);
  whole.set(bytes);
  let at = bytes.length;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function encodeText(text: string): Uint8Array {
  const bytes = encoder.encode(text);
  if (bytes.length > textBytesMax) throw new MqttFault('a text is longer than MQTT can carry');
  const whole = new Uint8Array(bytes.length + 2);
  whole.set([bytes.length >> 8, bytes.length & 0xff]);
  whole.set(bytes, 2);
  return whole;
}

const encodeId = (packetId: number): Uint8Array =>
  Uint8Array.of((packetId >> 8) & 0xff, packetId & 0xff);

/** Puts packets together from pieces of any size. Throws MqttFault at what cannot be MQTT. */
export function createPacketReader(bytesMax: number): (piece: Uint8Array) => ServerPacket[] {
  let kept = new Uint8Array(0);
  return (piece) => {
    const bytes = kept.length === 0 ? piece : joined(kept, piece);
    const found: ServerPacket[] = [];
    let at = 0;
    for (;;) {
      const frame = readFrame(bytes, at, bytesMax);
      if (frame === undefined) break;
      found.push(readPacket(bytes[at] ?? 0, bytes.subarray(frame.start, frame.end)));
      at = frame.end;
    }
    // A copy: a piece of a large buffer would keep all of it in memory.
    kept = bytes.slice(at);
    return found;
  };
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const whole = new Uint8Array(left.length + right.length);
  whole.set(left);
  whole.set(right, left.length);
  return whole;
}

/** Where the body of the packet is, or undefined while it is not all there. */
function readFrame(
  bytes: Uint8Array,
  at: number,
  bytesMax: number,
): { readonly start: number; readonly end: number } | undefined {
  let length = 0;
  for (let digits = 0; digits < 4; digits += 1) {
    const byte = bytes[at + 1 + digits];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 128 ** digits;
    if ((byte & 0x80) !== 0) continue;
    if (length > bytesMax) throw new MqttFault(`a packet of ${length} bytes is too long`);
    const start = at + 2 + digits;
    return start + length <= bytes.length ? { start, end: start + length } : undefined;
  }
  throw new MqttFault('a length has more than four digits [MQTT-2.2.3]');
}

function readPacket(head: number, body: Uint8Array): ServerPacket {
  switch (head >> 4) {
    case 2:
      return { type: 'connack', code: byteAt(body, 1) };
    case 3:
      return readPublish(head, body);
    case 9:
      return { type: 'suback', packetId: idAt(body, 0), codes: [...body.subarray(2)] };
    case 11:
      return { type: 'unsuback', packetId: idAt(body, 0) };
    case 13:
      return { type: 'pingresp' };
    case 4:
    case 5:
    case 6:
    case 7:
      return { type: 'other' };
    default:
      throw new MqttFault(`a service does not send packets of type ${head >> 4}`);
  }
}

function readPublish(head: number, body: Uint8Array): ServerPacket {
  const length = idAt(body, 0);
  const topicEnd = 2 + length;
  const qos = (head >> 1) & 3;
  if (qos === 3) throw new MqttFault('there is no QoS 3 [MQTT-3.3.1-4]');
  const start = qos === 0 ? topicEnd : topicEnd + 2;
  if (start > body.length) throw new MqttFault('a PUBLISH ends within its head');
  return {
    type: 'publish',
    topic: readText(body.subarray(2, topicEnd)),
    payload: body.slice(start),
  };
}

function readText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new MqttFault('a topic is not UTF-8 [MQTT-1.5.3-1]');
  }
}

function byteAt(body: Uint8Array, at: number): number {
  const byte = body[at];
  if (byte === undefined) throw new MqttFault('a packet is too short');
  return byte;
}

const idAt = (body: Uint8Array, at: number): number =>
  byteAt(body, at) * 256 + byteAt(body, at + 1);
