import type { DatabaseSync } from 'node:sqlite';
import type { DeviceId } from '../../domain/ids.ts';
import type { UserStore } from '../../domain/users/user-store.ts';
import { patchOf } from '../sql/patch.ts';
import { emailKey, type UserRow, userFromRow } from '../sql/user-row.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import type { Writer } from './writer.ts';

const userColumns = `
  id, username, password_hash, created_at, is_admin, is_disabled, sms_credit, profile`;
const selectById = `select ${userColumns} from users where id = ?`;
const selectByUsername = `select ${userColumns} from users where username = ?`;
const selectByEmail = `
  select ${userColumns} from users where email_key = ? order by position limit 1`;
const selectPage = `select ${userColumns} from users order by position limit ? offset ?`;
const countUsers = 'select count(*) as n from users';
const countAdmins = 'select count(*) as n from users where is_admin = 1 and is_disabled = 0';

/** Accounts in SQLite. `forgetDevice` is called for each device that went with an account. */
export function createUserStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
  readonly forgetDevice: (id: DeviceId) => void;
}): UserStore {
  const { reader, writer, forgetDevice } = options;
  const byId = createSelection<UserRow>(reader, selectById);
  const byUsername = createSelection<UserRow>(reader, selectByUsername);
  const byEmail = createSelection<UserRow>(reader, selectByEmail);
  const page = createSelection<UserRow>(reader, selectPage);
  const userCount = createSelection<{ n: number }>(reader, countUsers);
  const adminCount = createSelection<{ n: number }>(reader, countAdmins);

  return {
    insert: (user, passwordHash) =>
      writer.call('insertUser', {
        id: user.id,
        username: user.username,
        passwordHash,
        createdAt: user.createdAt,
        isAdmin: user.isAdmin,
        isDisabled: user.isDisabled,
        smsCredit: user.smsCredit ?? null,
        profile: JSON.stringify(user.profile),
      }),
    find: (id) => readSafely(() => userOrNone(byId.first(id))),
    findByUsername: (username) => readSafely(() => userOrNone(byUsername.first(username))),
    findLogin: (usernameOrEmail) =>
      readSafely(() => {
        const row = byUsername.first(usernameOrEmail) ?? byEmail.first(emailKey(usernameOrEmail));
        return row && { user: userFromRow(row), passwordHash: row.password_hash };
      }),
    list: ({ username, limit, offset }) =>
      readSafely(() => {
        if (username !== undefined) {
          const users = byUsername.all(username).map(userFromRow);
          return { users: users.slice(offset, offset + limit), total: users.length };
        }
        return inSnapshot(reader, () => ({
          users: page.all(limit, offset).map(userFromRow),
          total: userCount.first()?.n ?? 0,
        }));
      }),
    update: (id, { profile = {}, smsCredit, ...flags }) =>
      writer.call('updateUser', id, {
        ...flags,
        profile: patchOf(profile),
        ...(smsCredit !== undefined && { smsCredit: smsCredit === 'unlimited' ? null : smsCredit }),
      }),
    setPassword: (id, passwordHash) => writer.call('setPassword', id, passwordHash),
    async remove(id) {
      const outcome = await writer.call('removeUser', id);
      // The ids were parsed before the devices were stored.
      if (outcome !== 'missing')
        for (const device of outcome.devices) forgetDevice(device as DeviceId);
      return outcome;
    },
    countAdmins: () => readSafely(() => adminCount.first()?.n ?? 0),
  };
}

function userOrNone(row: UserRow | undefined) {
  return row && userFromRow(row);
}
