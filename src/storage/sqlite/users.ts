import type { DeviceId, Username } from '../../domain/ids.ts';
import type { StoredLogin, UserStore } from '../../domain/users/user-store.ts';
import { patchOf } from '../sql/patch.ts';
import { found } from '../sql/session.ts';
import { emailKey, type UserRow, userColumns, userFromRow, userToRow } from '../sql/user-row.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectById = `select ${userColumns} from users where id = ?`;
const selectByUsername = `select ${userColumns} from users where username = ?`;
const selectByEmail = `
  select ${userColumns} from users where email_key = ?
  order by email_proof desc, position limit 2`;
const selectPage = `select ${userColumns} from users order by position limit ? offset ?`;
const selectNetwork = 'select network from login_networks where user_id = ? and network = ?';
const countUsers = 'select count(*) as n from users';
const countAdmins = 'select count(*) as n from users where is_admin = 1 and is_disabled = 0';
const selectSignUps = 'select username from users where is_signup = 1';

/** Accounts in SQLite. `forgetDevice` is called for each device that went with an account. */
export function createUserStore({
  reader,
  writer,
  damaged,
  forgetDevice,
}: StoreContext & { readonly forgetDevice: (id: DeviceId) => void }): UserStore {
  const byId = createSelection<UserRow>(reader, selectById);
  const byUsername = createSelection<UserRow>(reader, selectByUsername);
  const byEmail = createSelection<UserRow>(reader, selectByEmail);
  const page = createSelection<UserRow>(reader, selectPage);
  const knownNetwork = createSelection<{ network: string }>(reader, selectNetwork);
  const userCount = createSelection<{ n: number }>(reader, countUsers);
  const signUps = createSelection<{ username: Username }>(reader, selectSignUps);
  const adminCount = createSelection<{ n: number }>(reader, countAdmins);

  // An account with a profile that cannot be understood can still log in.
  const read = (row: UserRow) =>
    damaged.read('users', row.id, () => userFromRow(row)) ??
    userFromRow({ ...row, profile: '{}', proofs: '[]' });
  const loginFromRow = (row: UserRow): StoredLogin => ({
    user: read(row),
    passwordHash: row.password_hash,
  });

  return {
    insert: (user, passwordHash) => writer.call('insertUser', userToRow(user, passwordHash)),
    find: (id) => readSafely(() => found(byId.first(id), read)),
    findByUsername: (username) => readSafely(() => found(byUsername.first(username), read)),
    findLogin: (username) => readSafely(() => found(byUsername.first(username), loginFromRow)),
    findByEmail: (email) => readSafely(() => byEmail.all(emailKey(email)).map(loginFromRow)),
    list: ({ username, limit, offset }) =>
      readSafely(() => {
        if (username !== undefined) {
          const users = byUsername.all(username).map(read);
          return { users: users.slice(offset, offset + limit), total: users.length };
        }
        return inSnapshot(reader, () => ({
          users: page.all(limit, offset).map(read),
          total: userCount.first()?.n ?? 0,
        }));
      }),
    update: (id, { profile = {}, smsCredit, proofs = [], ...flags }) =>
      writer.call('updateUser', id, {
        ...flags,
        proofs: JSON.stringify(proofs),
        profile: patchOf(profile),
        ...(smsCredit !== undefined && { smsCredit: smsCredit === 'unlimited' ? null : smsCredit }),
      }),
    rememberNetwork: (id, network, at) => writer.call('rememberNetwork', id, network, at),
    knowsNetwork: (id, network) => readSafely(() => knownNetwork.first(id, network) !== undefined),
    setPassword: (id, passwordHash, { keysMadeBefore, exceptSession, isInitial = false } = {}) => {
      const ends = {
        keysMadeBefore: keysMadeBefore ?? null,
        exceptSession: exceptSession ?? null,
      };
      return writer.call('setPassword', id, passwordHash, ends, isInitial);
    },
    async remove(id) {
      const outcome = await writer.call('removeUser', id);
      if (outcome !== 'missing') for (const device of outcome.devices) forgetDevice(device);
      return outcome;
    },
    signUps: () => readSafely(() => signUps.all().map(({ username }) => username)),
    countAdmins: () => readSafely(() => adminCount.first()?.n ?? 0),
  };
}
