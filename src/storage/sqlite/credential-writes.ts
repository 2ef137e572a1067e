import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../domain/limits.ts';
import type {
  SessionRecord,
  SessionRenewal,
  TokenBasis,
  TokenRecord,
} from '../../domain/users/credential-store.ts';
import { type AccessKeyRow, sessionDetails } from '../sql/credential-row.ts';
import { forSqlite } from '../sql/session.ts';
import { keepLastLogin } from '../sql/user-row.ts';
import { createSelection } from './selection.ts';
import { sqliteLimits } from './sqlite-limits.ts';

const insertToken = `
  insert into tokens (hash, user_id, expires_at, logged_in_at, session_id)
  select ?, id, ?, ?, ? from users where id = ? and is_disabled = 0`;
const insertTokenByPassword = `${insertToken} and password_hash = ?`;
const insertTokenByToken = `
  ${insertToken} and exists (select 1 from tokens where hash = ? and user_id = users.id)`;
const insertTokenBySession = `
  ${insertToken}
  and exists (select 1 from login_sessions where login_sessions.id = ? and user_id = users.id)`;
const insertSession = `
  insert into login_sessions (id, user_id, hash, created_at, last_used_at, expires_at, details)
  select ?, id, ?, ?, ?, ?, ? from users where id = ? and is_disabled = 0 and password_hash = ?`;
const deleteExpiredSessions = `
  delete from login_sessions where user_id = ? and expires_at <= ?`;
const deleteOldestSessions = `
  delete from login_sessions where id in
    (select id from login_sessions where user_id = ? order by last_used_at desc
     limit -1 offset ?)`;
const renewSession = `
  update login_sessions set replaced_hash = hash, replaced_at = ?, hash = ?, last_used_at = ?,
    expires_at = ?, details = json_set(details, '$.address', ?)
  where hash = ? returning user_id`;
const deleteSession = 'delete from login_sessions where user_id = ? and id = ?';
const deleteExpired = `
  delete from tokens where position in
    (select position from tokens where expires_at <= ? order by expires_at limit ?)`;
const deleteOldest = `
  delete from tokens where position in
    (select position from tokens where user_id = ? order by position desc limit -1 offset ?)`;
const deleteToken = 'delete from tokens where hash = ?';
const countKeys = 'select count(*) as n from access_keys where user_id = ?';
const insertKey = `
  insert into access_keys (id, hash, user_id, created_at, expires_at, details)
  select ?, ?, id, ?, ?, ? from users where id = ? and is_disabled = 0`;
const deleteKey = 'delete from access_keys where user_id = ? and id = ?';

/**
 * The changes that the writer thread makes to tokens and access keys. An inserted row stands or
 * falls with its basis, in the same step.
 */
export function createCredentialWrites(database: DatabaseSync) {
  const keyCount = createSelection<{ n: number }>(database, countKeys);
  const addToken = {
    password: database.prepare(insertTokenByPassword),
    token: database.prepare(insertTokenByToken),
    session: database.prepare(insertTokenBySession),
  };
  const addSession = database.prepare(insertSession);
  const removeExpiredSessions = database.prepare(deleteExpiredSessions);
  const removeOldestSessions = database.prepare(deleteOldestSessions);
  const replaceCookie = createSelection<{ user_id: string }>(database, renewSession);
  const login = database.prepare(forSqlite(keepLastLogin));
  const removeSession = database.prepare(deleteSession);
  const removeExpired = database.prepare(deleteExpired);
  const removeOldest = database.prepare(deleteOldest);
  const removeToken = database.prepare(deleteToken);
  const addKey = database.prepare(insertKey);
  const removeKey = database.prepare(deleteKey);

  return {
    insertToken(token: TokenRecord, basis: TokenBasis, now: number): 'inserted' | 'gone' {
      const { hash, expiresAt, loggedInAt, userId } = token;
      const row = [hash, expiresAt, loggedInAt, token.sessionId ?? null, userId] as const;
      const { changes } = addToken[basis.kind].run(...row, proofOf(basis));
      removeExpired.run(now, sqliteLimits.expiredTokensPerStep);
      removeOldest.run(userId, limits.tokensPerUserMax);
      return changes === 0 ? 'gone' : 'inserted';
    },
    removeToken: (hash: string): 'removed' | 'missing' =>
      removeToken.run(hash).changes === 0 ? 'missing' : 'removed',
    insertSession(session: SessionRecord, basis: TokenBasis, now: number): 'inserted' | 'gone' {
      if (basis.kind !== 'password') return 'gone';
      const { id, userId, hash, createdAt, lastUsedAt, expiresAt } = session;
      const times = [createdAt, lastUsedAt, expiresAt] as const;
      const details = sessionDetails(session);
      const { changes } = addSession.run(id, hash, ...times, details, userId, basis.passwordHash);
      removeExpiredSessions.run(userId, now);
      removeOldestSessions.run(userId, limits.sessionsPerUserMax);
      return changes === 0 ? 'gone' : 'inserted';
    },
    renewSession(from: string, renewal: SessionRenewal): 'renewed' | 'gone' {
      const { hash, lastUsedAt, expiresAt, address } = renewal;
      const renewed = [lastUsedAt, hash, lastUsedAt, expiresAt, address] as const;
      const session = replaceCookie.first(...renewed, from);
      if (session === undefined) return 'gone';
      login.run(session.user_id, lastUsedAt, lastUsedAt - limits.knownNetworkMs);
      return 'renewed';
    },
    removeSession: (userId: string, id: string): 'removed' | 'missing' =>
      removeSession.run(userId, id).changes === 0 ? 'missing' : 'removed',
    insertKey(key: AccessKeyRow): 'inserted' | 'too_many' | 'gone' {
      if ((keyCount.first(key.user_id)?.n ?? 0) >= limits.accessKeysPerUserMax) return 'too_many';
      const { id, hash, created_at, expires_at, details, user_id } = key;
      const { changes } = addKey.run(id, hash, created_at, expires_at, details, user_id);
      return changes === 0 ? 'gone' : 'inserted';
    },
    removeKey: (userId: string, id: string): 'removed' | 'missing' =>
      removeKey.run(userId, id).changes === 0 ? 'missing' : 'removed',
  };
}

/** The value that a statement compares the basis with. */
function proofOf(basis: TokenBasis): string {
  if (basis.kind === 'password') return basis.passwordHash;
  return basis.kind === 'token' ? basis.hash : basis.id;
}
