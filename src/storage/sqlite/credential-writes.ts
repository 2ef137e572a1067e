import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../domain/limits.ts';
import type { TokenRecord } from '../../domain/users/credential-store.ts';
import type { AccessKeyRow } from '../sql/credential-row.ts';
import { createSelection } from './selection.ts';
import { sqliteLimits } from './sqlite-limits.ts';

const insertToken = `
  insert into tokens (hash, user_id, expires_at, logged_in_at)
  select ?, id, ?, ? from users where id = ?`;
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
  select ?, ?, id, ?, ?, ? from users where id = ?`;
const deleteKey = 'delete from access_keys where user_id = ? and id = ?';

/**
 * What the writer thread does to tokens and access keys. An account that ends meanwhile takes
 * what was being inserted with it.
 */
export function createCredentialWrites(database: DatabaseSync) {
  const keyCount = createSelection<{ n: number }>(database, countKeys);
  const addToken = database.prepare(insertToken);
  const removeExpired = database.prepare(deleteExpired);
  const removeOldest = database.prepare(deleteOldest);
  const removeToken = database.prepare(deleteToken);
  const addKey = database.prepare(insertKey);
  const removeKey = database.prepare(deleteKey);

  return {
    insertToken(token: TokenRecord, now: number): void {
      removeExpired.run(now, sqliteLimits.expiredTokensPerStep);
      addToken.run(token.hash, token.expiresAt, token.loggedInAt, token.userId);
      removeOldest.run(token.userId, limits.tokensPerUserMax);
    },
    removeToken: (hash: string): 'removed' | 'missing' =>
      removeToken.run(hash).changes === 0 ? 'missing' : 'removed',
    insertKey(key: AccessKeyRow): 'inserted' | 'too_many' {
      if ((keyCount.first(key.user_id)?.n ?? 0) >= limits.accessKeysPerUserMax) return 'too_many';
      addKey.run(key.id, key.hash, key.created_at, key.expires_at, key.details, key.user_id);
      return 'inserted';
    },
    removeKey: (userId: string, id: string): 'removed' | 'missing' =>
      removeKey.run(userId, id).changes === 0 ? 'missing' : 'removed',
  };
}
