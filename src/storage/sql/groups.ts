import type { GroupStore } from '../../domain/groups/group-store.ts';
import type { Username } from '../../domain/ids.ts';
import type { SqlContext } from './context.ts';
import { type GroupRow, groupColumns, groupDetails, groupFromRow } from './group-row.ts';
import { type Count, insertRow, type SqlSession } from './session.ts';

const selectGroup = `select ${groupColumns} from user_groups where id = $1`;
const selectMembers = `
  select group_id, username from group_members where group_id in (select value from each($1))
  order by nocase(username)`;
const selectPage = `select ${groupColumns} from user_groups order by position limit $1 offset $2`;
const selectOwned = `
  select ${groupColumns} from user_groups where nocase(owner) = nocase($1)
  order by position limit $2 offset $3`;
const countAll = 'select count(*) as n from user_groups';
const countOwned = 'select count(*) as n from user_groups where nocase(owner) = nocase($1)';
const renameGroup = 'update user_groups set details = $1 where id = $2';
const deleteGroup = 'delete from user_groups where id = $1';
const selectMissing = `
  select value as username from each($1)
  where not exists (select 1 from users where nocase(username) = nocase(value))
  order by given.key`;
const isGiven = 'nocase(username) in (select nocase(value) from each($2))';
// Members are written as their accounts are.
const insertMembers = `
  insert into group_members (group_id, username)
  select $1, username from users where ${isGiven} on conflict do nothing`;
const deleteMembers = `delete from group_members where group_id = $1 and ${isGiven}`;
const deleteAllMembers = 'delete from group_members where group_id = $1';
const countMembers = 'select count(*) as n from group_members where group_id = $1';

type Missing = { readonly missing: readonly Username[] };
type MembersChange = Parameters<GroupStore['changeMembers']>[1];

/** Changes of groups. */
export const groupWrites = {
  async insertGroup(
    session: SqlSession,
    row: GroupRow,
    usernames: readonly string[],
  ): Promise<'inserted' | Missing> {
    const missing = await missingOf(session, usernames);
    if (missing.length > 0) return { missing };
    await insertRow(session, 'user_groups', groupColumns, { ...row });
    await session.run(insertMembers, row.id, usernames);
    return 'inserted';
  },
  renameGroup: async (
    session: SqlSession,
    id: string,
    details: string,
  ): Promise<'updated' | 'missing'> =>
    (await session.run(renameGroup, details, id)) === 0 ? 'missing' : 'updated',
  async changeGroupMembers(
    session: SqlSession,
    id: string,
    change: MembersChange,
  ): Promise<'updated' | 'missing' | 'too_many' | Missing> {
    if ((await session.first<GroupRow>(selectGroup, id)) === undefined) return 'missing';
    const missing = await missingOf(session, change.in);
    if (missing.length > 0) return { missing };
    await session.run('savepoint members');
    if (change.out === 'all') await session.run(deleteAllMembers, id);
    else await session.run(deleteMembers, id, change.out);
    await session.run(insertMembers, id, change.in);
    const count = (await session.first<Count>(countMembers, id))?.n ?? 0;
    const isTooMany = count > change.membersMax;
    if (isTooMany) await session.run('rollback to savepoint members');
    await session.run('release savepoint members');
    return isTooMany ? 'too_many' : 'updated';
  },
  removeGroup: async (session: SqlSession, id: string): Promise<'removed' | 'missing'> =>
    (await session.run(deleteGroup, id)) === 0 ? 'missing' : 'removed',
};

async function missingOf(
  session: SqlSession,
  usernames: readonly string[],
): Promise<readonly Username[]> {
  // The names were parsed before.
  const rows = await session.all<{ username: Username }>(selectMissing, usernames);
  return rows.map(({ username }) => username);
}

/** Groups in the tables of either engine. */
export function createGroupStore({
  reader,
  write,
  damaged,
}: SqlContext<typeof groupWrites>): GroupStore {
  async function withMembers(session: SqlSession, rows: readonly GroupRow[]) {
    const ids = rows.map(({ id }) => id);
    const members = await session.all<{ group_id: string; username: string }>(selectMembers, ids);
    const byGroup = Map.groupBy(members, ({ group_id }) => group_id);
    return rows.flatMap((row) => {
      const usernames = (byGroup.get(row.id) ?? []).map(({ username }) => username);
      return damaged.read('user_groups', row.id, () => groupFromRow(row, usernames)) ?? [];
    });
  }

  return {
    insert: ({ id, owner, name, usernames }) =>
      write('insertGroup', { id, owner, details: groupDetails(name) }, usernames),
    find: (id) =>
      reader.inSnapshot(async (session) => {
        const groups = await withMembers(session, await session.all<GroupRow>(selectGroup, id));
        return groups[0];
      }),
    list: ({ owner, limit, offset }) =>
      reader.inSnapshot(async (session) => {
        const [sql, count, user] =
          owner === undefined ? [selectPage, countAll, []] : [selectOwned, countOwned, [owner]];
        const rows = await session.all<GroupRow>(sql, ...user, limit, offset);
        const total = (await session.first<Count>(count, ...user))?.n ?? 0;
        return { groups: await withMembers(session, rows), total };
      }),
    countOwnedBy: async (owner) => (await reader.first<Count>(countOwned, owner))?.n ?? 0,
    rename: (id, name) => write('renameGroup', id, groupDetails(name)),
    changeMembers: (id, change) => write('changeGroupMembers', id, change),
    remove: (id) => write('removeGroup', id),
  };
}
