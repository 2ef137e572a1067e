/** Where an entry is: entries of one writer follow one another. */
export interface LogPosition {
  readonly writer: number;
  readonly place: number;
}

/** An entry that a process wrote for the others. */
export interface LogEntry extends LogPosition {
  readonly text: string;
}

/** The last will of a client that connected in this term of its session, over all processes. */
export interface WillName {
  /** Of its session. */
  readonly key: string;
  readonly turn: number;
}

/**
 * Messages between the processes of one installation, kept until all of them have read them. Every
 * method throws DomainError unavailable when the database is away.
 */
export interface FeedLog {
  /**
   * Resolves when the entry is durable, with its position; undefined when no other process serves,
   * so that none was written. In that commit the will ends which the entry publishes.
   */
  append(text: string, settled?: WillName): Promise<LogPosition | undefined>;
  /**
   * The first of what others wrote and this process has not read, in the order of commits: all of
   * it when they are fewer than `entriesPerRead`.
   */
  read(): Promise<readonly LogEntry[]>;
  readonly entriesPerRead: number;
  /** The last position of the others when this process began its newest commit; 0: none. */
  before(): number;
  /** Acknowledges to the others that all that was read has been acted on. */
  acknowledge(): Promise<void>;
  /**
   * Whether every other process that serves has acknowledged the entry. Of one alone: or is cut
   * off, so that there is no process to wait for.
   */
  isHeard(position: LogPosition, by?: number): Promise<boolean>;
  /** Drops what all have acknowledged, and was there when this was called before. */
  tidy(): Promise<void>;
  /** Calls back when there may be something to read or an acknowledgement, soon but not surely. */
  onNews(listener: () => void): () => void;
}
