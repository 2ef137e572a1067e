import type { Told } from '../members/member-store.ts';
import type { MessageOrigin } from '../messaging/message.ts';
import type { FeedEvent } from './feed.ts';

/** Messages from a part of this process to the same part of the other processes that serve. */
export interface Peers {
  /** Names the next message to others; those of this process but settings have one order. */
  origin(): MessageOrigin;
  /**
   * Resolves when it will reach them; false: it was told before. Throws DomainError gone when it is
   * the will of another process, unavailable when the database is away or its session elsewhere,
   * rate_limited when too much of its payer waits.
   */
  tell(message: Told): Promise<boolean>;
  /** Publishes; resolves once process `by` (or all) acted, or after a second. Throws as `tell`. */
  ask(text: string, by?: number): Promise<void>;
  /**
   * Calls back with the messages of others, in the order of each, one after the other. `isOwn`: it
   * is of this process, written in a commit that was refused and made all the same.
   */
  onTold(listener: (text: string, isOwn: boolean) => Promise<void>): void;
  /**
   * Called before messages of others are acknowledged: when it resolves, this process has acted on
   * them; when it rejects it is called again.
   */
  onActed(work: () => Promise<void>): void;
  /** The entry of a text in the log, for the store that writes it. */
  entryOf(text: string): string;
  /** Parses an entry of the log: a text as above, or an event. Undefined: something else. */
  read(entry: string): string | FeedEvent | undefined;
  /** Whether what the others wrote before was acted on: false when it could not be read. */
  heard(): Promise<boolean>;
  /** The same of what they had written before the newest commit of this process. */
  heardBefore(): Promise<void>;
  /**
   * From now on nothing that others write is acted on or acknowledged: it is left to the process
   * that takes over what this one has. The same for events here that wait for what others wrote.
   */
  rest(): void;
  /** Whether such events were dropped since: those with a later number are not whole. */
  hasDropped(): boolean;
}
