import type { SocialId, Username } from '../ids.ts';
import type { Social } from './social.ts';

export interface SocialListing {
  readonly socials: readonly Social[];
  /** All that match, whatever the page. */
  readonly total: number;
}

/** Where social messages are kept. Lists are in order of creation. */
export interface SocialStore {
  /**
   * Keeps the messages, all in one step, and then drops the oldest of a sender who has more than
   * socialsPerSenderMax. One whose sender or recipient ended meanwhile is not kept.
   */
  insert(socials: readonly Social[]): Promise<void>;
  find(id: SocialId): Promise<Social | undefined>;
  /** `ofUser` narrows to what this user sent or received. */
  list(page: { ofUser?: Username; limit: number; offset: number }): Promise<SocialListing>;
  remove(id: SocialId): Promise<'removed' | 'missing'>;
}
