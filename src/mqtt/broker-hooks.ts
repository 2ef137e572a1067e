import type { Verdict } from '../domain/access/access.ts';
import type { Payer } from '../domain/budgets/payer.ts';
import type { Message } from '../domain/messaging/message.ts';

/** Questions of the broker to the service: the broker decides nothing about rights itself. */
export interface BrokerHooks {
  /** Asked once per connection, before CONNACK; must not reject. */
  connect(request: ConnectRequest): Promise<ConnectAnswer>;
  /**
   * Whether a message is worth keeping for a session that is not connected. Its client is asked
   * again when it is delivered.
   */
  mayQueue(identity: string, topic: string): Promise<boolean>;
  /** The same at once, from what is at hand. */
  tryQueue(identity: string, topic: string): Verdict;
  /**
   * Takes the last will of a client that another process had, with what its account may do now.
   * Must not reject. Absent: there are no other processes.
   */
  publishFor?(identity: string, message: Message): Promise<PublishOutcome>;
}

export interface ConnectRequest {
  /** As given, or the one the broker assigned. */
  readonly clientId: string;
  readonly username?: string;
  readonly password?: Uint8Array;
  /** Where the connection comes from. */
  readonly address: string;
  /** 3: MQTT 3.1, 4: 3.1.1, 5: 5. */
  readonly protocolVersion: 3 | 4 | 5;
  /** Aborts when the connection ends before it is let in. */
  readonly signal?: AbortSignal;
}

export type ConnectAnswer =
  | { readonly kind: 'accepted'; readonly client: Client }
  | { readonly kind: 'refused'; readonly reason: ConnectRefusal };

export type ConnectRefusal =
  | 'bad_credentials'
  | 'not_authorized'
  | 'client_id_invalid'
  | 'unavailable'
  | 'rate_limited'
  | 'banned';

/**
 * The client at the other end of one connection, as the service knows it. The broker calls these
 * methods for one packet after the other.
 */
export interface Client {
  /** Whose sessions it may take up: for instance the user's id. Without U+0000. */
  readonly identity: string;
  /** The payer of the quota that its sessions use. */
  readonly payer: Payer;
  /** Takes a message, or the last will; many may be under way. Must not reject. */
  publish(message: Message): Promise<PublishOutcome>;
  /** False makes the broker refuse the filter (SUBACK 0x80 or 0x87). */
  maySubscribe(filter: string): boolean;
  /** Asked for every delivery, at the moment of the delivery [contract 8]. Must not reject. */
  mayReceive(topic: string): Promise<boolean>;
  /** The same at once, from cached rights: the fast path of most deliveries. */
  tryReceive(topic: string): Verdict;
  /** Asked every few seconds: true ends the connection (token expired, account gone). */
  isGone(): boolean;
  /** How long its sessions may outlive their connections, if less than others'. */
  readonly sessionSecondsMax?: number;
  /** CONNACK is on its way. */
  connected?(end: () => void): void;
  /** The connection is over; called once, after connected. */
  disconnected?(): void;
}

export type PublishOutcome =
  | {
      readonly kind: 'accepted';
      /**
       * True: the broker hands the message to subscribers, and keeps it if it is retained. False:
       * the service did, through deliver() and retain().
       */
      readonly isPassedOn: boolean;
    }
  /** Acknowledged, and not handed on; MQTT 5 publishers receive the reason. */
  | { readonly kind: 'refused'; readonly reason: PublishRefusal; readonly description?: string }
  /** Not acknowledged: the connection ends, so that the client sends it again. */
  | { readonly kind: 'unavailable' };

export type PublishRefusal = 'not_authorized' | 'payload_invalid' | 'topic_invalid' | 'quota';

/** The answers that are the same for all clients. */
export const acceptedByService: PublishOutcome = { kind: 'accepted', isPassedOn: false };
export const acceptedToPassOn: PublishOutcome = { kind: 'accepted', isPassedOn: true };
export const unavailableOutcome: PublishOutcome = { kind: 'unavailable' };
