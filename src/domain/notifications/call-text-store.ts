import type { Instant } from '../../lib/clock.ts';

/** The text of a call, said once it is picked up. */
export interface CallText {
  readonly callId: string;
  readonly text: string;
  /** The text is given to no provider afterwards. */
  readonly until: Instant;
}

/** Texts of calls that ring: the provider asks for them, maybe another process or a later one. */
export interface CallTextStore {
  /**
   * Keeps the text of a call, instead of one of before. Texts that ended before `now` go, and of
   * more than `limits.callTextsMax` those that end first.
   */
  put(text: CallText, now: Instant): Promise<void>;
  /** The text, also when it has ended and is still there. */
  find(callId: string): Promise<CallText | undefined>;
}
