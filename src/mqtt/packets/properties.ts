import { isUtf8 } from 'node:buffer';
import { mqttLimits } from '../limits.ts';
import { malformed, ProtocolError, protocolError, reason } from './packet.ts';

/** Where properties occur: each place has its own list of allowed ones [MQTT5 2.2.2.2]. */
export const place = {
  connect: 1,
  will: 2,
  publish: 4,
  acknowledgement: 8,
  subscribe: 16,
  unsubscribe: 32,
  disconnect: 64,
  auth: 128,
} as const;

/** Readers of the kinds of fields; of bytes and pairs only the form is checked. */
const readers = {
  byte: (reader: ByteReader) => reader.byte(),
  two: (reader: ByteReader) => reader.twoBytes(),
  four: (reader: ByteReader) => reader.fourBytes(),
  variable: (reader: ByteReader) => reader.variableInteger(),
  text: (reader: ByteReader) => reader.text(),
  binary: (reader: ByteReader) => void reader.binary(),
  pair(reader: ByteReader): void {
    reader.text();
    reader.text();
  },
};

interface Rule {
  readonly kind: keyof typeof readers;
  readonly places: number;
  /** The field of `Properties` that gets its value, if the broker acts on it. */
  readonly field?: Exclude<keyof Properties, 'forwarded'> | undefined;
  /** Answers the value of the field; throws ProtocolError for one that is not allowed. */
  readonly check?: ((value: never) => unknown) | undefined;
  /** Whether a message takes it along. */
  readonly isForwarded?: true;
}

const { connect, will, publish, acknowledgement, subscribe, disconnect, auth } = place;
const everywhere = 255;
const message = { places: will | publish, isForwarded: true } as const;

const rule = (
  kind: Rule['kind'],
  places: number,
  field?: Rule['field'],
  check?: Rule['check'],
): Rule => ({ kind, places, field, check });

/** By identifier. Those that only a server sends are known, and allowed nowhere. */
const rulesById: Readonly<Record<number, Rule>> = {
  1: { kind: 'byte', ...message, check: flag('payload format') },
  2: rule('four', will | publish, 'expirySeconds'),
  3: { kind: 'text', ...message },
  8: { kind: 'text', ...message, check: requireTopic },
  9: { kind: 'binary', ...message },
  11: rule('variable', subscribe, 'subscriptionIdentifier', notZero('subscription identifier')),
  17: rule('four', connect | disconnect, 'sessionExpirySeconds'),
  18: rule('text', 0),
  19: rule('two', 0),
  21: rule('text', connect | auth, 'authenticationMethod'),
  22: rule('binary', connect | auth),
  23: rule('byte', connect, 'wantsProblemInformation', flag('request problem information')),
  24: rule('four', will, 'willDelaySeconds'),
  25: rule('byte', connect, undefined, flag('request response information')),
  26: rule('text', 0),
  28: rule('text', disconnect),
  31: rule('text', acknowledgement | disconnect | auth),
  33: rule('two', connect, 'receiveMaximum', notZero('receive maximum')),
  34: rule('two', connect, 'topicAliasMaximum'),
  35: rule('two', publish, 'topicAlias', requireAlias),
  36: rule('byte', 0),
  37: rule('byte', 0),
  38: { kind: 'pair', places: everywhere, isForwarded: true },
  39: rule('four', connect, 'maximumPacketSize', notZero('maximum packet size')),
  40: rule('byte', 0),
  41: rule('byte', 0),
  42: rule('byte', 0),
};
const rules = Array.from({ length: 43 }, (_, id): Rule | undefined => rulesById[id]);

/** The properties that the broker acts on; the others are checked and travel on or are left. */
interface Properties {
  expirySeconds?: number;
  subscriptionIdentifier?: number;
  sessionExpirySeconds?: number;
  authenticationMethod?: string;
  wantsProblemInformation?: boolean;
  willDelaySeconds?: number;
  receiveMaximum?: number;
  topicAliasMaximum?: number;
  topicAlias?: number;
  maximumPacketSize?: number;
  /** Properties that a message takes along unaltered, in their order, as on the wire. */
  forwarded?: Buffer;
}

/** Nothing was said. */
export const noProperties: Properties = Object.freeze({});

/** Reads the properties that start at the reader's place, with their length in front. */
export function readProperties(reader: ByteReader, where: number): Properties {
  const length = reader.variableInteger();
  if (length === 0) return noProperties;
  const end = reader.offset + length;
  if (end > reader.end) throw malformed('the properties are longer than the packet');
  const found: Properties = {};
  const inner = new ByteReader(reader.bytes, reader.offset, end);
  const forwarded: Buffer[] = [];
  let seen = 0n;
  let pairs = 0;
  while (!inner.isAtEnd) {
    const start = inner.offset;
    const id = inner.variableInteger();
    const rule = rules[id];
    if (rule === undefined) throw malformed(`property ${id} is not known`);
    const value = readers[rule.kind](inner);
    if ((rule.places & where) === 0) throw notAllowed(id, where);
    const bit = 1n << BigInt(id);
    if (rule.kind === 'pair') pairs += 1;
    else if ((seen & bit) !== 0n) throw protocolError(`property ${id} is given twice`);
    seen |= bit;
    // The checker of an identifier takes what the reader of its kind answers.
    const checked = rule.check === undefined ? value : rule.check(value as never);
    if (rule.field !== undefined) found[rule.field] = checked as never;
    if (rule.isForwarded === true) forwarded.push(reader.bytes.subarray(start, inner.offset));
  }
  reader.offset = end;
  if (pairs > mqttLimits.userPropertiesMax) {
    throw new ProtocolError(reason.quotaExceeded, 'there are too many user properties');
  }
  if ((seen & (1n << 22n)) !== 0n && found.authenticationMethod === undefined) {
    throw protocolError('there is authentication data without a method');
  }
  // Only messages hand properties on; those of other packets are for us.
  if ((where & (will | publish)) !== 0 && forwarded.length > 0) {
    found.forwarded = Buffer.concat(forwarded);
  }
  return found;
}

