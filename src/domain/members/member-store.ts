import type { Instant } from '../../lib/clock.ts';
import type { FeedLog } from './feed-log.ts';

/** A process that serves this installation, or did a moment ago. */
export interface Member {
  readonly id: number;
  /** Counts up while it serves. */
  readonly beat: number;
  /** left: it said so at its end. lost: the others noticed that it was gone. */
  readonly state: 'serving' | 'left' | 'lost';
}

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
}
