import type { DatabaseSync } from 'node:sqlite';
import type { GrantRow } from '../sql/grant-row.ts';
import type { GroupGrantRow } from '../sql/group-row.ts';

// Nothing is granted on what does not exist, nor to nobody: it would come to life with the next
// resource or account of that name.
const putGrant = `
  insert into grants (kind, resource, username, scopes)
  select ?1, ?2, username, ?4 from users
  where username = ?3
    and exists (select 1 from owned_resources where kind = ?1 and resource = ?2)
  on conflict (kind, resource, username) do update set scopes = excluded.scopes`;
const deleteGrant = 'delete from grants where kind = ? and resource = ? and username = ?';

const putGroupGrant = `
  insert into group_grants (kind, resource, group_id, scopes)
  select ?1, ?2, id, ?4 from user_groups
  where id = ?3 and exists (select 1 from owned_resources where kind = ?1 and resource = ?2)
  on conflict (group_id, kind, resource) do update set scopes = excluded.scopes`;
const deleteGroupGrant =
  'delete from group_grants where kind = ? and resource = ? and group_id = ?';

/** The changes that the writer thread makes to grants. */
export function createGrantWrites(database: DatabaseSync) {
  const put = database.prepare(putGrant);
  const remove = database.prepare(deleteGrant);
  const putForGroup = database.prepare(putGroupGrant);
  const removeForGroup = database.prepare(deleteGroupGrant);

  return {
    putGrant: (grant: GrantRow): 'put' | 'missing' =>
      put.run(grant.kind, grant.resource, grant.username, grant.scopes).changes === 0
        ? 'missing'
        : 'put',
    removeGrant: (kind: string, resource: string, username: string): 'removed' | 'missing' =>
      remove.run(kind, resource, username).changes === 0 ? 'missing' : 'removed',
    putGroupGrant: (
      grant: Pick<GroupGrantRow, 'kind' | 'resource' | 'group_id' | 'scopes'>,
    ): 'put' | 'missing' =>
      putForGroup.run(grant.kind, grant.resource, grant.group_id, grant.scopes).changes === 0
        ? 'missing'
        : 'put',
    removeGroupGrant: (kind: string, resource: string, groupId: string): 'removed' | 'missing' =>
      removeForGroup.run(kind, resource, groupId).changes === 0 ? 'missing' : 'removed',
  };
}
