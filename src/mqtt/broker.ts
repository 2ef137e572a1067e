import type { Verdict } from '../domain/access/policy.ts';
import type { Payer } from '../domain/budgets/budget.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { MqttMetrics } from '../domain/metrics.ts';

/** Speaks MQTT with clients; rights and durable values are the authority's. */
export interface Broker {
  /** A new connection: feed what it brings into the answer. The broker closes the transport. */
  accept(transport: Transport, address: string): Receiver;
  /**
   * Hands messages to all subscribers that may receive them, in order. `qos` is the highest they
   * may arrive with; `retain` matters for retain-as-published only. Never throws.
   */
  deliver(messages: readonly Message[], reach?: Reach): void;
  /** Whether a message on this topic would be delivered to, or queued for, any session. */
  hasSubscribers(topic: string, reach?: Reach): boolean;
  /** Whether any session has a subscription. */
  hasAnySubscriber(): boolean;
  /** Whether the payer used up its quota of deliveries in this slice, so that others come first. */
  isBehind(payer: Payer): boolean;
  /** Resolves when messages of the payer may be handed on. */
  turnOf(payer: Payer): Promise<void>;
  /** Keeps the message for later subscribers; without a payload: forgets it. Durable. */
  retain(message: Message): Promise<void>;
  /** The retained message of this topic. */
  findRetained(topic: string): Message | undefined;
  /** Keeps the message if it can take the place of a retained one of its topic. */
  renewRetained(message: Message): void;
  /** Forgets retained messages whose topic starts like this, for instance devices/d1/. */
  forgetRetained(topicPrefix: string): Promise<void>;
  /** Ends the connections and sessions of all identities that are gone. Durable. */
  endSessions(isGone: (identity: string) => boolean): Promise<void>;
  /** Asks at once whether the logins of these identities are valid. */
  recheck(isConcerned: (identity: string) => boolean): void;
  /**
   * Takes over sessions and wills of processes that ended, or the wills of the one before. From
   * then on the broker must receive all that other processes log: earlier entries are read there.
   */
  adoptSessions(): Promise<void>;
  /** Reads the log for messages of groups whose claiming process ended. */
  lookAgain(): void;
  metrics(): BrokerMetrics;
  /** Disconnects all clients, and resolves when acknowledged messages are durable. */
  close(): Promise<void>;
}

/**
 * Whom messages reach. named: only subscriptions whose filter ends with the topic's last level,
 * not with a wildcard: arrays on …/values go to those who asked for `values` by name. Absent: all.
 */
export type Reach = 'all' | 'named';

/** How much there is now, and what happened since the start. */
export interface BrokerMetrics extends MqttMetrics {
  /** Messages that did not reach a session, by why. */
  readonly dropped: Readonly<Record<DropReason, number>>;
}

/** Why a message did not reach a session. */
export type DropReason =
  | 'queue_full'
  | 'slow'
  | 'expired'
  | 'not_allowed'
  | 'too_large'
  | 'refused';

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
   * Takes the last will of a client whose process ended, with what its account may do now. Must not
   * reject. Absent: there are none.
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

/** The byte stream to one peer, whatever carries it: a socket, TLS, a WebSocket. */
export interface Transport {
  /** Sends the bytes in order, now or as soon as the socket takes them; never throws. */
  write(bytes: Uint8Array): void;
  /** Bytes that were written and have not left yet. */
  readonly bufferedBytes: number;
  /** Sends what was written, then closes; destroys it when that takes too long. */
  end(): void;
  /** Closes at once, whatever was not sent. */
  destroy(): void;
  /** The peer is too fast for us: receive() is not called until resume(). */
  pause(): void;
  resume(): void;
  /** Counts the connection for the payer that has logged in on it. */
  countFor?(payer: Payer): void;
  /** Says that a login waits for its answer, until what it answers is called. */
  holdForLogin?(): () => void;
}

/** The broker's side of a connection, called by its transport. */
export interface Receiver {
  /** Bytes arrived; the broker may keep slices of the chunk, so it must not be written to again. */
  receive(chunk: Uint8Array): void;
  /** Bytes in memory that cannot be handed on yet, instead of those before. */
  held(bytes: number): void;
  /** Buffered bytes have left: more can be written. */
  drained(): void;
  /** The connection is over, for whatever reason; called once. */
  closed(): void;
}
