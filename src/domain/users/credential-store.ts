import type { Instant } from '../../lib/clock.ts';
import type { Scope } from '../access/scopes.ts';
import type { AccessKeyId, DeviceId, UserId, Username } from '../ids.ts';

/** A token as kept: only the hash of the secret. */
export interface TokenRecord {
  readonly hash: string;
  readonly userId: UserId;
  readonly expiresAt: Instant;
  /** When the password was last given; renewal ends 30 days later. */
  readonly loggedInAt: Instant;
}

/** An access key as kept: only the hash of the secret. */
export interface AccessKeyRecord {
  readonly id: AccessKeyId;
  readonly hash: string;
  readonly userId: UserId;
  readonly name: string;
  readonly createdAt: Instant;
  readonly scopes?: readonly Scope[];
  readonly devices?: readonly DeviceId[];
  readonly expiresAt?: Instant;
}

/** The account behind a credential, as it is now. */
export interface Bearer {
  readonly userId: UserId;
  readonly username: Username;
  readonly isAdmin: boolean;
}

/** Where tokens and access keys are kept. Those of disabled accounts are never found. */
export interface CredentialStore {
  /** Keeps the newest `tokensPerUserMax` of a user; older ones and expired ones go. */
  insertToken(token: TokenRecord, now: Instant): Promise<void>;
  /** Expired tokens may be found: the caller compares the time. */
  findToken(hash: string): Promise<(TokenRecord & { readonly bearer: Bearer }) | undefined>;
  removeToken(hash: string): Promise<'removed' | 'missing'>;
  insertKey(key: AccessKeyRecord): Promise<'inserted' | 'too_many'>;
  findKey(hash: string): Promise<(AccessKeyRecord & { readonly bearer: Bearer }) | undefined>;
  /** In order of creation. */
  listKeys(userId: UserId): Promise<readonly AccessKeyRecord[]>;
  removeKey(userId: UserId, id: AccessKeyId): Promise<'removed' | 'missing'>;
}
