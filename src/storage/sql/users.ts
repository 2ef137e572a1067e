import type { AccessKeyId, DeviceId, GatewayId, Username } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import { addressKey, emailStrength, proofsAfter } from '../../domain/users/address-proofs.ts';
import type {
  AddressProof,
  NewUser,
  Profile,
  StoredLogin,
  User,
  UserStore,
} from '../../domain/users/user.ts';
import { isJsonObject, type JsonValue } from '../../lib/json.ts';
import { applyPatch, type Patch, patchOf } from './patch.ts';
import { countRows, insertRow, readPage, type SqlContext, type Writes } from './session.ts';
import { createTable, DamagedRowError, detailsFrom, found, type Row } from './table.ts';

const userTable = createTable<User & { readonly passwordHash: string }>('users', {
  plain: [
    ...(['id', 'username', 'passwordHash', 'createdAt', 'smsCredit'] as const),
    ...(['webhookSecret', 'lastLoginAt'] as const),
  ],
  json: ['profile', 'proofs'],
  flags: ['isAdmin', 'isDisabled'],
  marks: ['isSignUp', 'isPasswordInitial'],
  names: { isSignUp: 'is_signup' },
  hasDetails: false,
});

/** The columns of UserRow. */
export const userColumns = userTable.columns;

/** A row of the table users. */
export interface UserRow extends Row {
  readonly id: string;
  readonly username: string;
  readonly password_hash: string;
  readonly is_admin: number;
  readonly is_disabled: number;
  readonly sms_credit: number | null;
  readonly profile: string;
  readonly proofs: string;
}

/** Keeps $2 as the last login of the account $1, if the one that is kept lies before $3. */
export const keepLastLogin = `
  update users set last_login_at = $2 where id = $1 and coalesce(last_login_at, 0) < $3`;

/** The key by which the e-mail of a profile is found, without regard to case; null without one. */
const emailKeyOf = ({ email }: Profile): string | null =>
  email === undefined ? null : addressKey('email', email);

/** Throws when the row cannot be understood. */
export function userFromRow(row: UserRow): User {
  const { passwordHash, proofs = [], ...user } = userTable.fromRow(row);
  if (!isJsonObject(user.profile as JsonValue)) {
    throw new DamagedRowError('the profile is no JSON object');
  }
  return proofs.length > 0 ? { ...user, proofs } : user;
}

/** Proofs from their JSON text, which was written from proofs. */
export const parseProofs = (text: string): readonly AddressProof[] =>
  JSON.parse(text) as readonly AddressProof[];

/** Changes to an account; an absent field stays, a credit of null is without limit. */
interface UserUpdate {
  readonly profile: Patch;
  /** New proofs, as JSON text. */
  readonly proofs: string;
  readonly isAdmin?: boolean;
  readonly isDisabled?: boolean;
  readonly smsCredit?: number | null;
}

const selectById = `select ${userColumns} from users where id = $1`;
const selectSome = `
  select ${userColumns} from users where id in (select value from each($1)) order by position`;
const selectByUsername = `select ${userColumns} from users where nocase(username) = nocase($1)`;
const selectByEmail = `
  select ${userColumns} from users where email_key = $1
  order by email_proof desc, position limit 2`;
const selectNetwork = 'select network from login_networks where user_id = $1 and network = $2';
const selectSignUps = 'select username from users where is_signup = 1';
const changeUser = `
  update users set email_key = $1, is_admin = $2, is_disabled = $3, sms_credit = $4, profile = $5,
    proofs = $6, email_proof = $7
  where id = $8`;
const changePassword = `
  update users set password_hash = $1, is_password_initial = $2 where id = $3`;
const deleteTokens = 'delete from tokens where user_id = $1';
const deleteCredentials = [
  deleteTokens,
  'delete from login_sessions where user_id = $1',
  'delete from access_keys where user_id = $1',
];
const deleteOtherSessions = `
  delete from login_sessions where user_id = $1 and id is distinct from $2`;
const deleteOldKeys = `
  delete from access_keys where user_id = $1 and created_at < $2 returning id`;
const insertNetwork = `
  insert into login_networks (user_id, network, last_at)
  select id, $1, $2 from users where id = $3
  on conflict (user_id, network) do update set last_at = excluded.last_at`;
const deleteOldNetworks = `
  delete from login_networks where user_id = $1 and network in
    (select network from login_networks where user_id = $1
     order by last_at desc limit 9007199254740991 offset $2)`;
const isOwned = 'nocase(owner) = nocase($1)';
const selectDevicesOwned = `select id from devices where ${isOwned} order by position`;
const selectGatewaysOwned = `select id from gateways where ${isOwned} order by position`;
/** By name: grants received and given, what the account owned, and its messages. */
const deleteThings = [
  'delete from grants where nocase(username) = nocase($1)',
  'delete from group_members where nocase(username) = nocase($1)',
  ...['grants', 'group_grants'].map(
    (table) => `
    delete from ${table} where (kind, resource) in
      (select kind, resource from owned_resources where ${isOwned})`,
  ),
  ...['devices', 'gateways', 'projects', 'user_groups', 'notifications'].map(
    (table) => `delete from ${table} where ${isOwned}`,
  ),
  'delete from socials where nocase(sender) = nocase($1) or nocase(recipient) = nocase($1)',
];
const deleteUser = 'delete from users where id = $1';

