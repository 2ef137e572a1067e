/** The packets of MQTT 3.1.1 that the load generator speaks, put together by hand for speed. */
export const packetTypes = { connack: 2, publish: 3, puback: 4, suback: 9 } as const;

/** How a load connection introduces itself. */
export interface MqttLogin {
  readonly clientId: string;
  readonly username?: string;
  readonly password?: string;
}

const keepAliveSeconds = 300;

/** CONNECT of a clean session. */
export function connectPacket({ clientId, username, password }: MqttLogin): Buffer {
  const hasName = username === undefined ? 0 : 0x80;
  const hasPassword = password === undefined ? 0 : 0x40;
  const flags = hasName | hasPassword | 0x02;
  const head = Buffer.from([0, 4, 0x4d, 0x51, 0x54, 0x54, 4, flags, 0, 0]);
  head.writeUInt16BE(keepAliveSeconds, 8);
  const texts = [clientId, username, password].filter((text) => text !== undefined);
  return packet(0x10, [head, ...texts.map(lengthAndText)]);
}

/** SUBSCRIBE to one filter. */
export function subscribePacket(packetId: number, filter: string, qos: 0 | 1): Buffer {
  return packet(0x82, [twoBytes(packetId), lengthAndText(filter), Buffer.from([qos])]);
}

/** PUBLISH with QoS 1; `idAt` and `payloadAt` are where the packet id and the payload begin. */
export function publishPacket(
  topic: string,
  payloadBytes: number,
): { readonly bytes: Buffer; readonly idAt: number; readonly payloadAt: number } {
  const named = lengthAndText(topic);
  const bytes = packet(0x32, [named, twoBytes(1), Buffer.alloc(payloadBytes)]);
  const payloadAt = bytes.length - payloadBytes;
  return { bytes, idAt: payloadAt - 2, payloadAt };
}

/** Called with each whole packet: its first byte, and where its body begins and ends in `bytes`. */
export type OnPacket = (first: number, bytes: Buffer, bodyAt: number, endAt: number) => void;

/** Cuts a stream into packets; what is left of a chunk waits for the next one. */
export function createPacketReader(onPacket: OnPacket): (chunk: Buffer) => void {
  let rest: Buffer | undefined;
  return (chunk) => {
    const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (at < bytes.length) {
      const bodyAt = endOfHead(bytes, at);
      const endAt = bodyAt === undefined ? undefined : bodyAt + remainingLength(bytes, at + 1);
      if (bodyAt === undefined || endAt === undefined || endAt > bytes.length) break;
      onPacket(bytes[at] ?? 0, bytes, bodyAt, endAt);
      at = endAt;
    }
    // Copied: the buffer is used again for what comes next.
    rest = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined;
  };
}

function endOfHead(bytes: Buffer, at: number): number | undefined {
  for (let next = at + 1; next < Math.min(bytes.length, at + 5); next += 1) {
    if ((bytes[next] ?? 0) < 0x80) return next + 1;
  }
  return undefined;
}

function remainingLength(bytes: Buffer, at: number): number {
  let length = 0;
  for (let index = 0; index < 4; index += 1) {
    const byte = bytes[at + index] ?? 0;
    length += (byte & 0x7f) * 0x80 ** index;
    if (byte < 0x80) break;
  }
  return length;
}

function packet(first: number, parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = [first];
  let length = body.length;
  do {
    const low = length % 0x80;
    length = Math.floor(length / 0x80);
    head.push(length > 0 ? low | 0x80 : low);
  } while (length > 0);
  return Buffer.concat([Buffer.from(head), body]);
}

function lengthAndText(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([twoBytes(bytes.length), bytes]);
}

function twoBytes(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
