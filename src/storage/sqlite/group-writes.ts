import type { DatabaseSync } from 'node:sqlite';
import type { Username } from '../../domain/ids.ts';
import { type GroupRow, groupColumns } from '../sql/group-row.ts';
import { createSelection, insertInto } from './selection.ts';

const insertGroup = insertInto('user_groups', groupColumns);
const renameGroup = 'update user_groups set details = ? where id = ?';
const deleteGroup = 'delete from user_groups where id = ?';
const selectGroup = 'select id from user_groups where id = ?';
const selectMissing = `
  select value as username from json_each(?)
  where not exists (select 1 from users where username = value)`;
// Members are written as their accounts are.
const insertMembers = `
  insert or ignore into group_members (group_id, username)
  select ?, username from users where username in (select value from json_each(?))`;
const deleteMembers = `
  delete from group_members where group_id = ?
    and username in (select value collate nocase from json_each(?))`;
const deleteAllMembers = 'delete from group_members where group_id = ?';
const countMembers = 'select count(*) as n from group_members where group_id = ?';

/** What the writer thread does to groups. */
export function createGroupWrites(database: DatabaseSync) {
  const insert = database.prepare(insertGroup);
  const rename = database.prepare(renameGroup);
  const remove = database.prepare(deleteGroup);
  const add = database.prepare(insertMembers);
  const takeOut = database.prepare(deleteMembers);
  const takeAllOut = database.prepare(deleteAllMembers);
  const known = createSelection<{ id: string }>(database, selectGroup);
  const absent = createSelection<{ username: string }>(database, selectMissing);
  const count = createSelection<{ n: number }>(database, countMembers);
  // What is asked about was parsed before.
  const missingOf = (usernames: string): readonly Username[] =>
    absent.all(usernames).map(({ username }) => username as Username);

  return {
    insertGroup(row: GroupRow, usernames: string): 'inserted' | { missing: readonly Username[] } {
      const missing = missingOf(usernames);
      if (missing.length > 0) return { missing };
      insert.run({ ...row });
      add.run(row.id, usernames);
      return 'inserted';
    },
    renameGroup: (id: string, details: string): 'updated' | 'missing' =>
      rename.run(details, id).changes === 0 ? 'missing' : 'updated',
    changeGroupMembers(
      id: string,
      out: 'all' | { readonly usernames: string },
      coming: { readonly usernames: string; readonly membersMax: number },
    ): 'updated' | 'missing' | 'too_many' | { missing: readonly Username[] } {
      if (known.first(id) === undefined) return 'missing';
      const missing = missingOf(coming.usernames);
      if (missing.length > 0) return { missing };
      database.exec('savepoint members');
      if (out === 'all') takeAllOut.run(id);
      else takeOut.run(id, out.usernames);
      add.run(id, coming.usernames);
      const isTooMany = (count.first(id)?.n ?? 0) > coming.membersMax;
      if (isTooMany) database.exec('rollback to members');
      database.exec('release members');
      return isTooMany ? 'too_many' : 'updated';
    },
    removeGroup: (id: string): 'removed' | 'missing' =>
      remove.run(id).changes === 0 ? 'missing' : 'removed',
  };
}
