import type { UserId, Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type {
  AccessKeyRecord,
  Bearer,
  CredentialStore,
  SessionRecord,
  SessionRenewal,
  TokenBasis,
  TokenRecord,
} from '../../domain/users/credential-store.ts';
import { parseJson } from '../../lib/json.ts';
import { firstPosition } from './resources.ts';
import { countRows, deletion, insertRow, type SqlContext, type Writes } from './session.ts';
import { createTable, found, type Row, reading } from './table.ts';
import { keepLastLogin } from './users.ts';

const tokenTable = createTable<TokenRecord>('tokens', {
  plain: ['hash', 'userId', 'expiresAt', 'loggedInAt', 'sessionId'],
  hasDetails: false,
});

/** A login with the cookie before, which works for a moment more. */
type StoredSession = Omit<SessionRecord, 'replaced'> & {
  readonly replacedHash?: string;
  readonly replacedAt?: number;
};

const sessionTable = createTable<StoredSession>('login_sessions', {
  plain: [
    ...(['id', 'userId', 'hash', 'replacedHash', 'replacedAt'] as const),
    ...(['createdAt', 'lastUsedAt', 'expiresAt'] as const),
  ],
});

/** The table access_keys. */
export const accessKeyTable = createTable<AccessKeyRecord>('access_keys', {
  plain: ['id', 'hash', 'userId', 'createdAt', 'expiresAt'],
});

type KeyRow = Row & { readonly position: number };

/** The columns of users that come with a credential. */
interface BearerRow extends Row {
  readonly username: string;
  readonly is_admin: number;
}

/** Expired tokens deleted by one insert, so that no insert after a long rest is slow. */
const expiredTokensPerStep = 1_000;
const isActive = 'is_disabled = 0';
const selectBearing = (table: string, columns: string): string => `
  select ${columns}, username, is_admin
  from ${table} join users on users.id = ${table}.user_id where hash = $1 and ${isActive}`;
const selectToken = selectBearing('tokens', tokenTable.columns);
const selectSession = `
  select ${sessionTable.columns} from login_sessions where hash = $1 or replaced_hash = $1`;
const selectSessionsOf = `
  select ${sessionTable.columns} from login_sessions where user_id = $1
  order by last_used_at desc`;
const selectKey = selectBearing('access_keys', accessKeyTable.qualified);
const selectKeyOf = `
  select ${accessKeyTable.columns} from access_keys where user_id = $1 and id = $2`;
const selectKeysOf = `
  select position, ${accessKeyTable.columns} from access_keys
  where user_id = $1 and position > $2 order by position limit $3`;
/** Keys that are read at once: about a millisecond, where each names a thousand devices. */
const keysPerStep = 10;
const insertToken = `
  insert into tokens (hash, user_id, expires_at, logged_in_at, session_id)
  select $1, id, $2, $3, $4 from users where id = $5 and ${isActive}`;
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
  where id = $7 and ${isActive} and password_hash = $8`;
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
const selectOwner = `select 1 from users where id = $1 and ${isActive}`;
const deletions = {
  token: deletion('delete from tokens where hash = $1'),
  session: deletion('delete from login_sessions where user_id = $1 and id = $2'),
  key: deletion('delete from access_keys where user_id = $1 and id = $2'),
};

/** Changes of tokens, logins and access keys. An insert checks its basis in the same step. */
export const credentialWrites = {
  async insertToken(session, token: TokenRecord, basis: TokenBasis, now: number) {
    const { hash, expiresAt, loggedInAt, userId } = token;
    const row = [hash, expiresAt, loggedInAt, token.sessionId ?? null, userId] as const;
    const made = await session.run(insertTokenBy[basis.kind], ...row, proofOf(basis));
    await session.run(deleteExpiredTokens, now, expiredTokensPerStep);
    await session.run(deleteOldestTokens, userId, limits.tokensPerUserMax);
    return made === 0 ? 'gone' : 'inserted';
  },
  async insertLogin(session, record: SessionRecord, basis: TokenBasis, now: number) {
    if (basis.kind !== 'password') return 'gone';
    const { id, userId, hash, createdAt, lastUsedAt, expiresAt } = record;
    const times = [createdAt, lastUsedAt, expiresAt] as const;
    const details = JSON.stringify({ name: record.name, address: record.address });
    const row = [id, hash, ...times, details, userId] as const;
    const made = await session.run(insertSession, ...row, basis.passwordHash);
    await session.run(deleteExpiredSessions, userId, now);
    await session.run(deleteOldestSessions, userId, limits.sessionsPerUserMax);
    return made === 0 ? 'gone' : 'inserted';
  },
  async renewLogin(
    session,
    from: string,
    { hash, lastUsedAt, expiresAt, address }: SessionRenewal,
  ) {
    const stored = await session.first<{ user_id: string; details: string }>(selectRenewed, from);
    if (stored === undefined) return 'gone';
    const details = JSON.stringify({ ...(parseJson(stored.details) as object), address });
    await session.run(replaceCookie, lastUsedAt, hash, expiresAt, details, from);
    const before = lastUsedAt - limits.knownNetworkMs;
    await session.run(keepLastLogin, stored.user_id, lastUsedAt, before);
    return 'renewed';
  },
  async insertKey(session, userId: string, row: Row) {
    const count = await countRows(session, 'access_keys where user_id = $1', userId);
    if (count >= limits.accessKeysPerUserMax) return 'too_many';
    if ((await session.first(selectOwner, userId)) === undefined) return 'gone';
    await insertRow(session, 'access_keys', row);
    return 'inserted';
  },
  removeCredential: (session, kind: keyof typeof deletions, ...key: readonly string[]) =>
    deletions[kind](session, ...key),
} satisfies Writes;

/** The value that a statement compares the basis with. */
function proofOf(basis: TokenBasis): string {
  if (basis.kind === 'password') return basis.passwordHash;
  return basis.kind === 'token' ? basis.hash : basis.id;
}

/** Tokens, logins and access keys in the tables of either engine. */
export function createCredentialStore(
  options: SqlContext<typeof credentialWrites>,
): CredentialStore {
  const { reader, write, damaged } = options;
  const readKey = reading(damaged, accessKeyTable);
  const readStored = reading(damaged, sessionTable);
  function readSession(row: Row): SessionRecord | undefined {
    const stored = readStored(row);
    if (stored === undefined) return undefined;
    const { replacedHash: hash, replacedAt: at, ...session } = stored;
    return hash === undefined || at === undefined
      ? session
      : { ...session, replaced: { hash, at } };
  }
  return {
    insertToken: (token, basis, now) => write('insertToken', token, basis, now),
    findToken: async (hash) =>
      found(await reader.first<BearerRow>(selectToken, hash), (row) => ({
        ...tokenTable.fromRow(row),
        bearer: bearerFromRow(row),
      })),
    removeToken: (hash) => write('removeCredential', 'token', hash),
    insertSession: (session, basis, now) => write('insertLogin', session, basis, now),
    findSession: async (hash) => found(await reader.first<Row>(selectSession, hash), readSession),
    renewSession: (from, renewal) => write('renewLogin', from, renewal),
    listSessions: async (userId) =>
      (await reader.all<Row>(selectSessionsOf, userId)).flatMap((row) => readSession(row) ?? []),
    removeSession: (userId, id) => write('removeCredential', 'session', userId, id),
    insertKey: (record) => write('insertKey', record.userId, accessKeyTable.toRow(record)),
    async findKey(hash) {
      const row = await reader.first<BearerRow>(selectKey, hash);
      const key = found(row, readKey);
      return row && key && { ...key, bearer: bearerFromRow(row) };
    },
    findKeyOf: async (userId, id) =>
      found(await reader.first<Row>(selectKeyOf, userId, id), readKey),
    async *listKeys(userId) {
      const pace = reader.turns?.paceOf(userId);
      for (let after = firstPosition; ; ) {
        const rows = await reader.all<KeyRow>(selectKeysOf, userId, after, keysPerStep);
        yield rows.flatMap((row) => readKey(row) ?? []);
        if (rows.length < keysPerStep) return;
        after = rows.at(-1)?.position ?? after;
        if (pace?.isOver() === true) await pace.rest();
      }
    },
    removeKey: (userId, id) => write('removeCredential', 'key', userId, id),
  };
}

function bearerFromRow(row: BearerRow): Bearer {
  return {
    userId: row['user_id'] as UserId,
    username: row.username as Username,
    isAdmin: row.is_admin !== 0,
  };
}
