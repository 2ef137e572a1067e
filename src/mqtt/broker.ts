import type { Payer } from '../domain/budgets/payer.ts';
import type { Message } from '../domain/messaging/message.ts';
import type { MqttMetrics } from '../domain/metrics.ts';
import type { Receiver, Transport } from './transport.ts';

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
   * Takes over sessions of processes that ended. From then on the broker must receive all that
   * other processes log: earlier entries are read from the log.
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
