/** One packet as the bytes of its parts, from the words of a sequence file. */
export function readPayload(text: string): Buffer {
  const parts: Buffer[] = [];
  let rest = text.trim();
  while (rest !== '') {
    const quoted = /^'([^']*)'/.exec(rest);
    const word = quoted?.[0] ?? /^\S+/.exec(rest)?.[0] ?? rest;
    parts.push(quoted === null ? readWord(word) : Buffer.from(quoted[1] ?? ''));
    rest = rest.slice(word.length).trim();
  }
  return Buffer.concat(parts);
}

function readWord(word: string): Buffer {
  const number = Number(word.slice(1));
  switch (word[0]) {
    case 'i':
      return Buffer.from([number]);
    case 'm':
    case 'k':
    case 's':
    case 'H':
      return Buffer.from([(number >> 8) & 0xff, number & 0xff]);
    case 'L': {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(number);
      return bytes;
    }
    case 'r':
    case 'v':
      return readVariable(number);
    default:
      return Buffer.from(word, 'hex');
  }
}

/** Without the check that a packet would need: sequences hold lengths of five bytes. */
function readVariable(number: number): Buffer {
  const bytes: number[] = [];
  let rest = number;
  do {
    const byte = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? byte + 128 : byte);
  } while (rest > 0);
  return Buffer.from(bytes);
}

/** What a packet is compared by: its type, and its reason code if it has one. */
export function describePacket(packet: Buffer): string {
  const header = packet[0] ?? 0;
  const body = packet.subarray(lengthEnd(packet));
  const type = header >> 4;
  const code = reasonOf(type, body);
  return `${names[type] ?? type}${code === undefined ? '' : ` ${code.toString(16)}`}`;
}

const names = [
  'type 0',
  'CONNECT',
  'CONNACK',
  'PUBLISH',
  'PUBACK',
  'PUBREC',
  'PUBREL',
  'PUBCOMP',
  'SUBSCRIBE',
  'SUBACK',
  'UNSUBSCRIBE',
  'UNSUBACK',
  'PINGREQ',
  'PINGRESP',
  'DISCONNECT',
  'AUTH',
];

function reasonOf(type: number, body: Buffer): number | undefined {
  if (type === 2) return body[1] ?? 0;
  if (type >= 4 && type <= 7) return body[2] ?? 0;
  if (type === 14) return body[0] ?? 0;
  if (type === 9 || type === 11) return body.at(-1) ?? 0;
  return undefined;
}

/** Where the body of the packet starts. */
function lengthEnd(packet: Buffer): number {
  let at = 1;
  while ((packet[at] ?? 0) >= 0x80) at += 1;
  return at + 1;
}

/** The first whole packet of what has arrived; undefined: more must come. */
export function firstPacket(bytes: Buffer): Buffer | undefined {
  let length = 0;
  let at = 1;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** shift;
    at += 1;
    if (byte < 0x80) break;
  }
  return bytes.length < at + length ? undefined : bytes.subarray(0, at + length);
}
