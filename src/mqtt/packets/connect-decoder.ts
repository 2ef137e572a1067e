import type { Qos } from '../../domain/messaging/message.ts';
import { neverExpires } from '../../domain/messaging/session-store.ts';
import { isTopicName } from '../../lib/topic-filter.ts';
import { ByteReader } from './byte-reader.ts';
import {
  type ConnectPacket,
  malformed,
  ProtocolError,
  type ProtocolVersion,
  packetType,
  reason,
  type WillPacket,
} from './packet.ts';
import { noProperties, place, readProperties } from './properties.ts';

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
