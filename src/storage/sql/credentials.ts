import { limits } from '../../domain/limits.ts';
import type {
  CredentialStore,
  SessionRecord,
  SessionRenewal,
  TokenBasis,
  TokenRecord,
} from '../../domain/users/credential-store.ts';
import { parseJson } from '../../lib/json.ts';
import type { SqlContext } from './context.ts';
import {
  type AccessKeyRow,
  type BearerRow,
  bearerFromRow,
  keyFromRow,
  keyToRow,
  type SessionRow,
  sessionDetails,
  sessionFromRow,
  type TokenRow,
  tokenFromRow,
} from './credential-row.ts';
import { type Count, found, type SqlSession } from './session.ts';
import { keepLastLogin } from './user-row.ts';

type RenewedRow = Pick<SessionRow, 'user_id' | 'details'>;

/** Expired tokens deleted by one insert, so that no insert after a long rest is slow. */
const expiredTokensPerStep = 1_000;

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
const insertToken = `
  insert into tokens (hash, user_id, expires_at, logged_in_at, session_id)
  select $1, id, $2, $3, $4 from users where id = $5 and is_disabled = 0`;
const insertTokenBy: Readonly<Record<TokenBasis['kind'], string>> = {
  password: `${insertToken} and password_hash = $6`,
  token: `${insertToken} and exists (select 1 from tokens where hash = $6 and user_id = users.id)`,
  session: `${insertToken} and exists
    (select 1 from login_sessions where login_sessions.id = $6 and user_id = users.id)`,
};
const deleteExpiredTokens = `
  delete from tokens where position in
    (select position from tokens where expires_at <= $1 order by expires_at limit $2)`;
const deleteOldestTokens = `
  delete from tokens where position in
    (select position from tokens where user_id = $1
     order by position desc limit 9007199254740991 offset $2)`;
const insertSession = `
  insert into login_sessions (id, user_id, hash, created_at, last_used_at, expires_at, details)
  select $1, id, $2, $3, $4, $5, $6 from users
  where id = $7 and is_disabled = 0 and password_hash = $8`;
const deleteExpiredSessions = `
  delete from login_sessions where user_id = $1 and expires_at <= $2`;
const deleteOldestSessions = `
  delete from login_sessions where id in
    (select id from login_sessions where user_id = $1
     order by last_used_at desc limit 9007199254740991 offset $2)`;
const selectRenewed = 'select user_id, details from login_sessions where hash = $1';
const replaceCookie = `
  update login_sessions set replaced_hash = hash, replaced_at = $1, hash = $2, last_used_at = $1,
    expires_at = $3, details = $4
  where hash = $5`;
const countKeys = 'select count(*) as n from access_keys where user_id = $1';
const insertKey = `
  insert into access_keys (id, hash, user_id, created_at, expires_at, details)
  select $1, $2, id, $3, $4, $5 from users where id = $6 and is_disabled = 0`;
const deletions = {
  token: 'delete from tokens where hash = $1',
  session: 'delete from login_sessions where user_id = $1 and id = $2',
  key: 'delete from access_keys where user_id = $1 and id = $2',
};

