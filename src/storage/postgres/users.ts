import type { DeviceId, Username } from '../../domain/ids.ts';
import type { StoredLogin, UserStore } from '../../domain/users/user-store.ts';
import { patchOf } from '../sql/patch.ts';
import { found } from '../sql/session.ts';
import { emailKey, type UserRow, userColumns, userFromRow, userToRow } from '../sql/user-row.ts';
import type { StoreContext } from './store-context.ts';
import { insertUser, rememberNetwork, removeUser, setPassword, updateUser } from './user-writes.ts';

const selectById = `select ${userColumns} from users where id = $1`;
const selectByUsername = `select ${userColumns} from users where nocase(username) = nocase($1)`;
const selectByEmail = `
  select ${userColumns} from users where email_key = $1
  order by email_proof desc, position limit 2`;
const selectPage = `select ${userColumns} from users order by position limit $1 offset $2`;
const selectNetwork = 'select network from login_networks where user_id = $1 and network = $2';
const countUsers = 'select count(*) as n from users';
const countAdmins = 'select count(*) as n from users where is_admin = 1 and is_disabled = 0';
const selectSignUps = 'select username from users where is_signup = 1';

/** Accounts in PostgreSQL. `forgetDevice` is called for each device that went with an account. */
export function createUserStore({
  reader,
  writer,
  damaged,
  forgetDevice,
}: StoreContext & { readonly forgetDevice: (id: DeviceId) => void }): UserStore {
  // An account with a profile that cannot be understood can still log in.
  const read = (row: UserRow) =>
    damaged.read('users', row.id, () => userFromRow(row)) ??
    userFromRow({ ...row, profile: '{}', proofs: '[]' });
  const loginFromRow = (row: UserRow): StoredLogin => ({
    user: read(row),
    passwordHash: row.password_hash,
  });
  const byUsername = (username: string) => reader.all<UserRow>(selectByUsername, username);

  return {
    insert: (user, passwordHash) =>
      writer.call((tx) => insertUser(tx, userToRow(user, passwordHash))),
    find: async (id) => found(await reader.first<UserRow>(selectById, id), read),
    findByUsername: async (username) => found((await byUsername(username))[0], read),
    findLogin: async (username) => found((await byUsername(username))[0], loginFromRow),
    findByEmail: async (email) =>
      (await reader.all<UserRow>(selectByEmail, emailKey(email))).map(loginFromRow),
    async list({ username, limit, offset }) {
      if (username !== undefined) {
        const users = (await byUsername(username)).map(read);
        return { users: users.slice(offset, offset + limit), total: users.length };
      }
      return reader.inSnapshot(async (session) => ({
        users: (await session.all<UserRow>(selectPage, limit, offset)).map(read),
        total: (await session.first<{ n: number }>(countUsers))?.n ?? 0,
      }));
    },
    update: (id, { profile = {}, smsCredit, proofs = [], ...flags }) =>
      writer.call((tx) =>
        updateUser(tx, id, {
          ...flags,
          proofs: JSON.stringify(proofs),
          profile: patchOf(profile),
          ...(smsCredit !== undefined && {
            smsCredit: smsCredit === 'unlimited' ? null : smsCredit,
          }),
        }),
      ),
    rememberNetwork: (id, network, at) => writer.call((tx) => rememberNetwork(tx, id, network, at)),
    knowsNetwork: async (id, network) =>
      (await reader.first(selectNetwork, id, network)) !== undefined,
    setPassword: (id, passwordHash, { keysMadeBefore, exceptSession, isInitial = false } = {}) => {
      const ends = {
        keysMadeBefore: keysMadeBefore ?? null,
        exceptSession: exceptSession ?? null,
      };
      return writer.call((tx) => setPassword(tx, id, passwordHash, ends, isInitial));
    },
    async remove(id) {
      const outcome = await writer.call((tx) => removeUser(tx, id));
      if (outcome !== 'missing') for (const device of outcome.devices) forgetDevice(device);
      return outcome;
    },
    signUps: async () =>
      (await reader.all<{ username: Username }>(selectSignUps)).map(({ username }) => username),
    countAdmins: async () => (await reader.first<{ n: number }>(countAdmins))?.n ?? 0,
  };
}
