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
  /** The login that it came from, where a browser stays logged in; the token ends with it. */
  readonly sessionId?: string;
}

/** A browser that stays logged in, as kept: only the hash of its cookie. */
export interface SessionRecord {
  readonly id: string;
  readonly userId: UserId;
  readonly hash: string;
  /** The cookie before, which works for a moment more, and when it was replaced. */
  readonly replaced?: { readonly hash: string; readonly at: Instant };
  /** Name that the browser gave itself. */
  readonly name: string;
  /** Where it was used last. */
  readonly address: string;
  readonly createdAt: Instant;
  readonly lastUsedAt: Instant;
  readonly expiresAt: Instant;
}

/** Fields of a session that a renewal changes. */
export type SessionRenewal = Pick<SessionRecord, 'hash' | 'address' | 'lastUsedAt' | 'expiresAt'>;

/** An access key as kept: only the hash of the secret. */
export interface AccessKeyRecord
  extends Pick<SessionRecord, 'hash' | 'userId' | 'name' | 'createdAt'> {
  readonly id: AccessKeyId;
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

/**
 * Basis of a token. The store keeps the token only if the basis is still valid at the moment of
 * writing: a password that changes meanwhile takes every token with it that was on its way.
 */
export type TokenBasis =
  /** The hash that the password was checked against. */
  | { readonly kind: 'password'; readonly passwordHash: string }
  /** The token that is being renewed, by its hash. */
  | { readonly kind: 'token'; readonly hash: string }
  /** A login that stays, by its id. */
  | { readonly kind: 'session'; readonly id: string };

/** Where tokens and access keys are kept. Those of disabled accounts are never found. */
export interface CredentialStore {
  /**
   * Keeps the newest `tokensPerUserMax` of a user; older ones and expired ones go. Answers gone,
   * and keeps nothing, when the basis is no longer valid or the account is gone or disabled.
   */
  insertToken(token: TokenRecord, basis: TokenBasis, now: Instant): Promise<'inserted' | 'gone'>;
  /** Expired tokens may be found: the caller compares the time. */
  findToken(hash: string): Promise<(TokenRecord & { readonly bearer: Bearer }) | undefined>;
  removeToken(hash: string): Promise<'removed' | 'missing'>;
  /**
   * Keeps the `sessionsPerUserMax` of a user that were used last; older ones and expired ones go.
   * Answers gone when the basis is no longer valid.
   */
  insertSession(
    session: SessionRecord,
    basis: TokenBasis,
    now: Instant,
  ): Promise<'inserted' | 'gone'>;
  /** By the hash of its cookie, or of the one before. Those that expired may be found. */
  findSession(hash: string): Promise<SessionRecord | undefined>;
  /**
   * Replaces the cookie whose hash is `from`, and counts as a login of its account, once a day;
   * gone when it is no longer the newest one.
   */
  renewSession(from: string, renewal: SessionRenewal): Promise<'renewed' | 'gone'>;
  /** Sessions of the account, last used first. */
  listSessions(userId: UserId): Promise<readonly SessionRecord[]>;
  /** Ends the session with all tokens that came from it. */
  removeSession(userId: UserId, id: string): Promise<'removed' | 'missing'>;
  /** Answers gone when the account is gone or disabled. */
  insertKey(key: AccessKeyRecord): Promise<'inserted' | 'too_many' | 'gone'>;
  findKey(hash: string): Promise<(AccessKeyRecord & { readonly bearer: Bearer }) | undefined>;
  /** A key of the account, by its id. */
  findKeyOf(userId: UserId, id: AccessKeyId): Promise<AccessKeyRecord | undefined>;
  /** In order of creation, few at a time: each may name a thousand devices. */
  listKeys(userId: UserId): AsyncIterable<readonly AccessKeyRecord[]>;
  removeKey(userId: UserId, id: AccessKeyId): Promise<'removed' | 'missing'>;
}
