import { limits } from '../../domain/limits.ts';
import type {
  SessionRecord,
  SessionRenewal,
  TokenBasis,
  TokenRecord,
} from '../../domain/users/credential-store.ts';
import { parseJson } from '../../lib/json.ts';
import { type AccessKeyRow, sessionDetails } from '../sql/credential-row.ts';
import type { SqlSession } from '../sql/session.ts';
import { keepLastLogin } from '../sql/user-row.ts';
import { postgresLimits } from './postgres-limits.ts';

const addToken = `
  insert into tokens (hash, user_id, expires_at, logged_in_at, session_id)
  select $1, id, $2, $3, $4 from users where id = $5 and is_disabled = 0`;
const insertTokenBy: Readonly<Record<TokenBasis['kind'], string>> = {
  password: `${addToken} and password_hash = $6`,
  token: `${addToken} and exists (select 1 from tokens where hash = $6 and user_id = users.id)`,
  session: `${addToken} and exists
    (select 1 from login_sessions where login_sessions.id = $6 and user_id = users.id)`,
};
const addSession = `
  insert into login_sessions (id, user_id, hash, created_at, last_used_at, expires_at, details)
  select $1, id, $2, $3, $4, $5, $6 from users
  where id = $7 and is_disabled = 0 and password_hash = $8`;
const deleteExpiredSessions = `
  delete from login_sessions where user_id = $1 and expires_at <= $2`;
const deleteOldestSessions = `
  delete from login_sessions where id in
    (select id from login_sessions where user_id = $1 order by last_used_at desc offset $2)`;
const selectSession = 'select user_id, details from login_sessions where hash = $1';
const replaceCookie = `
  update login_sessions set replaced_hash = hash, replaced_at = $1, hash = $2, last_used_at = $1,
    expires_at = $3, details = $4
  where hash = $5`;
const deleteExpired = `
  delete from tokens where position in
    (select position from tokens where expires_at <= $1 order by expires_at limit $2)`;
const deleteOldest = `
  delete from tokens where position in
    (select position from tokens where user_id = $1 order by position desc offset $2)`;
const countKeys = 'select count(*) as n from access_keys where user_id = $1';
const addKey = `
  insert into access_keys (id, hash, user_id, created_at, expires_at, details)
  select $1, $2, id, $3, $4, $5 from users where id = $6 and is_disabled = 0`;

/** Inserts a token if its basis still holds, both in the same step. */
export async function insertToken(
  session: SqlSession,
  token: TokenRecord,
  basis: TokenBasis,
  now: number,
): Promise<'inserted' | 'gone'> {
  const { hash, expiresAt, loggedInAt, userId } = token;
  const row = [hash, expiresAt, loggedInAt, token.sessionId ?? null, userId] as const;
  const made = await session.run(insertTokenBy[basis.kind], ...row, proofOf(basis));
  await session.run(deleteExpired, now, postgresLimits.expiredTokensPerStep);
  await session.run(deleteOldest, userId, limits.tokensPerUserMax);
  return made === 0 ? 'gone' : 'inserted';
}

export async function insertSession(
  session: SqlSession,
  record: SessionRecord,
  basis: TokenBasis,
  now: number,
): Promise<'inserted' | 'gone'> {
  if (basis.kind !== 'password') return 'gone';
  const { id, userId, hash, createdAt, lastUsedAt, expiresAt } = record;
  const made = await session.run(
    addSession,
    ...[id, hash, createdAt, lastUsedAt, expiresAt],
    ...[sessionDetails(record), userId, basis.passwordHash],
  );
  await session.run(deleteExpiredSessions, userId, now);
  await session.run(deleteOldestSessions, userId, limits.sessionsPerUserMax);
  return made === 0 ? 'gone' : 'inserted';
}

export async function renewSession(
  session: SqlSession,
  from: string,
  { hash, lastUsedAt, expiresAt, address }: SessionRenewal,
): Promise<'renewed' | 'gone'> {
  const stored = await session.first<{ user_id: string; details: string }>(selectSession, from);
  if (stored === undefined) return 'gone';
  const details = JSON.stringify({ ...(parseJson(stored.details) as object), address });
  await session.run(replaceCookie, lastUsedAt, hash, expiresAt, details, from);
  const before = lastUsedAt - limits.knownNetworkMs;
  await session.run(keepLastLogin, stored.user_id, lastUsedAt, before);
  return 'renewed';
}

export async function insertKey(
  session: SqlSession,
  key: AccessKeyRow,
): Promise<'inserted' | 'too_many' | 'gone'> {
  const held = await session.first<{ n: number }>(countKeys, key.user_id);
  if ((held?.n ?? 0) >= limits.accessKeysPerUserMax) return 'too_many';
  const { id, hash, created_at, expires_at, details, user_id } = key;
  const made = await session.run(addKey, id, hash, created_at, expires_at, details, user_id);
  return made === 0 ? 'gone' : 'inserted';
}

/** The value that a statement compares the basis with. */
function proofOf(basis: TokenBasis): string {
  if (basis.kind === 'password') return basis.passwordHash;
  return basis.kind === 'token' ? basis.hash : basis.id;
}
