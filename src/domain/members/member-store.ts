import type { Instant } from '../../lib/clock.ts';
import type { ReceivedId } from '../publish-context.ts';

/** A process that serves this installation, or did a moment ago. */
export interface Member {
  readonly id: number;
  /** Counts up while it serves. */
  readonly beat: number;
  /** left: it said so at its end. lost: the others noticed that it was gone. */
  readonly state: 'serving' | 'left' | 'lost';
}

/** Figures of what a member shares with others: the help of its metrics says more. */
export type MemberFigures = Readonly<
  Record<
    | ('serving' | 'unheardSeconds' | 'deferred' | 'lockWaitSeconds' | 'lossySettings')
    | ('connections' | 'clockOffsetSeconds'),
    number
  >
>;

/** Members of one installation, as its processes know them; of engines that several can serve. */
export interface MemberStore {
  /** The number of this process. */
  readonly own: number;
  readonly log: FeedLog;
  /**
   * Counts the own beat up, and answers all members, those that ended a while ago left out; 'lost':
   * the others gave this process up, and it may change nothing any more. Throws DomainError
   * unavailable when the database is away.
   */
  beat(): Promise<'lost' | readonly Member[]>;
  /** The time of the database, which holds for all members [contract 15]. Throws like `beat`. */
  now(): Promise<Instant>;
  /**
   * Gives a member up that still has this beat: nothing that it commits from then on is kept.
   * Resolves when that is durable; 'moved': it lives, or has ended already.
   */
  giveUp(member: number, beat: number): Promise<'lost' | 'moved'>;
  figures(): Pick<MemberFigures, 'lockWaitSeconds' | 'lossySettings' | 'connections'>;
}

/** Where an entry is: entries of one writer follow one another. */
export interface LogPosition {
  readonly writer: number;
  readonly place: number;
}

/** A place by writer: those of several writers are not committed in the order of their places. */
export type LogPlaces = ReadonlyMap<number, number>;

/** An entry that a process wrote for the others. */
export interface LogEntry extends LogPosition {
  readonly text: string;
}

/** Some entries of the log. */
export interface LogPage {
  readonly entries: readonly LogEntry[];
  /** Whether nothing was behind them when they were read. */
  readonly isLast: boolean;
}

/** The last will of a client that connected in this term of its session, over all processes. */
export interface WillName {
  /** Of its session. */
  readonly key: string;
  readonly turn: number;
  /** Whether it is retained, which is a commit of its own: it ends behind that one. */
  readonly isRetained?: boolean;
}

/** A message for other processes, and what happens in the commit that tells it. */
export interface Told {
  /** Called in the commit, once or more, behind those of the commits before. */
  readonly text: () => string;
  readonly payer: string;
  /** About how many its text has. */
  readonly bytes: number;
  /** The will that it publishes ends. */
  readonly settled?: WillName | undefined;
  /** The id under which a client published it is kept. */
  readonly receivedAs?: ReceivedId | undefined;
}

/** told; known: before, under the same id or as the same will; else it is another process's. */
export type Telling = 'told' | 'known' | 'gone' | 'elsewhere';

/**
 * Messages between the processes of one installation, kept until all of them have read them. Every
 * method throws DomainError unavailable when the database is away.
 */
export interface FeedLog {
  /**
   * Resolves when the entry is durable, with its position; undefined when no other process serves,
   * so that none was written.
   */
  append(text: string): Promise<LogPosition | undefined>;
  /** Writes many in one commit, in their order, and answers what became of each. */
  tell(messages: readonly Told[]): Promise<readonly Telling[]>;
  /**
   * The first of what others wrote and this process has not read. Entries of one writer, on one
   * sensor or on rules of one device are in the order of their commits.
   */
  read(): Promise<LogPage>;
  /** Of each other process, the last place written at this moment, if it is not read yet. */
  lastPlaces(): Promise<LogPlaces>;
  /** The last places of the others that the newest commit of this process may have waited for. */
  before(): LogPlaces;
  /** The answer acknowledges to the others that all entries read before this call were acted on. */
  acknowledgement(): () => Promise<void>;
  /**
   * Whether every other process that serves has acknowledged the entry. Of one alone: or is cut
   * off, so that there is no process to wait for.
   */
  isHeard(position: LogPosition, by?: number): Promise<boolean>;
  /**
   * Drops what all have acknowledged, and was there when this was called before: of that, the
   * caller has handed on and stored by now what this process wrote.
   */
  tidy(): Promise<void>;
  /**
   * Calls back when there may be something to read or an acknowledgement, soon but not surely. With
   * own entries: their commit was made, though it was refused, so nobody published them here.
   */
  onNews(listener: OnNews): () => void;
}

/** A listener to news of the log; `own`: entries of this process that it has to act on itself. */
export type OnNews = (own?: readonly string[]) => void;
