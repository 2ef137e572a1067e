import type { Instant } from '../../lib/clock.ts';
import type { UserId, Username } from '../ids.ts';

/** Details that users give about themselves; every field may be absent. */
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

/** Addresses of these kinds are proven with a code that is sent to them. */
export type ProofChannel = 'email' | 'phone';

/** Proof that an address of the profile reaches this user [contract 14]. */
export interface AddressProof {
  readonly channel: ProofChannel;
  readonly address: string;
  readonly provenAt: Instant;
  /** earlier: the account is older than proofs, so that its alerts do not fall silent. */
  readonly by: 'code' | 'administrator' | 'earlier';
}

export interface User {
  readonly id: UserId;
  readonly username: Username;
  readonly createdAt: Instant;
  readonly profile: Profile;
  readonly isAdmin: boolean;
  /** A disabled account keeps its things, and can neither log in nor use tokens or keys. */
  readonly isDisabled: boolean;
  /** Made by itself, since such accounts have a quota of their own [contract 15]. */
  readonly isSignUp?: true;
  /** Another user chose the password, and it was not changed since. */
  readonly isPasswordInitial?: true;
  /**
   * When a password was last right, or a browser that stays logged in was used; to a day. Absent:
   * never.
   */
  readonly lastLoginAt?: Instant;
  /** Deliveries by sms or voice left; absent: without limit. */
  readonly smsCredit?: number;
  /** Of addresses that are in the profile; absent: none. */
  readonly proofs?: readonly AddressProof[];
  /**
   * Secret that signs messages to the webhook, shown to this user only. Absent: the account is
   * older than stored secrets, and its secret follows from the installation's and its name.
   */
  readonly webhookSecret?: string;
}

/** An account that is made now: a name that is free again gets nothing of who had it before. */
export interface NewUser extends User {
  readonly webhookSecret: string;
}

/** Changes to an account; a profile field set to undefined is removed. */
export interface UserChanges {
  readonly profile?: { readonly [Field in keyof Profile]: Profile[Field] | undefined };
  readonly isAdmin?: boolean;
  readonly isDisabled?: boolean;
  readonly smsCredit?: number | 'unlimited';
  /** Proofs that come new; an address that leaves the profile takes its proof with it. */
  readonly proofs?: readonly AddressProof[];
}
