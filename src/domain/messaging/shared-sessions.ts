import type { Payer } from '../budgets/payer.ts';
import type { LogEntry } from '../members/feed-log.ts';
import type { SessionKey } from './message.ts';
import type { StoredSession } from './session-store.ts';

/** A client that connects, and whose session is to be this process's. */
export interface ClaimRequest {
  readonly key: SessionKey;
  readonly identity: string;
  readonly clientId: string;
  readonly payer: Payer;
  /** 0: its session ends with the connection. */
  readonly expirySeconds: number;
  /** Whether this process has the session in memory, and need not be told what is kept of it. */
  readonly isKnown: boolean;
  /** Whether it is taken from a process that serves. */
  readonly isForced: boolean;
  /** What others are told, in the same commit. */
  readonly note: (turn: number) => string;
}

export interface Claim {
  /** Counts on over all processes: of two claims of a session the one with the higher turn holds. */
  readonly turn: number;
  /** What was kept of it, unless it is known. */
  readonly session?: ClaimedSession;
}

/** A session that another process had, or nobody. */
export interface ClaimedSession extends StoredSession {
  /** Where the log was when each subscription came, by filter. */
  readonly since: ReadonlyMap<string, number>;
  /** Up to which number messages of a process are in its queue, or were; by process. */
  readonly heard: ReadonlyMap<number, number>;
}

/**
 * Sessions of several processes: each belongs to one, which alone may change it. Every method throws
 * DomainError unavailable when the database is away.
 */
export interface SharedSessions {
  /** Makes a session this process's from this commit on; 'elsewhere': a process that serves has it. */
  claim(request: ClaimRequest): Promise<Claim | 'elsewhere'>;
  /** Makes some sessions of processes that ended, or of nobody, this process's. None: no more. */
  adopt(): Promise<readonly ClaimedSession[]>;
  /** Some of what is logged behind this place, by all processes, in the order of their commits. */
  missed(after: number): Promise<readonly LogEntry[]>;
  /** What the log had for these sessions is in their queues. */
  caughtUp(keys: readonly SessionKey[]): Promise<void>;
  /** Calls back with sessions whose changes were refused: they are of another process now. */
  onFenced(listener: (keys: readonly SessionKey[]) => void): void;
}
