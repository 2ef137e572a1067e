import type { Instant } from '../../lib/clock.ts';
import type { Payer } from '../budgets/budget.ts';
import type { LogPage } from '../members/member-store.ts';
import type { WantedValues } from '../members/wanted-values.ts';
import type { Message, Qos, SessionKey } from './message.ts';

/**
 * Keeps what sessions that outlive their connection hold, and the retained messages. It knows
 * nothing of accounts and things: the broker drops what is kept of those that go.
 */
export interface SessionStore {
  /** Everything that is kept; asked once, at start, before anything is changed. */
  load(): Promise<StoredSessions>;
  /**
   * Makes the changes durable, all or none, in this order; resolves when they are synced to disk. A
   * change to what does not exist changes nothing. `notes`: messages to other processes in the same
   * commit, where there are any.
   */
  apply(changes: readonly SessionChange[], notes?: readonly string[]): Promise<void>;
  /** Several processes: load() answers none, each is claimed or adopted. Absent: only one. */
  readonly shared?: SharedSessions;
}

/** A step in the life of a session or of a retained message. */
export type SessionChange =
  /** A new session; whatever was kept under its key is dropped first. */
  | { readonly kind: 'opened'; readonly session: SessionRecord }
  /** The session's connection began (no leftAt) or ended; its expiry and payer may have changed. */
  | ({ readonly kind: 'moved' } & Omit<SessionRecord, 'identity' | 'clientId'>)
  /** Drops the session with everything that is kept for it. */
  | { readonly kind: 'ended'; readonly key: SessionKey }
  /** Adds the subscription, or replaces the one with the same filter. */
  | { readonly kind: 'subscribed'; readonly key: SessionKey; readonly subscription: Subscription }
  | { readonly kind: 'unsubscribed'; readonly key: SessionKey; readonly filter: string }
  /** A message for several sessions, to keep until each has settled it. */
  | {
      readonly kind: 'queued';
      readonly message: Message;
      readonly entries: readonly QueueEntry[];
    }
  /** The receiver has the QoS 2 message: only its packet id is kept from now on. */
  | { readonly kind: 'released'; readonly key: SessionKey; readonly packetId: number }
  /** The receiver is done with the message, or it was dropped. */
  | { readonly kind: 'settled'; readonly key: SessionKey; readonly packetId: number }
  /** The QoS 2 message that the session published under this id was handed on. */
  | { readonly kind: 'received'; readonly key: SessionKey; readonly packetId: number }
  /** The publisher released that id: it may be used for another message. */
  | { readonly kind: 'completed'; readonly key: SessionKey; readonly packetId: number }
  /** A client connects with a last will; where several processes serve, its claim keeps it. */
  | ({ readonly kind: 'will_kept' } & StoredWill)
  /** The last will of this term was published, or is not to be. */
  | { readonly kind: 'will_settled'; readonly key: SessionKey; readonly turn: number }
  /** Replaces the retained message of its topic. */
  | { readonly kind: 'retained'; readonly message: Message }
  /** `expiredAt`: only what had expired by then. */
  | { readonly kind: 'unretained'; readonly topic: string; readonly expiredAt?: Instant };

/** A session as it is kept. */
export interface SessionRecord {
  readonly key: SessionKey;
  /** The owner of a session, in the authority's words; sessions go with their account. */
  readonly identity: string;
  readonly clientId: string;
  /** How long it outlives its connection; neverExpires: for ever [MQTT-3.1.2.11.2]. */
  readonly expirySeconds: number;
  /** When its connection ended; absent while it is connected. */
  readonly leftAt?: Instant;
  /** Payer of the session; absent: not known, as in databases of before. */
  readonly payer?: Payer;
}

/** The expirySeconds of a session without an end. */
export const neverExpires = 0xffff_ffff;

export interface Subscription {
  /** As the client gave it, with $share/{group}/ in front if it is shared. */
  readonly filter: string;
  readonly qos: Qos;
  /** Leaves out the session's own messages. */
  readonly noLocal: boolean;
  /** Messages keep the retain flag of their publisher. */
  readonly retainAsPublished: boolean;
  /** Which retained messages a SUBSCRIBE brings: all, those of a new one, none. */
  readonly retainHandling: 0 | 1 | 2;
  /** Given back with each of its messages; 0: none was given. */
  readonly identifier: number;
}

/** A message in the queue of one session. */
export interface QueueEntry {
  readonly key: SessionKey;
  /** Unlike those of all other entries of the session; it is sent under this id. */
  readonly packetId: number;
  /** The lower one of the message's and the subscription's. */
  readonly qos: 1 | 2;
  /** Whether the delivery carries the retain flag. */
  readonly retain: boolean;
  /** Identifiers of the subscriptions it is for. */
  readonly identifiers: readonly number[];
  /** Of a group, where several processes serve: it is settled with this entry. Not kept. */
  readonly share?: Share;
}

/** Answer of load(). */
export interface StoredSessions {
  readonly sessions: readonly StoredSession[];
  readonly retained: readonly Message[];
  /** Wills that were not settled, in the order of their terms. No wills: it is absent. */
  readonly wills?: readonly StoredWill[];
}

export interface StoredSession extends SessionRecord {
  readonly subscriptions: readonly Subscription[];
  /** In the order in which they were queued. */
  readonly queue: readonly StoredEntry[];
  /** Ids of QoS 2 messages that it published and did not release, and that were handed on. */
  readonly received: readonly number[];
}

