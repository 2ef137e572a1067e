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
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectToken = `
  select hash, user_id, expires_at, logged_in_at, session_id, username, is_admin
  from tokens join users on users.id = tokens.user_id
  where hash = ? and is_disabled = 0`;
const sessionColumns = `
  id, user_id, hash, replaced_hash, replaced_at, created_at, last_used_at, expires_at, details`;
const selectSession = `
  select ${sessionColumns} from login_sessions where hash = ? or replaced_hash = ?`;
const selectSessionsOf = `
  select ${sessionColumns} from login_sessions where user_id = ? order by last_used_at desc`;
const keyColumns = `
  access_keys.id, hash, user_id, access_keys.created_at, expires_at, details`;
const selectKey = `
  select ${keyColumns}, username, is_admin
  from access_keys join users on users.id = access_keys.user_id
  where hash = ? and is_disabled = 0`;
const selectKeysOf = `
  select ${keyColumns} from access_keys where user_id = ? order by position`;

/** Tokens and access keys in SQLite. */
export function createCredentialStore({ reader, writer, damaged }: StoreContext): CredentialStore {
  const token = createSelection<TokenRow & BearerRow>(reader, selectToken);
  const session = createSelection<SessionRow>(reader, selectSession);
  const sessionsOf = createSelection<SessionRow>(reader, selectSessionsOf);
  const key = createSelection<AccessKeyRow & BearerRow>(reader, selectKey);
  const keysOf = createSelection<AccessKeyRow>(reader, selectKeysOf);

  const readKey = (row: AccessKeyRow) => damaged.read('access_keys', row.id, () => keyFromRow(row));
  const readSession = (row: SessionRow) =>
    damaged.read('login_sessions', row.id, () => sessionFromRow(row));

  return {
    insertToken: (token, basis, now) => writer.call('insertToken', token, basis, now),
    findToken: (hash) =>
      readSafely(() =>
        found(token.first(hash), (row) => ({ ...tokenFromRow(row), bearer: bearerFromRow(row) })),
      ),
    removeToken: (hash) => writer.call('removeToken', hash),
    insertSession: (session, basis, now) => writer.call('insertSession', session, basis, now),
    findSession: (hash) => readSafely(() => found(session.first(hash, hash), readSession)),
    renewSession: (from, renewal) => writer.call('renewSession', from, renewal),
    listSessions: (userId) =>
      readSafely(() => sessionsOf.all(userId).flatMap((row) => readSession(row) ?? [])),
    removeSession: (userId, id) => writer.call('removeSession', userId, id),
    insertKey: (record) =>
      writer.call('insertKey', {
        id: record.id,
        hash: record.hash,
        user_id: record.userId,
        created_at: record.createdAt,
        expires_at: record.expiresAt ?? null,
        details: keyDetails(record),
      }),
    findKey: (hash) =>
      readSafely(() => {
        const row = key.first(hash);
        const found = row && readKey(row);
        return row && found && { ...found, bearer: bearerFromRow(row) };
      }),
    listKeys: (userId) => readSafely(() => keysOf.all(userId).flatMap((row) => readKey(row) ?? [])),
    removeKey: (userId, id) => writer.call('removeKey', userId, id),
  };
}
