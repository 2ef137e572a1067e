import type { Scope } from '../../domain/access/scopes.ts';
import type { AccessKeyId, DeviceId, UserId, Username } from '../../domain/ids.ts';
import type {
  AccessKeyRecord,
  Bearer,
  SessionRecord,
  TokenRecord,
} from '../../domain/users/credential-store.ts';
import { detailsFrom } from './details.ts';

/** A row of the table tokens. */
export interface TokenRow {
  readonly hash: string;
  readonly user_id: string;
  readonly expires_at: number;
  readonly logged_in_at: number;
  readonly session_id: string | null;
}

/** A row of the table login_sessions. */
export interface SessionRow {
  readonly id: string;
  readonly user_id: string;
  readonly hash: string;
  readonly replaced_hash: string | null;
  readonly replaced_at: number | null;
  readonly created_at: number;
  readonly last_used_at: number;
  readonly expires_at: number;
  readonly details: string;
}

/** A row of the table access_keys. */
export interface AccessKeyRow {
  readonly id: string;
  readonly hash: string;
  readonly user_id: string;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly details: string;
}

/** The columns of users that come with a credential. */
export interface BearerRow {
  readonly username: string;
  readonly is_admin: number;
}

interface KeyDetails {
  readonly name: string;
  readonly scopes?: readonly Scope[];
  readonly devices?: readonly DeviceId[];
}

// Rows hold what parsed ids were written from.
export function tokenFromRow(row: TokenRow): TokenRecord {
  return {
    hash: row.hash,
    userId: row.user_id as UserId,
    expiresAt: row.expires_at,
    loggedInAt: row.logged_in_at,
    ...(row.session_id === null ? {} : { sessionId: row.session_id }),
  };
}

/** The column details of a session. */
export function sessionDetails({ name, address }: SessionRecord): string {
  return JSON.stringify({ name, address });
}

export function sessionFromRow(row: SessionRow): SessionRecord {
  const { replaced_hash: hash, replaced_at: at } = row;
  return {
    id: row.id,
    userId: row.user_id as UserId,
    hash: row.hash,
    ...(hash === null || at === null ? {} : { replaced: { hash, at } }),
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
    // The text was written by sessionDetails.
    ...detailsFrom<Pick<SessionRecord, 'name' | 'address'>>(row.details),
  };
}

export function keyToRow(key: AccessKeyRecord): AccessKeyRow {
  const { name, scopes, devices } = key;
  return {
    id: key.id,
    hash: key.hash,
    user_id: key.userId,
    created_at: key.createdAt,
    expires_at: key.expiresAt ?? null,
    details: JSON.stringify({ name, scopes, devices }),
  };
}

export function keyFromRow(row: AccessKeyRow): AccessKeyRecord {
  return {
    id: row.id as AccessKeyId,
    hash: row.hash,
    userId: row.user_id as UserId,
    createdAt: row.created_at,
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
    // The text was written by keyToRow.
    ...detailsFrom<KeyDetails>(row.details),
  };
}

export function bearerFromRow(row: BearerRow & { readonly user_id: string }): Bearer {
  return {
    userId: row.user_id as UserId,
    username: row.username as Username,
    isAdmin: row.is_admin !== 0,
  };
}