/** Changes of tokens, logins and access keys. An insert checks its basis in the same step. */
export const credentialWrites = {
  async insertToken(
    session: SqlSession,
    token: TokenRecord,
    basis: TokenBasis,
    now: number,
  ): Promise<'inserted' | 'gone'> {
    const { hash, expiresAt, loggedInAt, userId } = token;
    const row = [hash, expiresAt, loggedInAt, token.sessionId ?? null, userId] as const;
    const made = await session.run(insertTokenBy[basis.kind], ...row, proofOf(basis));
    await session.run(deleteExpiredTokens, now, expiredTokensPerStep);
    await session.run(deleteOldestTokens, userId, limits.tokensPerUserMax);
    return made === 0 ? 'gone' : 'inserted';
  },
  async insertLogin(
    session: SqlSession,
    record: SessionRecord,
    basis: TokenBasis,
    now: number,
  ): Promise<'inserted' | 'gone'> {
    if (basis.kind !== 'password') return 'gone';
    const { id, userId, hash, createdAt, lastUsedAt, expiresAt } = record;
    const times = [createdAt, lastUsedAt, expiresAt] as const;
    const details = sessionDetails(record);
    const row = [id, hash, ...times, details, userId] as const;
    const made = await session.run(insertSession, ...row, basis.passwordHash);
    await session.run(deleteExpiredSessions, userId, now);
    await session.run(deleteOldestSessions, userId, limits.sessionsPerUserMax);
    return made === 0 ? 'gone' : 'inserted';
  },
  async renewLogin(
    session: SqlSession,
    from: string,
    { hash, lastUsedAt, expiresAt, address }: SessionRenewal,
  ): Promise<'renewed' | 'gone'> {
    const stored = await session.first<RenewedRow>(selectRenewed, from);
    if (stored === undefined) return 'gone';
    const details = JSON.stringify({ ...(parseJson(stored.details) as object), address });
    await session.run(replaceCookie, lastUsedAt, hash, expiresAt, details, from);
    const before = lastUsedAt - limits.knownNetworkMs;
    await session.run(keepLastLogin, stored.user_id, lastUsedAt, before);
    return 'renewed';
  },
  async insertKey(
    session: SqlSession,
    { id, hash, created_at, expires_at, details, user_id }: AccessKeyRow,
  ): Promise<'inserted' | 'too_many' | 'gone'> {
    const held = (await session.first<Count>(countKeys, user_id))?.n ?? 0;
    if (held >= limits.accessKeysPerUserMax) return 'too_many';
    const made = await session.run(insertKey, id, hash, created_at, expires_at, details, user_id);
    return made === 0 ? 'gone' : 'inserted';
  },
  removeCredential: async (
    session: SqlSession,
    kind: keyof typeof deletions,
    ...key: readonly string[]
  ): Promise<'removed' | 'missing'> =>
    (await session.run(deletions[kind], ...key)) === 0 ? 'missing' : 'removed',
};

/** The value that a statement compares the basis with. */
function proofOf(basis: TokenBasis): string {
  if (basis.kind === 'password') return basis.passwordHash;
  return basis.kind === 'token' ? basis.hash : basis.id;
}

/** Tokens, logins and access keys in the tables of either engine. */
export function createCredentialStore({
  reader,
  write,
  damaged,
}: SqlContext<typeof credentialWrites>): CredentialStore {
  const readKey = (row: AccessKeyRow) => damaged.read('access_keys', row.id, () => keyFromRow(row));
  const readSession = (row: SessionRow) =>
    damaged.read('login_sessions', row.id, () => sessionFromRow(row));

  return {
    insertToken: (token, basis, now) => write('insertToken', token, basis, now),
    findToken: async (hash) =>
      found(await reader.first<TokenRow & BearerRow>(selectToken, hash), (row) => ({
        ...tokenFromRow(row),
        bearer: bearerFromRow(row),
      })),
    removeToken: (hash) => write('removeCredential', 'token', hash),
    insertSession: (session, basis, now) => write('insertLogin', session, basis, now),
    findSession: async (hash) =>
      found(await reader.first<SessionRow>(selectSession, hash), readSession),
    renewSession: (from, renewal) => write('renewLogin', from, renewal),
    listSessions: async (userId) =>
      (await reader.all<SessionRow>(selectSessionsOf, userId)).flatMap(
        (row) => readSession(row) ?? [],
      ),
    removeSession: (userId, id) => write('removeCredential', 'session', userId, id),
    insertKey: (record) => write('insertKey', keyToRow(record)),
    async findKey(hash) {
      const row = await reader.first<AccessKeyRow & BearerRow>(selectKey, hash);
      const key = found(row, readKey);
      return row && key && { ...key, bearer: bearerFromRow(row) };
    },
    listKeys: async (userId) =>
      (await reader.all<AccessKeyRow>(selectKeysOf, userId)).flatMap((row) => readKey(row) ?? []),
    removeKey: (userId, id) => write('removeCredential', 'key', userId, id),
  };
}
