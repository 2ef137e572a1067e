import type { Instant } from '../../lib/clock.ts';
import type { UserId, Username } from '../ids.ts';

/** What people tell about themselves; every field may be absent. */
export interface Profile {
  readonly firstName?: string;
  readonly lastName?: string;
  readonly email?: string;
  /** Each with its country code. */
  readonly phone?: readonly string[];
  readonly address?: readonly string[];
  readonly facebook?: readonly string[];
  /** Account ids without the @ sign. */
  readonly twitter?: readonly string[];
  /** URLs of the user's own, to which messages are posted. */
  readonly webhook?: readonly string[];
}

export interface User {
  readonly id: UserId;
  readonly username: Username;
  readonly createdAt: Instant;
  readonly profile: Profile;
  readonly isAdmin: boolean;
  /** A disabled account keeps its things, and can neither log in nor use tokens or keys. */
  readonly isDisabled: boolean;
  /** Deliveries by sms or voice left; absent: without limit. */
  readonly smsCredit?: number;
}

/** Changes to an account; a profile field set to undefined is removed. */
export interface UserChanges {
  readonly profile?: { readonly [Field in keyof Profile]: Profile[Field] | undefined };
  readonly isAdmin?: boolean;
  readonly isDisabled?: boolean;
  readonly smsCredit?: number | 'unlimited';
}
