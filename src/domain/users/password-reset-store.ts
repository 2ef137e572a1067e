import type { Instant } from '../../lib/clock.ts';
import type { UserId } from '../ids.ts';

/** A code that was mailed to a user who forgot the password. */
export interface PendingReset {
  readonly userId: UserId;
  readonly codeHash: string;
  readonly expiresAt: Instant;
  /** The address that the code proves. */
  readonly provenAt: Instant;
}

/** Codes for forgotten passwords; they go with their accounts. */
export interface PasswordResetStore {
  /**
   * Keeps one more code, beside those of before; nothing happens for an account that is gone. Codes
   * that have expired go, and of more than `limits.passwordResetsMax` those that expire first.
   */
  insert(reset: PendingReset, now: Instant): Promise<void>;
  /** The code of this account, unless it has expired. */
  find(userId: UserId, codeHash: string, now: Instant): Promise<PendingReset | undefined>;
  /** As find, and removes all codes of the account: of many at once, one gets it. */
  take(userId: UserId, codeHash: string, now: Instant): Promise<PendingReset | undefined>;
}
