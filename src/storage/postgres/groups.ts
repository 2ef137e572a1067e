import type { GroupStore } from '../../domain/groups/group-store.ts';
import type { Username } from '../../domain/ids.ts';
import { type GroupRow, groupColumns, groupDetails, groupFromRow } from '../sql/group-row.ts';
import { insertRow, type Session } from './connection.ts';
import type { StoreContext } from './store-context.ts';

const selectGroup = `select ${groupColumns} from user_groups where id = $1`;
const selectMembers = `
  select group_id, username from group_members where group_id = any($1)
  order by nocase(username)`;
const selectPage = `
  select ${groupColumns} from user_groups order by position limit $1 offset $2`;
const selectOwned = `
  select ${groupColumns} from user_groups where nocase(owner) = nocase($3)
  order by position limit $1 offset $2`;
const countAll = 'select count(*) as n from user_groups';
const countOwned = 'select count(*) as n from user_groups where nocase(owner) = nocase($1)';
const renameGroup = 'update user_groups set details = $1 where id = $2';
const deleteGroup = 'delete from user_groups where id = $1';
const selectMissing = `
  select name as username from unnest($1::text[]) with ordinality as given (name, place)
  where not exists (select 1 from users where nocase(username) = nocase(name)) order by place`;
// Members are written as their accounts are.
const insertMembers = `
  insert into group_members (group_id, username)
  select $1, username from users
  where nocase(username) in (select nocase(name) from unnest($2::text[]) as given (name))
  on conflict do nothing`;
const deleteMembers = `
  delete from group_members where group_id = $1
    and nocase(username) in (select nocase(name) from unnest($2::text[]) as given (name))`;
const deleteAllMembers = 'delete from group_members where group_id = $1';
const countMembers = 'select count(*) as n from group_members where group_id = $1';
const savepoint = 'savepoint members';
const undo = 'rollback to savepoint members';

interface Count {
  readonly n: number;
}

/** Groups in PostgreSQL. */
export function createGroupStore({ reader, writer, damaged }: StoreContext): GroupStore {
  async function withMembers(session: Session, rows: readonly GroupRow[]) {
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
      writer.call(async (tx) => {
        const missing = await missingOf(tx, usernames);
        if (missing.length > 0) return { missing };
        const row = { id, owner, details: groupDetails(name) };
        await insertRow(tx, 'user_groups', groupColumns, row);
        await tx.run(insertMembers, id, usernames);
        return 'inserted' as const;
      }),
    find: (id) =>
      reader.inSnapshot(async (session) => {
        const groups = await withMembers(session, await session.all<GroupRow>(selectGroup, id));
        return groups[0];
      }),
    list: ({ owner, limit, offset }) =>
      reader.inSnapshot(async (session) => {
        const [rows, total] =
          owner === undefined
            ? [
                await session.all<GroupRow>(selectPage, limit, offset),
                await session.first<Count>(countAll),
              ]
            : [
                await session.all<GroupRow>(selectOwned, limit, offset, owner),
                await session.first<Count>(countOwned, owner),
              ];
        return { groups: await withMembers(session, rows), total: total?.n ?? 0 };
      }),
    countOwnedBy: async (owner) => (await reader.first<Count>(countOwned, owner))?.n ?? 0,
    rename: (id, name) =>
      writer.call(async (tx) =>
        (await tx.run(renameGroup, groupDetails(name), id)) === 0 ? 'missing' : 'updated',
      ),
    changeMembers: (id, change) => writer.call((tx) => changeMembers(tx, id, change)),
    remove: (id) =>
      writer.call(async (tx) => ((await tx.run(deleteGroup, id)) === 0 ? 'missing' : 'removed')),
  };
}

async function missingOf(
  session: Session,
  usernames: readonly string[],
): Promise<readonly Username[]> {
  // What is asked about was parsed before.
  const rows = await session.all<{ username: Username }>(selectMissing, usernames);
  return rows.map(({ username }) => username);
}

async function changeMembers(
  session: Session,
  id: string,
  change: Parameters<GroupStore['changeMembers']>[1],
): ReturnType<GroupStore['changeMembers']> {
  if ((await session.first(selectGroup, id)) === undefined) return 'missing';
  const missing = await missingOf(session, change.in);
  if (missing.length > 0) return { missing };
  await session.run(savepoint);
  if (change.out === 'all') await session.run(deleteAllMembers, id);
  else await session.run(deleteMembers, id, change.out);
  await session.run(insertMembers, id, change.in);
  const held = (await session.first<Count>(countMembers, id))?.n ?? 0;
  if (held <= change.membersMax) return 'updated';
  await session.run(undo);
  return 'too_many';
}
