import type { GroupStore } from '../../domain/groups/group-store.ts';
import { type GroupRow, groupColumns, groupDetails, groupFromRow } from '../sql/group-row.ts';
import { readSafely } from './failures.ts';
import { createSelection, found, inSnapshot } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectGroup = `select ${groupColumns} from user_groups where id = ?`;
const selectMembers = 'select username from group_members where group_id = ? order by username';
const selectPage = `select ${groupColumns} from user_groups order by position limit ? offset ?`;
const selectOwned = `
  select ${groupColumns} from user_groups where owner = ? order by position limit ? offset ?`;
const countAll = 'select count(*) as n from user_groups';
const countOwned = 'select count(*) as n from user_groups where owner = ?';

/** Groups in SQLite. */
export function createGroupStore({ reader, writer, damaged }: StoreContext): GroupStore {
  const byId = createSelection<GroupRow>(reader, selectGroup);
  const members = createSelection<{ username: string }>(reader, selectMembers);
  const page = createSelection<GroupRow>(reader, selectPage);
  const owned = createSelection<GroupRow>(reader, selectOwned);
  const all = createSelection<{ n: number }>(reader, countAll);
  const ownedCount = createSelection<{ n: number }>(reader, countOwned);
  const fromRow = (row: GroupRow) => {
    const usernames = members.all(row.id).map(({ username }) => username);
    return damaged.read('user_groups', row.id, () => groupFromRow(row, usernames));
  };

  return {
    insert: ({ id, owner, name, usernames }) =>
      writer.call(
        'insertGroup',
        { id, owner, details: groupDetails(name) },
        JSON.stringify(usernames),
      ),
    find: (id) => readSafely(() => inSnapshot(reader, () => found(byId.first(id), fromRow))),
    list: ({ owner, limit, offset }) =>
      readSafely(() =>
        inSnapshot(reader, () => ({
          groups: (owner === undefined
            ? page.all(limit, offset)
            : owned.all(owner, limit, offset)
          ).flatMap((row) => fromRow(row) ?? []),
          total: (owner === undefined ? all.first() : ownedCount.first(owner))?.n ?? 0,
        })),
      ),
    countOwnedBy: (owner) => readSafely(() => ownedCount.first(owner)?.n ?? 0),
    rename: (id, name) => writer.call('renameGroup', id, groupDetails(name)),
    changeMembers: (id, change) =>
      writer.call(
        'changeGroupMembers',
        id,
        change.out === 'all' ? 'all' : { usernames: JSON.stringify(change.out) },
        { usernames: JSON.stringify(change.in), membersMax: change.membersMax },
      ),
    remove: (id) => writer.call('removeGroup', id),
  };
}
