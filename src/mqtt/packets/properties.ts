import { ByteReader } from './byte-reader.ts';
import { malformed, ProtocolError, protocolError, reason } from './reason-codes.ts';

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

type FieldKind = 'byte' | 'two' | 'four' | 'variable' | 'text' | 'binary' | 'pair';

interface Rule {
  readonly kind: FieldKind;
  readonly places: number;
}

const { connect, will, publish, acknowledgement, subscribe, disconnect, auth } = place;
const everywhere = 255;

/** By identifier. Those that only a server sends are known, and allowed nowhere. */
const rules: readonly (Rule | undefined)[] = sparse({
  1: { kind: 'byte', places: will | publish },
  2: { kind: 'four', places: will | publish },
  3: { kind: 'text', places: will | publish },
  8: { kind: 'text', places: will | publish },
  9: { kind: 'binary', places: will | publish },
  11: { kind: 'variable', places: subscribe },
  17: { kind: 'four', places: connect | disconnect },
  18: { kind: 'text', places: 0 },
  19: { kind: 'two', places: 0 },
  21: { kind: 'text', places: connect | auth },
  22: { kind: 'binary', places: connect | auth },
  23: { kind: 'byte', places: connect },
  24: { kind: 'four', places: will },
  25: { kind: 'byte', places: connect },
  26: { kind: 'text', places: 0 },
  28: { kind: 'text', places: disconnect },
  31: { kind: 'text', places: acknowledgement | disconnect | auth },
  33: { kind: 'two', places: connect },
  34: { kind: 'two', places: connect },
  35: { kind: 'two', places: publish },
  36: { kind: 'byte', places: 0 },
  37: { kind: 'byte', places: 0 },
  38: { kind: 'pair', places: everywhere },
  39: { kind: 'four', places: connect },
  40: { kind: 'byte', places: 0 },
  41: { kind: 'byte', places: 0 },
  42: { kind: 'byte', places: 0 },
});

/** The properties that the broker acts on; the others are checked and travel on or are left. */
export interface Properties {
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

/** The first user properties are free; more than these is an attack on the receivers. */
const userPropertiesMax = 1_000;

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
    const value = readValue(inner, rule.kind);
    if ((rule.places & where) === 0) throw notAllowed(id, where);
    const bit = 1n << BigInt(id);
    if (rule.kind === 'pair') pairs += 1;
    else if ((seen & bit) !== 0n) throw protocolError(`property ${id} is given twice`);
    seen |= bit;
    keep(found, id, value);
    if (isForwarded(id)) forwarded.push(reader.bytes.subarray(start, inner.offset));
  }
  reader.offset = end;
  if (pairs > userPropertiesMax) {
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

const isForwarded = (id: number): boolean =>
  id === 1 || id === 3 || id === 8 || id === 9 || id === 38;

function readValue(reader: ByteReader, kind: FieldKind): number | string {
  switch (kind) {
    case 'byte':
      return reader.byte();
    case 'two':
      return reader.twoBytes();
    case 'four':
      return reader.fourBytes();
    case 'variable':
      return reader.variableInteger();
    case 'text':
      return reader.text();
    case 'binary':
      reader.binary();
      return 0;
    case 'pair':
      reader.text();
      reader.text();
      return 0;
  }
}

function keep(found: Properties, id: number, value: number | string): void {
  if (typeof value === 'string') keepText(found, id, value);
  else keepNumber(found, id, value);
}

function keepText(found: Properties, id: number, value: string): void {
  if (id === 21) found.authenticationMethod = value;
  if (id !== 8) return;
  if (value === '') throw protocolError('the response topic is empty');
  // [MQTT-3.3.2-14]
  if (/[+#]/.test(value)) throw protocolError('the response topic holds a wildcard');
}

function keepNumber(found: Properties, id: number, value: number): void {
  switch (id) {
    case 1:
      requireFlag(value, 'payload format');
      return;
    case 2:
      found.expirySeconds = value;
      return;
    case 11:
      found.subscriptionIdentifier = requireNotZero(value, 'subscription identifier');
      return;
    case 17:
      found.sessionExpirySeconds = value;
      return;
    case 23:
      found.wantsProblemInformation = requireFlag(value, 'request problem information');
      return;
    case 24:
      found.willDelaySeconds = value;
      return;
    case 25:
      requireFlag(value, 'request response information');
      return;
    case 33:
      found.receiveMaximum = requireNotZero(value, 'receive maximum');
      return;
    case 34:
      found.topicAliasMaximum = value;
      return;
    case 35:
      if (value === 0) throw new ProtocolError(reason.topicAliasInvalid, 'the topic alias is 0');
      found.topicAlias = value;
      return;
    case 39:
      found.maximumPacketSize = requireNotZero(value, 'maximum packet size');
      return;
  }
}

function requireFlag(value: number, name: string): boolean {
  if (value > 1) throw protocolError(`${name} is neither 0 nor 1`);
  return value === 1;
}

function requireNotZero(value: number, name: string): number {
  if (value === 0) throw protocolError(`the ${name} is 0`);
  return value;
}

function sparse(entries: Readonly<Record<number, Rule>>): readonly (Rule | undefined)[] {
  const list: (Rule | undefined)[] = Array.from({ length: 43 });
  for (const [id, rule] of Object.entries(entries)) list[Number(id)] = rule;
  return list;
}
