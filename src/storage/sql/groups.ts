import type { Group, GroupStore } from '../../domain/groups/groups.ts';
import type { Username } from '../../domain/ids.ts';
import {
  countRows,
  deletion,
  insertRow,
  readPage,
  type SqlContext,
  type SqlSession,
  type Writes,
} from './session.ts';
import { createTable, type Row, reading } from './table.ts';

/** The table user_groups: groups without their members. */
export const groupTable = createTable<Omit<Group, 'usernames'>>('user_groups', {
  plain: ['id', 'owner'],
});
const { columns } = groupTable;

const selectGroup = `select ${columns} from user_groups where id = $1`;
const selectMembers = `
  select group_id, username from group_members where group_id in (select value from each($1))
  order by nocase(username)`;
const renameGroup = 'update user_groups set details = $1 where id = $2';
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

type MembersChange = Parameters<GroupStore['changeMembers']>[1];

/** Changes of groups. */
export const groupWrites = {
  async insertGroup(session, row: Row, usernames: readonly string[]) {
    const missing = await missingOf(session, usernames);
    if (missing.length > 0) return { missing };
    await insertRow(session, 'user_groups', row);
    await session.run(insertMembers, row['id'] ?? null, usernames);
    return 'inserted';
  },
  renameGroup: async (session, id: string, details: string) =>
    (await session.run(renameGroup, details, id)) === 0 ? 'missing' : 'updated',
  async changeGroupMembers(session, id: string, change: MembersChange) {
    if ((await session.first(selectGroup, id)) === undefined) return 'missing';
    const missing = await missingOf(session, change.in);
    if (missing.length > 0) return { missing };
    await session.run('savepoint members');
    if (change.out === 'all') await session.run(deleteAllMembers, id);
    else await session.run(deleteMembers, id, change.out);
    await session.run(insertMembers, id, change.in);
    const count = await countRows(session, 'group_members where group_id = $1', id);
    const isTooMany = count > change.membersMax;
    if (isTooMany) await session.run('rollback to savepoint members');
    await session.run('release savepoint members');
    return isTooMany ? 'too_many' : 'updated';
  },
  removeGroup: deletion('delete from user_groups where id = $1'),
} satisfies Writes;

async function missingOf(
  session: SqlSession,
  usernames: readonly string[],
): Promise<readonly Username[]> {
  // The names were parsed before.
  const rows = await session.all<{ username: Username }>(selectMissing, usernames);
  return rows.map(({ username }) => username);
}

/** Groups in the tables of either engine. */
export function createGroupStore(options: SqlContext<typeof groupWrites>): GroupStore {
  const { reader, write, damaged } = options;
  async function withMembers(session: SqlSession, rows: readonly (Row & { id: string })[]) {
    const ids = rows.map(({ id }) => id);
    const members = await session.all<{ group_id: string; username: Username }>(selectMembers, ids);
    const byGroup = Map.groupBy(members, ({ group_id }) => group_id);
    const read = reading(damaged, groupTable);
    return rows.flatMap((row) => {
      const usernames = (byGroup.get(row.id) ?? []).map(({ username }) => username);
      const group = read(row);
      return group === undefined ? [] : { ...group, usernames };
    });
  }
  return {
    insert: ({ usernames, ...group }) => write('insertGroup', groupTable.toRow(group), usernames),
    find: (id) =>
      reader.inSnapshot(async (session) => {
        const groups = await withMembers(session, await session.all(selectGroup, id));
        return groups[0];
      }),
    list: ({ owner, ...page }) =>
      reader.inSnapshot(async (session) => {
        const isOwned = owner === undefined ? '' : ' where nocase(owner) = nocase($1)';
        const wanted = { columns, from: `user_groups${isOwned}` };
        const values = owner === undefined ? [] : [owner];
        const { rows, total } = await readPage<Row & { id: string }>(session, wanted, values, page);
        return { groups: await withMembers(session, rows), total };
      }),
    countOwnedBy: (owner) =>
      countRows(reader, 'user_groups where nocase(owner) = nocase($1)', owner),
    rename: (id, name) => write('renameGroup', id, JSON.stringify({ name })),
    changeMembers: (id, change) => write('changeGroupMembers', id, change),
    remove: (id) => write('removeGroup', id),
  };
}
