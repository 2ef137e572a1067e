import type { GrantStore } from '../../domain/access/grant-store.ts';
import {
  type GrantRow,
  grantFromRow,
  ownedGrantFromRow,
  scopesFromText,
} from '../sql/grant-row.ts';
import { type GroupGrantRow, groupGrantFromRow } from '../sql/group-row.ts';
import { readSafely } from './failures.ts';
import { createReachingGrants } from './reaching-grants.ts';
import { createSelection } from './selection.ts';
import type { StoreContext } from './store-context.ts';

const selectScopes = 'select scopes from grants where kind = ? and resource = ? and username = ?';
const selectOn = `
  select kind, resource, username, scopes from grants
  where kind = ? and resource = ? order by username`;
const ownedColumns = 'grants.kind, grants.resource, username, scopes, owner';
// Told where to begin: there are no statistics that could say that one has few of all grants.
const selectGivenBy = `
  select ${ownedColumns} from owned_resources cross join grants using (kind, resource)
  where owner = ? order by grants.kind, grants.resource, username`;
const selectReceivedBy = `
  select ${ownedColumns}
  from grants indexed by grants_by_username join owned_resources using (kind, resource)
  where username = ? order by grants.kind, grants.resource`;

const groupColumns =
  'group_grants.kind, group_grants.resource, group_id, scopes, details, owned_resources.owner';
const selectGroupsOn = `
  select ${groupColumns} from group_grants
  join user_groups on user_groups.id = group_id join owned_resources using (kind, resource)
  where kind = ? and resource = ? order by position`;
const selectGroupsGivenBy = `
  select ${groupColumns} from owned_resources cross join group_grants using (kind, resource)
  join user_groups on user_groups.id = group_id
  where owned_resources.owner = ? order by group_grants.kind, group_grants.resource, position`;
const selectGroupsReceivedBy = `
  select ${groupColumns} from group_members cross join group_grants using (group_id)
  join owned_resources using (kind, resource) join user_groups on user_groups.id = group_id
  where username = ? order by group_grants.kind, group_grants.resource, position`;

/** Grants in SQLite. */
export function createGrantStore({ reader, writer, damaged }: StoreContext): GrantStore {
  const scopes = createSelection<{ scopes: string }>(reader, selectScopes);
  const on = createSelection<GrantRow>(reader, selectOn);
  const givenBy = createSelection<GrantRow & { owner: string }>(reader, selectGivenBy);
  const receivedBy = createSelection<GrantRow & { owner: string }>(reader, selectReceivedBy);

  const groupsOn = createSelection<GroupGrantRow>(reader, selectGroupsOn);
  const groupsGivenBy = createSelection<GroupGrantRow>(reader, selectGroupsGivenBy);
  const groupsReceivedBy = createSelection<GroupGrantRow>(reader, selectGroupsReceivedBy);

  function readable<Row extends GrantRow | GroupGrantRow, Found>(
    rows: readonly Row[],
    read: (row: Row) => Found,
  ): readonly Found[] {
    return rows.flatMap((row) => {
      const key = `${row.kind} ${row.resource} ${'username' in row ? row.username : row.group_id}`;
      return damaged.read('grants', key, () => read(row)) ?? [];
    });
  }

  return {
    put: (grant) => writer.call('putGrant', { ...grant, scopes: JSON.stringify(grant.scopes) }),
    remove: (kind, resource, username) => writer.call('removeGrant', kind, resource, username),
    find: (kind, resource, username) =>
      readSafely(() => {
        const row = scopes.first(kind, resource, username);
        const key = `${kind} ${resource} ${username}`;
        return (row && damaged.read('grants', key, () => scopesFromText(row.scopes))) ?? [];
      }),
    listOn: (kind, resource) => readSafely(() => readable(on.all(kind, resource), grantFromRow)),
    listGivenBy: (owner) => readSafely(() => readable(givenBy.all(owner), ownedGrantFromRow)),
    listReceivedBy: (username) =>
      readSafely(() => readable(receivedBy.all(username), ownedGrantFromRow)),
    putForGroup: ({ groupId, scopes, ...on }) =>
      writer.call('putGroupGrant', { ...on, group_id: groupId, scopes: JSON.stringify(scopes) }),
    removeForGroup: (kind, resource, groupId) =>
      writer.call('removeGroupGrant', kind, resource, groupId),
    listGroupsOn: (kind, resource) =>
      readSafely(() => readable(groupsOn.all(kind, resource), groupGrantFromRow)),
    listGroupsGivenBy: (owner) =>
      readSafely(() => readable(groupsGivenBy.all(owner), groupGrantFromRow)),
    listGroupsReceivedBy: (username) =>
      readSafely(() => readable(groupsReceivedBy.all(username), groupGrantFromRow)),
    ...createReachingGrants(reader, damaged),
  };
}
