import type { GrantStore } from '../../domain/access/grant-store.ts';
import type { SqlContext } from './context.ts';
import { type GrantRow, grantFromRow, ownedGrantFromRow, scopesFromText } from './grant-row.ts';
import { type GroupGrantRow, groupGrantFromRow } from './group-row.ts';
import { createReachingGrants, type ReadReach } from './reaching-grants.ts';
import type { SqlSession } from './session.ts';

const isOne = 'kind = $1 and resource = $2 and nocase(username) = nocase($3)';
const selectScopes = `select scopes from grants where ${isOne}`;
const selectOn = `
  select kind, resource, username, scopes from grants
  where kind = $1 and resource = $2 order by nocase(username)`;
const ownedColumns = 'grants.kind, grants.resource, username, scopes, owner';
// Says where to begin: there are no statistics that could say that one has few of all grants.
const selectGivenBy = `
  select ${ownedColumns} from owned_resources cross join grants using (kind, resource)
  where nocase(owner) = nocase($1) order by grants.kind, grants.resource, nocase(username)`;
const selectReceivedBy = `
  select ${ownedColumns}
  from grants indexed by grants_by_username join owned_resources using (kind, resource)
  where nocase(username) = nocase($1) order by grants.kind, grants.resource`;

const groupColumns =
  'group_grants.kind, group_grants.resource, group_id, scopes, details, owned_resources.owner';
const selectGroupsOn = `
  select ${groupColumns} from group_grants
  join user_groups on user_groups.id = group_id join owned_resources using (kind, resource)
  where kind = $1 and resource = $2 order by position`;
const selectGroupsGivenBy = `
  select ${groupColumns} from owned_resources cross join group_grants using (kind, resource)
  join user_groups on user_groups.id = group_id
  where nocase(owned_resources.owner) = nocase($1)
  order by group_grants.kind, group_grants.resource, position`;
const selectGroupsReceivedBy = `
  select ${groupColumns} from group_members cross join group_grants using (group_id)
  join owned_resources using (kind, resource) join user_groups on user_groups.id = group_id
  where nocase(username) = nocase($1)
  order by group_grants.kind, group_grants.resource, position`;

// Nothing is granted on what does not exist, nor to a missing account: it would come to life with
// the next resource or account of that name.
const isThere = 'exists (select 1 from owned_resources where kind = $1 and resource = $2)';
const putGrant = `
  insert into grants (kind, resource, username, scopes)
  select $1, $2, username, $4 from users where nocase(username) = nocase($3) and ${isThere}
  on conflict (kind, resource, nocase(username)) do update set scopes = excluded.scopes`;
const deleteGrant = `delete from grants where ${isOne}`;
const putGroupGrant = `
  insert into group_grants (kind, resource, group_id, scopes)
  select $1, $2, id, $4 from user_groups where id = $3 and ${isThere}
  on conflict (group_id, kind, resource) do update set scopes = excluded.scopes`;
const deleteGroupGrant = `
  delete from group_grants where kind = $1 and resource = $2 and group_id = $3`;

/** The kind and id of a resource, and the user or group that a grant on it is for. */
type GrantKey = readonly [kind: string, resource: string, holder: string];

const put =
  (sql: string) =>
  async (session: SqlSession, key: GrantKey, scopes: string): Promise<'put' | 'missing'> =>
    (await session.run(sql, ...key, scopes)) === 0 ? 'missing' : 'put';

const remove =
  (sql: string) =>
  async (session: SqlSession, ...key: GrantKey): Promise<'removed' | 'missing'> =>
    (await session.run(sql, ...key)) === 0 ? 'missing' : 'removed';

/** Changes of grants. */
export const grantWrites = {
  putGrant: put(putGrant),
  removeGrant: remove(deleteGrant),
  putGroupGrant: put(putGroupGrant),
  removeGroupGrant: remove(deleteGroupGrant),
};

/** Grants in the tables of either engine. */
export function createGrantStore(
  { reader, write, damaged }: SqlContext<typeof grantWrites>,
  readReach: ReadReach,
): GrantStore {
  function readable<Row extends GrantRow | GroupGrantRow, Found>(
    rows: readonly Row[],
    read: (row: Row) => Found,
  ): readonly Found[] {
    return rows.flatMap((row) => {
      const key = `${row.kind} ${row.resource} ${'username' in row ? row.username : row.group_id}`;
      return damaged.read('grants', key, () => read(row)) ?? [];
    });
  }
  const owned = async (sql: string, username: string) =>
    readable(await reader.all<GrantRow & { owner: string }>(sql, username), ownedGrantFromRow);
  const ofGroups = async (sql: string, ...values: readonly string[]) =>
    readable(await reader.all<GroupGrantRow>(sql, ...values), groupGrantFromRow);

  return {
    put: ({ kind, resource, username, scopes }) =>
      write('putGrant', [kind, resource, username], JSON.stringify(scopes)),
    remove: (...key) => write('removeGrant', ...key),
    async find(kind, resource, username) {
      const row = await reader.first<{ scopes: string }>(selectScopes, kind, resource, username);
      const key = `${kind} ${resource} ${username}`;
      return (row && damaged.read('grants', key, () => scopesFromText(row.scopes))) ?? [];
    },
    listOn: async (kind, resource) =>
      readable(await reader.all<GrantRow>(selectOn, kind, resource), grantFromRow),
    listGivenBy: (owner) => owned(selectGivenBy, owner),
    listReceivedBy: (username) => owned(selectReceivedBy, username),
    putForGroup: ({ kind, resource, groupId, scopes }) =>
      write('putGroupGrant', [kind, resource, groupId], JSON.stringify(scopes)),
    removeForGroup: (...key) => write('removeGroupGrant', ...key),
    listGroupsOn: (kind, resource) => ofGroups(selectGroupsOn, kind, resource),
    listGroupsGivenBy: (owner) => ofGroups(selectGroupsGivenBy, owner),
    listGroupsReceivedBy: (username) => ofGroups(selectGroupsReceivedBy, username),
    ...createReachingGrants({ reader, damaged, readReach }),
  };
}