/** Brokers differ in the reason they give; test suites expect this one. */
function notAllowed(id: number, where: number): ProtocolError {
  const text = `property ${id} is not allowed here`;
  const isOfList = where === place.subscribe || where === place.unsubscribe;
  return isOfList ? malformed(text) : protocolError(text);
}

function requireTopic(value: string): void {
  if (value === '') throw protocolError('the response topic is empty');
  // [MQTT-3.3.2-14]
  if (/[+#]/.test(value)) throw protocolError('the response topic holds a wildcard');
}

function requireAlias(value: number): number {
  if (value === 0) throw new ProtocolError(reason.topicAliasInvalid, 'the topic alias is 0');
  return value;
}

function flag(name: string) {
  return (value: number): boolean => {
    if (value > 1) throw protocolError(`${name} is neither 0 nor 1`);
    return value === 1;
  };
}

function notZero(name: string) {
  return (value: number): number => {
    if (value === 0) throw protocolError(`the ${name} is 0`);
    return value;
  };
}

/** The identifier of User Property [MQTT5 2.2.2.2]; the other ones that travel on, by kind. */
const userProperty = 38;
const payloadFormat = 1;

/**
 * The first value of a user property of a message, among the properties that travel on with it;
 * undefined: it has none of that name. They were checked when the packet was read.
 */
export function userPropertyOf(
  properties: Uint8Array | undefined,
  name: string,
): string | undefined {
  if (properties === undefined) return undefined;
  const reader = new ByteReader(Buffer.from(properties));
  while (!reader.isAtEnd) {
    const id = reader.variableInteger();
    if (id === userProperty) {
      const key = reader.text();
      const value = reader.text();
      if (key === name) return value;
    } else if (id === payloadFormat) reader.byte();
    else reader.binary();
  }
  return undefined;
}

/** Reads the fields of one packet in order; what is not there, or ill-formed, throws malformed. */
export class ByteReader {
  readonly bytes: Buffer;
  offset: number;
  readonly end: number;

  constructor(bytes: Buffer, offset = 0, end = bytes.length) {
    this.bytes = bytes;
    this.offset = offset;
    this.end = end;
  }

  get isAtEnd(): boolean {
    return this.offset >= this.end;
  }

  byte(): number {
    return this.bytes[this.take(1)] ?? 0;
  }

  twoBytes(): number {
    return this.bytes.readUInt16BE(this.take(2));
  }

  fourBytes(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }

  /** A variable byte integer, in its shortest form [MQTT-1.5.5-1]. */
  variableInteger(): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (byte === 0 && shift > 0) throw malformed('a length is longer than necessary');
        return value;
      }
    }
    throw malformed('a length has more than four bytes');
  }

  /** The bytes themselves, not copied. */
  binary(): Buffer {
    const length = this.twoBytes();
    const start = this.take(length);
    return this.bytes.subarray(start, start + length);
  }

  text(): string {
    const length = this.twoBytes();
    const start = this.take(length);
    return readText(this.bytes, start, start + length);
  }

  /** Passes over a text without reading it. */
  skipText(): void {
    this.take(this.twoBytes());
  }

  requireEnd(): void {
    if (!this.isAtEnd) throw malformed('the packet is longer than its fields');
  }

  private take(length: number): number {
    const start = this.offset;
    if (start + length > this.end) throw malformed('the packet is shorter than its fields');
    this.offset = start + length;
    return start;
  }
}

/**
 * Text of a packet. Ill-formed UTF-8, surrogates and U+0000 are malformed [MQTT-1.5.4-1, -2];
 * control characters and non-characters, which the standard lets a receiver refuse, are as well.
 */
export function readText(bytes: Buffer, start: number, end: number): string {
  for (let at = start; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte >= 0x7f) return readWideText(bytes.subarray(start, end));
    if (byte < 0x20) throw malformed('a text holds a control character');
  }
  return bytes.toString('latin1', start, end);
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these characters are refused
const unwanted = /[\u0000-\u001f\u007f-\u009f\ufdd0-\ufdef\ufffe\uffff]/;
function readWideText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw malformed('a text is not UTF-8');
  const text = bytes.toString();
  if (unwanted.test(text) || holdsPlaneEnd(text)) {
    throw malformed('a text holds a control character or a non-character');
  }
  return text;
}

/** U+1FFFE, U+1FFFF and so on: the last two of each plane are no characters. */
function holdsPlaneEnd(text: string): boolean {
  for (const char of text) if (((char.codePointAt(0) ?? 0) & 0xfffe) === 0xfffe) return true;
  return false;
}