/** Without a message: it was released, and only PUBREL is to be sent again. */
export type StoredEntry = Omit<QueueEntry, 'key' | 'share'> & { readonly message?: Message };

/** A client that connects, and whose session is to be this process's. */
export interface ClaimRequest extends Omit<SessionRecord, 'leftAt' | 'payer'> {
  readonly payer: Payer;
  /** Whether it is in memory here: it is not read then, and refused if another process had it. */
  readonly isKnown: boolean;
  /** Whether it is taken from a process that serves. */
  readonly isForced: boolean;
  /** Last will of the client, to be published by another process if this one ends. */
  readonly will?: Omit<StoredWill, 'turn'> | undefined;
  /** Message to other processes, in the same commit. */
  readonly note: (turn: number) => string;
}

export interface Claim {
  /** Counts on over all processes: of two claims of a session the later one holds. */
  readonly turn: number;
  /** The session as it was kept, unless it is known. */
  readonly session?: ClaimedSession;
  /** Wills of connections before, of a process that will not publish them: this one's now. */
  readonly wills: readonly StoredWill[];
}

/** The last will of a client. */
export interface StoredWill {
  readonly key: SessionKey;
  /** Of whom it is, and who pays for it, is in it. */
  readonly message: Message;
  /** From the end of its connection on. */
  readonly delayMs: number;
  /** From its publication on. */
  readonly expirySeconds?: number;
  /** The term in which the client connected. */
  readonly turn: number;
  /** When its connection ended, as far as load() knows. */
  readonly leftAt?: Instant;
}

/** A session that another process had, or no process. */
export interface ClaimedSession extends StoredSession {
  /** Where the log of each writer was when each subscription came, by filter. */
  readonly since: ReadonlyMap<string, (writer: number) => number>;
  /** Up to which number messages of a process are in its queue, or were; by process. */
  readonly heard: ReadonlyMap<number, number>;
  /** The term in which this process took it: earlier claims of others are over. */
  readonly turn: number;
  /** Whether it was another process's until then: what this one has of it is older. */
  readonly wasElsewhere: boolean;
}

/** Another process that serves has the session. */
export interface Elsewhere {
  readonly owner: number;
}

/** Sessions and wills that a process knows to be its own: other rows are of refused commits. */
export interface KnownHere {
  /** Sessions that it is taking up, with their wills. */
  keys(): readonly SessionKey[];
  /** Terms of wills that it has, or is about to have. */
  terms(): readonly number[];
}

/**
 * Sessions of several processes: each belongs to one, which alone may change it. Every method
 * throws DomainError unavailable when the database is away.
 */
export interface SharedSessions {
  /** While sessions that were claimed or adopted are not caught up, all values are wanted. */
  readonly wanted: WantedValues;
  /** Makes a session this process's from now on, unless a process that serves has it. */
  claim(request: ClaimRequest): Promise<Claim | Elsewhere>;
  /**
   * Makes some sessions of ended processes, or without an owner, this process's. None: no more.
   * `known`: also those that are its own without its knowledge.
   */
  adopt(known?: KnownHere): Promise<readonly ClaimedSession[]>;
  /** The same of wills. */
  adoptWills(known?: KnownHere): Promise<readonly StoredWill[]>;
  /**
   * Takes care that no process that serves takes the will of this term any more, to publish it;
   * false: another one has taken it. One that ends leaves it all the same.
   */
  beginWill(key: SessionKey, turn: number): Promise<boolean>;
  /** Some of what is logged behind this place, by all processes, in the order of their commits. */
  missed(after: number): Promise<LogPage>;
  /** Changes what is claimed of messages for groups, and answers what became of each claim. */
  share(step: ShareStep): Promise<readonly ShareOutcome[]>;
  /** Messages retained on these topics. */
  retained(topics: readonly string[]): Promise<readonly Message[]>;
  /** Records that the messages of the log for these sessions are in their queues. */
  caughtUp(keys: readonly SessionKey[]): Promise<void>;
  /**
   * Calls back with sessions whose changes were refused, as they are of another process now; with
   * none when messages for a group were given back, as the session that had them is gone.
   */
  onFenced(listener: (keys: readonly SessionKey[]) => void): void;
}

/** A message for one member of a group, as all processes that serve name it. */
export interface Share {
  /** Of whom the group is, its name and its filter. */
  readonly group: string;
  readonly message: string;
}

/** A process asks to be the one that hands a message to a member of a group. */
export interface ShareClaim extends Share {
  /** Names this claim among those of the process: made again after an outage it is the same one. */
  readonly token: number;
  /** Whether its member is connected: those that are not wait behind all that are. */
  readonly isHere: boolean;
  /** Whether no member is to get the message again if the process ends. */
  readonly isSettled: boolean;
  /** Only what a process had claimed that ended, or that it gave back. */
  readonly isAgain: boolean;
}

/**
 * won: this process hands it on; won_again: likewise, and a member may have had it from another one
 * that had claimed it; taken: another one does; left: one may whose member is there.
 */
export type ShareOutcome = 'won' | 'won_again' | 'taken' | 'left';

/** Changes to claims of group messages in one commit. */
export interface ShareStep {
  /** Claims of group messages, each message once. */
  readonly claims: readonly ShareClaim[];
  /** A member has it for good. */
  readonly settled: readonly Share[];
  /** No member here can have it. */
  readonly givenBack: readonly Share[];
  /** Groups of which a member is connected to this process, or is not any more. */
  readonly here: ReadonlyMap<string, boolean>;
  /** Messages to other processes. */
  readonly notes: readonly string[];
}
