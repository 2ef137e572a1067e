import type { Qos } from '../../domain/messaging/message.ts';
import type { Subscription } from '../../domain/messaging/session-store.ts';

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
export interface WillPacket {
  readonly topic: string;
  readonly payload: Buffer;
  readonly qos: Qos;
  readonly retain: boolean;
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

export interface AcknowledgementPacket {
  readonly packetId: number;
  readonly reasonCode: number;
}

export interface SubscribePacket {
  readonly packetId: number;
  readonly subscriptions: readonly Subscription[];
  /** Filters behind these that were not read, because there are too many. */
  readonly surplus: number;
}

export interface UnsubscribePacket {
  readonly packetId: number;
  readonly filters: readonly string[];
  /** Filters behind these that were not read, because there are too many. */
  readonly surplus: number;
}

export interface DisconnectPacket {
  readonly reasonCode: number;
  readonly sessionExpirySeconds: number | undefined;
}
