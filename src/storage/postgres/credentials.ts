import type { CredentialStore } from '../../domain/users/credential-store.ts';
import {
  type AccessKeyRow,
  type BearerRow,
  bearerFromRow,
  keyDetails,
  keyFromRow,
  type SessionRow,
  sessionFromRow,
  type TokenRow,
  tokenFromRow,
} from '../sql/credential-row.ts';
import { found } from '../sql/session.ts';
import { insertKey, insertSession, insertToken, renewSession } from './credential-writes.ts';
import type { StoreContext } from './store-context.ts';

const selectToken = `
  select hash, user_id, expires_at, logged_in_at, session_id, username, is_admin
  from tokens join users on users.id = tokens.user_id
  where hash = $1 and is_disabled = 0`;
const sessionColumns = `
  id, user_id, hash, replaced_hash, replaced_at, created_at, last_used_at, expires_at, details`;
const selectSession = `
  select ${sessionColumns} from login_sessions where hash = $1 or replaced_hash = $1`;
const selectSessionsOf = `
  select ${sessionColumns} from login_sessions where user_id = $1 order by last_used_at desc`;
const keyColumns = `
  access_keys.id, hash, user_id, access_keys.created_at, expires_at, details`;
const selectKey = `
  select ${keyColumns}, username, is_admin
  from access_keys join users on users.id = access_keys.user_id
  where hash = $1 and is_disabled = 0`;
const selectKeysOf = `
  select ${keyColumns} from access_keys where user_id = $1 order by position`;
const deleteToken = 'delete from tokens where hash = $1';
const deleteSession = 'delete from login_sessions where user_id = $1 and id = $2';
const deleteKey = 'delete from access_keys where user_id = $1 and id = $2';

/** Tokens and access keys in PostgreSQL. */
export function createCredentialStore({ reader, writer, damaged }: StoreContext): CredentialStore {
  const readKey = (row: AccessKeyRow) => damaged.read('access_keys', row.id, () => keyFromRow(row));
  const readSession = (row: SessionRow) =>
    damaged.read('login_sessions', row.id, () => sessionFromRow(row));
  const remove = (sql: string, ...values: readonly string[]) =>
    writer.call(async (tx) => ((await tx.run(sql, ...values)) === 0 ? 'missing' : 'removed'));

  return {
    insertToken: (token, basis, now) => writer.call((tx) => insertToken(tx, token, basis, now)),
    findToken: async (hash) =>
      found(await reader.first<TokenRow & BearerRow>(selectToken, hash), (row) => ({
        ...tokenFromRow(row),
        bearer: bearerFromRow(row),
      })),
    removeToken: (hash) => remove(deleteToken, hash),
    insertSession: (session, basis, now) =>
      writer.call((tx) => insertSession(tx, session, basis, now)),
    findSession: async (hash) =>
      found(await reader.first<SessionRow>(selectSession, hash), readSession),
    renewSession: (from, renewal) => writer.call((tx) => renewSession(tx, from, renewal)),
    listSessions: async (userId) =>
      (await reader.all<SessionRow>(selectSessionsOf, userId)).flatMap(
        (row) => readSession(row) ?? [],
      ),
    removeSession: (userId, id) => remove(deleteSession, userId, id),
    insertKey: (record) =>
      writer.call((tx) =>
        insertKey(tx, {
          id: record.id,
          hash: record.hash,
          user_id: record.userId,
          created_at: record.createdAt,
          expires_at: record.expiresAt ?? null,
          details: keyDetails(record),
        }),
      ),
    async findKey(hash) {
      const row = await reader.first<AccessKeyRow & BearerRow>(selectKey, hash);
      const key = row && readKey(row);
      return row && key && { ...key, bearer: bearerFromRow(row) };
    },
    listKeys: async (userId) =>
      (await reader.all<AccessKeyRow>(selectKeysOf, userId)).flatMap((row) => readKey(row) ?? []),
    removeKey: (userId, id) => remove(deleteKey, userId, id),
  };
}
