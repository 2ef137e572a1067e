import type { DatabaseSync } from 'node:sqlite';
import type { GrantRow } from '../sql/grant-row.ts';

// Nothing is granted on what does not exist, nor to nobody: it would come to life with the next
// resource or account of that name.
const putGrant = `
  insert into grants (kind, resource, username, scopes)
  select ?1, ?2, username, ?4 from users
  where username = ?3
    and exists (select 1 from owned_resources where kind = ?1 and resource = ?2)
  on conflict (kind, resource, username) do update set scopes = excluded.scopes`;
const deleteGrant = 'delete from grants where kind = ? and resource = ? and username = ?';

/** What the writer thread does to grants. */
export function createGrantWrites(database: DatabaseSync) {
  const put = database.prepare(putGrant);
  const remove = database.prepare(deleteGrant);

  return {
    putGrant: (grant: GrantRow): 'put' | 'missing' =>
      put.run(grant.kind, grant.resource, grant.username, grant.scopes).changes === 0
        ? 'missing'
        : 'put',
    removeGrant: (kind: string, resource: string, username: string): 'removed' | 'missing' =>
      remove.run(kind, resource, username).changes === 0 ? 'missing' : 'removed',
  };
}