/** Changes of accounts. */
export const userWrites = {
  async insertUser(session, row: UserRow) {
    const profile = detailsFrom<Profile>(row.profile);
    const email_proof = emailStrength(profile, parseProofs(row.proofs));
    const values = { ...row, email_key: emailKeyOf(profile), email_proof };
    const made = await insertRow(session, 'users', values, 'on conflict do nothing');
    return made === 0 ? 'duplicate' : 'inserted';
  },
  async updateUser(session, id: string, changes: UserUpdate) {
    const stored = await session.first<UserRow>(selectById, id);
    if (stored === undefined) return 'missing';
    const text = applyPatch(stored.profile, changes.profile);
    const profile = detailsFrom<Profile>(text);
    const proofs = proofsAfter(profile, parseProofs(stored.proofs), parseProofs(changes.proofs));
    await session.run(
      changeUser,
      emailKeyOf(profile),
      Number(changes.isAdmin ?? stored.is_admin),
      Number(changes.isDisabled ?? stored.is_disabled),
      changes.smsCredit === undefined ? stored.sms_credit : changes.smsCredit,
      text,
      JSON.stringify(proofs),
      emailStrength(profile, proofs),
      id,
    );
    if (changes.isDisabled === true) {
      for (const sql of deleteCredentials) await session.run(sql, id);
    }
    return 'updated';
  },
  async rememberNetwork(session, id: string, network: string, at: number) {
    await session.run(insertNetwork, network, at, id);
    await session.run(deleteOldNetworks, id, limits.knownNetworksPerUserMax);
    await session.run(keepLastLogin, id, at, at);
  },
  /** Credentials end with the old one: keys made before a time, all logins but one. */
  async setPassword(
    session,
    id: string,
    passwordHash: string,
    ends: { readonly keysMadeBefore: number | null; readonly exceptSession: string | null },
    isInitial: boolean,
  ) {
    const { keysMadeBefore, exceptSession } = ends;
    const changed = await session.run(changePassword, passwordHash, Number(isInitial), id);
    if (changed === 0) return 'missing';
    await session.run(deleteTokens, id);
    await session.run(deleteOtherSessions, id, exceptSession);
    if (keysMadeBefore === null) return { endedKeys: [] };
    const ended = await session.all<{ id: AccessKeyId }>(deleteOldKeys, id, keysMadeBefore);
    return { endedKeys: ended.map((key) => key.id) };
  },
  async removeUser(session, id: string) {
    const name = (await session.first<UserRow>(selectById, id))?.username;
    if (name === undefined) return 'missing';
    const devices = await session.all<{ id: DeviceId }>(selectDevicesOwned, name);
    const gateways = await session.all<{ id: GatewayId }>(selectGatewaysOwned, name);
    for (const sql of deleteThings) await session.run(sql, name);
    await session.run(deleteUser, id);
    return { devices: devices.map((row) => row.id), gateways: gateways.map((row) => row.id) };
  },
} satisfies Writes;

/** Accounts of either engine. `forgetDevice` is called for each device gone with an account. */
export function createUserStore(
  { reader, write, damaged }: SqlContext<typeof userWrites>,
  forgetDevice: (id: DeviceId) => void,
): UserStore {
  // An account with a profile that cannot be understood can still log in.
  const read = (row: UserRow) =>
    damaged.read('users', row.id, () => userFromRow(row)) ??
    userFromRow({ ...row, profile: '{}', proofs: '[]' });
  const loginFromRow = (row: UserRow): StoredLogin => ({
    user: read(row),
    passwordHash: row.password_hash,
  });
  const byUsername = (username: string) => reader.first<UserRow>(selectByUsername, username);

  return {
    insert: (user, passwordHash) => write('insertUser', userToRow(user, passwordHash)),
    find: async (id) => found(await reader.first<UserRow>(selectById, id), read),
    some: async (ids) => (await reader.all<UserRow>(selectSome, ids)).map(read),
    findByUsername: async (username) => found(await byUsername(username), read),
    findLogin: async (username) => found(await byUsername(username), loginFromRow),
    findByEmail: async (email) =>
      (await reader.all<UserRow>(selectByEmail, addressKey('email', email))).map(loginFromRow),
    async list({ username, limit, offset }) {
      if (username !== undefined) {
        const users = (await reader.all<UserRow>(selectByUsername, username)).map(read);
        return { users: users.slice(offset, offset + limit), total: users.length };
      }
      const wanted = { columns: userColumns, from: 'users', kept: { kind: 'user', part: '*' } };
      return reader.inSnapshot(async (session) => {
        const { rows, total } = await readPage<UserRow>(session, wanted, [], { limit, offset });
        return { users: rows.map(read), total };
      });
    },
    update: (id, { profile = {}, smsCredit, proofs = [], ...flags }) =>
      write('updateUser', id, {
        ...flags,
        proofs: JSON.stringify(proofs),
        profile: patchOf(profile),
        ...(smsCredit !== undefined && { smsCredit: smsCredit === 'unlimited' ? null : smsCredit }),
      }),
    rememberNetwork: (id, network, at) => write('rememberNetwork', id, network, at),
    knowsNetwork: async (id, network) =>
      (await reader.first(selectNetwork, id, network)) !== undefined,
    setPassword: (id, passwordHash, ends = {}) => {
      const { keysMadeBefore = null, exceptSession = null, isInitial = false } = ends;
      return write('setPassword', id, passwordHash, { keysMadeBefore, exceptSession }, isInitial);
    },
    async remove(id) {
      const outcome = await write('removeUser', id);
      if (outcome !== 'missing') for (const device of outcome.devices) forgetDevice(device);
      return outcome;
    },
    signUps: async () =>
      (await reader.all<{ username: Username }>(selectSignUps)).map(({ username }) => username),
    countAdmins: () => countRows(reader, 'users where is_admin = 1 and is_disabled = 0'),
  };
}

const userToRow = (user: NewUser, passwordHash: string): UserRow =>
  userTable.toRow({ ...user, proofs: user.proofs ?? [], passwordHash }) as UserRow;
