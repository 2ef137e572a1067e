import type { SocialId, Username } from '../ids.ts';
import type { Social } from './social.ts';

export interface SocialListing {
  readonly socials: readonly Social[];
  /** Number of all that match, whatever the page. */
  readonly total: number;
}

/** Where social messages are kept. Lists are in order of creation. */
export interface SocialStore {
  /**
   * Keeps the messages, all in one step, and then drops the oldest of a sender who has more than
   * socialsPerSenderMax, those that wait to be sent spared. too_many: with these more than
   * socialsPendingPerSenderMax of a sender would wait, and none is kept. One whose
   * sender or recipient ended meanwhile is not kept.
   */
  insert(socials: readonly Social[]): Promise<'inserted' | 'too_many'>;
  find(id: SocialId): Promise<Social | undefined>;
  /** `ofUser` narrows to what this user sent or received. */
  list(page: { ofUser?: Username; limit: number; offset: number }): Promise<SocialListing>;
  remove(id: SocialId): Promise<'removed' | 'missing'>;
}
