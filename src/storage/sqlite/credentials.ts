import type { DatabaseSync } from 'node:sqlite';
import type { CredentialStore } from '../../domain/users/credential-store.ts';
import {
  type AccessKeyRow,
  type BearerRow,
  bearerFromRow,
  keyDetails,
  keyFromRow,
  type TokenRow,
  tokenFromRow,
} from '../sql/credential-row.ts';
import { readSafely } from './failures.ts';
import { createSelection } from './selection.ts';
import type { Writer } from './writer.ts';

const selectToken = `
  select hash, user_id, expires_at, logged_in_at, username, is_admin
  from tokens join users on users.id = tokens.user_id
  where hash = ? and is_disabled = 0`;
const keyColumns = `
  access_keys.id, hash, user_id, access_keys.created_at, expires_at, details`;
const selectKey = `
  select ${keyColumns}, username, is_admin
  from access_keys join users on users.id = access_keys.user_id
  where hash = ? and is_disabled = 0`;
const selectKeysOf = `
  select ${keyColumns} from access_keys where user_id = ? order by position`;

/** Tokens and access keys in SQLite. */
export function createCredentialStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
}): CredentialStore {
  const { reader, writer } = options;
  const token = createSelection<TokenRow & BearerRow>(reader, selectToken);
  const key = createSelection<AccessKeyRow & BearerRow>(reader, selectKey);
  const keysOf = createSelection<AccessKeyRow>(reader, selectKeysOf);

  return {
    insertToken: ({ hash, userId, expiresAt, loggedInAt }, now) =>
      writer.call('insertToken', { hash, userId, expiresAt, loggedInAt }, now),
    findToken: (hash) =>
      readSafely(() => {
        const row = token.first(hash);
        return row && { ...tokenFromRow(row), bearer: bearerFromRow(row) };
      }),
    removeToken: (hash) => writer.call('removeToken', hash),
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
        return row && { ...keyFromRow(row), bearer: bearerFromRow(row) };
      }),
    listKeys: (userId) => readSafely(() => keysOf.all(userId).map(keyFromRow)),
    removeKey: (userId, id) => writer.call('removeKey', userId, id),
  };
}
