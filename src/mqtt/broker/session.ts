import type { Payer } from '../../domain/budgets/budget.ts';
import {
  bytesOfMessage,
  type Message,
  type MessageOrigin,
  type Qos,
  type SessionKey,
} from '../../domain/messaging/message.ts';
import type {
  QueueEntry,
  SessionRecord,
  Subscription,
} from '../../domain/messaging/session-store.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Client, PublishOutcome } from '../broker.ts';
import type { ProtocolVersion } from '../packets/packet.ts';
import type { PacketWriter } from '../packets/packet-writer.ts';

/** The connection of a session, as far as messages to its client are concerned. */
export interface Link {
  readonly version: ProtocolVersion;
  readonly client: Client;
  readonly writer: PacketWriter;
  /** QoS 1 and 2 messages that may be under way at once. */
  readonly inFlightMax: number;
  readonly packetBytesMax: number;
  /** The topics the client knows by a number; undefined: it wants none. */
  readonly aliases: TopicAliases | undefined;
  /** Ends the connection with a reason. */
  end(code: number, text?: string): void;
}

export interface TopicAliases {
  readonly entriesMax: number;
  readonly byTopic: Map<string, number>;
}

/** How one session gets a message. */
export interface DeliveryTerms extends Pick<QueueEntry, 'retain' | 'identifiers' | 'share'> {
  readonly qos: Qos;
  /** Of a group of this process: hands it to another member, should the session end. */
  readonly handOn?: (message: Message, wasSent: boolean) => void;
  /** A member may have had it from a process that ended [MQTT-3.3.1-1]. */
  readonly isRepeated?: boolean;
}

/** How it gets one that is queued until the client has it. */
export interface QueuedTerms extends DeliveryTerms {
  readonly qos: 1 | 2;
}

/** A message without its texts and bytes, with the objects that hold it. */
const messageBytes = 256;

/** A message that waits for sessions: it is in memory once, and one payer at a time bears it. */
export class Parcel {
  readonly message: Message;
  readonly bytes: number;
  /** How many entries of each payer wait for it. */
  readonly holders = new Map<Payer, number>();
  bearer: Payer | undefined;

  constructor(message: Message) {
    this.message = message;
    this.bytes = messageBytes + 2 * message.topic.length + bytesOfMessage(message);
  }
}

/** A QoS 1 or 2 message that its receiver has not settled. */
export interface Entry extends QueuedTerms {
  readonly packetId: number;
  /** The payer of its quota: that of the session when it was queued. */
  readonly payer: Payer;
  /** Released when the receiver has it [MQTT-4.3.3-8]. */
  parcel: Parcel | undefined;
  /** Whether it was under way on this connection, or on one before. */
  wasSent: boolean;
  isInFlight: boolean;
  /**
   * Before a QoS 2 packet leaves, the state that it represents is on disk: after a crash neither
   * its id may mean another message, nor the message come with an id that was released.
   */
  isOnDisk: boolean;
}

/** The retained messages of a new subscription; the next are found when the client takes more. */
interface RetainedBacklog {
  readonly messages: Iterator<Message | undefined>;
  readonly subscription: Subscription;
}

/** Of a session that another process had, and what was found in the log for it. */
interface CatchUp {
  /** Deliveries deferred until the log was read; undefined: it was. */
  waiting: (() => void)[] | undefined;
  /** The names of messages that were found: they may come once more. */
  readonly found: Set<string>;
  /** Up to where its queue had each writer's messages when this process got it. */
  readonly heard: ReadonlyMap<number, number>;
  /** Whether the log is left to the next process, as this one stops. */
  isLeft?: boolean;
}

const packetIdMax = 65_535;

/** The state of one client id of one identity; most of it comes when it is needed. */
export class Session {
  readonly key: SessionKey;
  readonly identity: string;
  readonly clientId: string;
  /** Whether it outlives its connection, and so is kept in the store. */
  readonly isDurable: boolean;
  /** The payer of its quota. */
  payer: Payer;
  /** Bytes it takes of the payer's budget, without messages that wait for its client. */
  roomBytes = 0;
  expirySeconds: number;
  /** When it is over, though it may still be read; never, while it has a link. */
  expiresAt: Instant = Number.POSITIVE_INFINITY;
  link: Link | undefined;
  isEnded = false;
  subscriptions: Map<string, Subscription> | undefined;
  /** Everything that is not settled, by packet id, oldest first. */
  entries: Map<number, Entry> | undefined;
  /** Entries that wait to be sent, oldest first from `waitingFrom` on. */
  waiting: Entry[] | undefined;
  waitingFrom = 0;
  inFlight = 0;
  queuedBytes = 0;
  /** Deliveries behind one whose right is being looked up. */
  admissions: (() => void)[] | undefined;
  /** Whether the right to the next waiting message is being looked up. */
  isAsking = false;
  /** Retained messages on their way to new subscriptions, by filter. */
  backlog: Map<string, RetainedBacklog> | undefined;
  /** Resolves when the store has the session; undefined: it has. */
  opening: Promise<void> | undefined;
  /** QoS 2 ids the client has not released; a promise while the hooks have not answered. */
  received: Map<number, Promise<PublishOutcome> | undefined> | undefined;
  /** The term in which its client connected, of all processes; 0: no other one serves. */
  claimedAt = 0;
  /** The term in which this process took it from the store; 0: it began here. */
  takenAt = 0;
  catchUp: CatchUp | undefined;
  #lastPacketId = 0;

  constructor(record: Omit<SessionRecord, 'leftAt'> & { readonly payer: Payer }) {
    this.key = record.key;
    this.identity = record.identity;
    this.clientId = record.clientId;
    this.payer = record.payer;
    this.expirySeconds = record.expirySeconds;
    this.isDurable = record.expirySeconds > 0;
  }

  /** An id that no unsettled message has; there are always fewer of them than ids. */
  nextPacketId(): number {
    let id = this.#lastPacketId;
    do {
      id = id === packetIdMax ? 1 : id + 1;
    } while (this.entries?.has(id) === true);
    this.#lastPacketId = id;
    return id;
  }

  /** The highest id that was given out, for a session that was loaded. */
  continueFrom(packetId: number): void {
    this.#lastPacketId = packetId;
  }
}

/** The name by which a message of the log is remembered. */
export const nameOfFound = ({ writer, at }: MessageOrigin): string => `${writer} ${at}`;

/**
 * Whether a session that another process had has the message: from that process, or since it was
 * found in the log. Entries of other processes may be read here after that.
 */
export const isKnown = (
  { found, heard }: Pick<CatchUp, 'found' | 'heard'>,
  { origin }: Message,
): boolean =>
  origin !== undefined &&
  (origin.at <= (heard.get(origin.writer) ?? 0) || found.has(nameOfFound(origin)));

/** A message arrives with at most the QoS it was sent with [MQTT-3.8.4-8]. */
export const lower = (one: Qos, other: Qos): Qos => (one < other ? one : other);
