import type { Qos } from '../../domain/messaging/message.ts';

/** 3: MQTT 3.1, 4: 3.1.1, 5: 5. */
export type ProtocolVersion = 3 | 4 | 5;

/** The type in the upper half of a packet's first byte. */
export const packetType = {
  connect: 1,
  connack: 2,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  suback: 9,
  unsubscribe: 10,
  unsuback: 11,
  pingreq: 12,
  pingresp: 13,
  disconnect: 14,
  auth: 15,
} as const;

export interface ConnectPacket {
  readonly version: ProtocolVersion;
  /** Set by a bridge between two brokers: its own messages do not come back to it. */
  readonly isBridge?: true;
  /** Empty: the client wants one to be assigned. */
  readonly clientId: string;
  readonly cleanStart: boolean;
  readonly keepAliveSeconds: number;
  readonly username?: string;
  readonly password?: Buffer;
  readonly will?: WillPacket;
  readonly sessionExpirySeconds: number;
  /** QoS 1 and 2 messages that may be on their way to the client at once. */
  readonly receiveMaximum: number;
  readonly maximumPacketSize: number;
  readonly topicAliasMaximum: number;
  readonly wantsProblemInformation: boolean;
  readonly authenticationMethod?: string;
}

/** The last will, as CONNECT gives it. */
export interface WillPacket extends Pick<PublishPacket, 'topic' | 'payload' | 'qos' | 'retain'> {
  readonly delaySeconds: number;
  readonly expirySeconds?: number;
  readonly properties?: Buffer;
}

export interface PublishPacket {
  /** Empty: the alias says it. */
  readonly topic: string;
  readonly qos: Qos;
  readonly retain: boolean;
  readonly isDuplicate: boolean;
  /** 0 with QoS 0. */
  readonly packetId: number;
  /** Not copied: a slice of what arrived. */
  readonly payload: Buffer;
  readonly expirySeconds: number | undefined;
  /** 0: none. */
  readonly topicAlias: number;
  readonly properties: Buffer | undefined;
}

/** Reason codes of MQTT 5 that the broker gives or understands [MQTT5 2.4]. */
export const reason = {
  success: 0x00,
  noMatchingSubscribers: 0x10,
  noSubscriptionExisted: 0x11,
  unspecified: 0x80,
  malformed: 0x81,
  protocolError: 0x82,
  notAccepted: 0x83,
  protocolVersion: 0x84,
  clientIdInvalid: 0x85,
  badCredentials: 0x86,
  notAuthorized: 0x87,
  unavailable: 0x88,
  busy: 0x89,
  banned: 0x8a,
  shuttingDown: 0x8b,
  badAuthenticationMethod: 0x8c,
  keepAliveTimeout: 0x8d,
  takenOver: 0x8e,
  filterInvalid: 0x8f,
  topicInvalid: 0x90,
  receiveMaximumExceeded: 0x93,
  topicAliasInvalid: 0x94,
  packetIdNotFound: 0x92,
  packetTooLarge: 0x95,
  messageRateTooHigh: 0x96,
  quotaExceeded: 0x97,
  payloadInvalid: 0x99,
  connectionRateExceeded: 0x9f,
  maximumConnectTime: 0xa0,
} as const;

/** The return codes that MQTT 3.1 and 3.1.1 have instead, in CONNACK only [MQTT-3.2.2.3]. */
export function returnCodeOf(code: number): number {
  switch (code) {
    case reason.success:
      return 0;
    case reason.protocolVersion:
      return 1;
    case reason.clientIdInvalid:
      return 2;
    case reason.badCredentials:
      return 4;
    case reason.notAuthorized:
    case reason.banned:
      return 5;
    default:
      return 3;
  }
}

/** The peer broke the protocol: its connection ends with this reason. Never a bug of ours. */
export class ProtocolError extends Error {
  readonly code: number;
  /** The reason is not sent: there is nothing to answer to, or no client that would understand. */
  readonly isSilent: boolean;

  constructor(code: number, message: string, options: { readonly isSilent?: boolean } = {}) {
    super(message);
    this.name = 'ProtocolError';
    this.code = code;
    this.isSilent = options.isSilent ?? false;
  }
}

/** The packet cannot be read as the standard says [MQTT-4.13.1-1]. */
export const malformed = (message: string): ProtocolError =>
  new ProtocolError(reason.malformed, message);

/** The packet can be read, and must not be sent, or not so. */
export const protocolError = (message: string): ProtocolError =>
  new ProtocolError(reason.protocolError, message);
