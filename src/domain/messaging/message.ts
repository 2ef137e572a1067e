import type { Instant } from '../../lib/clock.ts';
import type { Payer } from '../budgets/budget.ts';

/** How often a message arrives: at most once, at least once, exactly once. */
export type Qos = 0 | 1 | 2;

/** A message between clients of the broker, as it is kept and handed on. */
export interface Message {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: Qos;
  /** Asked for by the publisher; on a delivery the subscription decides about it. */
  readonly retain: boolean;
  /**
   * MQTT 5 properties that travel on unaltered, checked, as they are on the wire: payload format,
   * content type, response topic, correlation data and user properties [MQTT-3.3.2-17].
   */
  readonly properties?: Uint8Array;
  /** From then on it reaches no subscriber any more [MQTT-3.3.2-5]. */
  readonly expiresAt?: Instant;
  /** Sent again by the publisher, which received no acknowledgement of the first; not kept. */
  readonly isRepetition?: true;
  /** The session that published it, for subscriptions that want none of their own messages. */
  readonly publisher?: SessionKey;
  /** Payer of the message while it is retained. */
  readonly payer?: Payer;
  /** Of a QoS 2 publish of a session that is kept, for the commit that stores it; not kept. */
  readonly packetId?: number;
  /** A last will: the term in which its client connected, of all processes; not kept. */
  readonly willTurn?: number;
  /** Set when it is published to other processes; not kept. */
  origin?: MessageOrigin;
  /** When the value that it carries was received, which came by another protocol; not kept. */
  readonly receivedAt?: Instant;
}

/** Bytes of a message that each of its receivers gets: its payload and its properties. */
export const bytesOfMessage = ({ payload, properties }: Message): number =>
  payload.length + (properties?.length ?? 0);

/**
 * Names a message among all that processes publish to each other. The numbers of a writer go up in
 * the order in which it tells them: `writer` is its process, or that below zero for settings.
 */
export interface MessageOrigin {
  readonly writer: number;
  readonly at: number;
}

/** Names one session: whose it is and its client id. Made by sessionKey only. */
export type SessionKey = string & { readonly brand: 'SessionKey' };

/**
 * A client id is a name within the sessions of one identity: no client reaches a session of another
 * identity by taking its client id. U+0000 occurs in neither part [MQTT-1.5.4-2].
 */
export function sessionKey(identity: string, clientId: string): SessionKey {
  return `${identity}\u0000${clientId}` as SessionKey;
}
