import type { Grant, GrantStore, OwnedGrant, OwnedGroupGrant } from '../../domain/access/grant.ts';
import { createReachingGrants, type ReadReach, scopesFromText } from './resources.ts';
import { deletion, type SqlContext, type SqlSession, type Writes } from './session.ts';
import { detailsFrom } from './table.ts';

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
// By a subquery: PostgreSQL joins a view of several tables by reading them whole.
const ownerOf = (grants: 'grants' | 'group_grants') => `(
    select owner from owned_resources as owned
    where owned.kind = ${grants}.kind and owned.resource = ${grants}.resource) as owner`;
const selectReceivedBy = `
  select kind, resource, username, scopes, ${ownerOf('grants')}
  from grants indexed by grants_by_username
  where nocase(username) = nocase($1) order by kind, resource`;

// With what it is ordered by: SQLite searches the kinds of a view one by one then.
const groupColumns = `
  group_grants.kind, group_grants.resource, group_id as "groupId", scopes, details,
  owned_resources.owner, position`;
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
  select kind, resource, group_id as "groupId", scopes, details, position,
    ${ownerOf('group_grants')}
  from group_members cross join group_grants using (group_id)
  join user_groups on user_groups.id = group_id
  where nocase(username) = nocase($1) order by kind, resource, position`;

// Nothing is granted on what does not exist, nor to a missing account: it would come to life with
// the next resource or account of that name.
const isThere = 'exists (select 1 from owned_resources where kind = $1 and resource = $2)';
const putGrant = `
  insert into grants (kind, resource, username, scopes)
  select $1, $2, username, $4 from users where nocase(username) = nocase($3) and ${isThere}
  on conflict (kind, resource, nocase(username)) do update set scopes = excluded.scopes`;
const putGroupGrant = `
  insert into group_grants (kind, resource, group_id, scopes)
  select $1, $2, id, $4 from user_groups where id = $3 and ${isThere}
  on conflict (group_id, kind, resource) do update set scopes = excluded.scopes`;
/** The kind and id of a resource, and the user or group that a grant on it is for. */
type GrantKey = readonly [kind: string, resource: string, holder: string];

const put =
  (sql: string) =>
  async (session: SqlSession, key: GrantKey, scopes: string): Promise<'put' | 'missing'> =>
    (await session.run(sql, ...key, scopes)) === 0 ? 'missing' : 'put';

/** Changes of grants. */
export const grantWrites = {
  putGrant: put(putGrant),
  removeGrant: deletion(`delete from grants where ${isOne}`),
  putGroupGrant: put(putGroupGrant),
  removeGroupGrant: deletion(
    'delete from group_grants where kind = $1 and resource = $2 and group_id = $3',
  ),
} satisfies Writes;

/** A row of grants, or of those of groups with the details of the group. */
type Kept<Found extends Grant | OwnedGroupGrant> = Found & {
  readonly scopes: string;
  readonly details?: string;
  readonly position?: number;
};

/** Grants in the tables of either engine. */
export function createGrantStore(
  { reader, write, damaged }: SqlContext<typeof grantWrites>,
  readReach: ReadReach,
): GrantStore {
  /** Rows hold what parsed names were written from. */
  async function read<Found extends Grant | OwnedGroupGrant>(
    sql: string,
    ...values: readonly string[]
  ): Promise<readonly Found[]> {
    const rows = await reader.all<Kept<Found>>(sql, ...values);
    return rows.flatMap(({ details, position, ...row }) => {
      // A grant on a resource that is gone has no owner.
      if ('owner' in row && row.owner === null) return [];
      const { kind, resource, username, groupId } = row as Partial<Grant & OwnedGroupGrant>;
      const key = `${kind} ${resource} ${username ?? groupId}`;
      const found = damaged.read('grants', key, () => ({
        ...row,
        scopes: scopesFromText(row.scopes),
        ...(details !== undefined && { groupName: detailsFrom<{ name: string }>(details).name }),
      }));
      return (found as Found | undefined) ?? [];
    });
  }
  return {
    put: ({ kind, resource, username, scopes }) =>
      write('putGrant', [kind, resource, username], JSON.stringify(scopes)),
    remove: (...key) => write('removeGrant', ...key),
    async find(kind, resource, username) {
      const row = await reader.first<{ scopes: string }>(selectScopes, kind, resource, username);
      const key = `${kind} ${resource} ${username}`;
      return (row && damaged.read('grants', key, () => scopesFromText(row.scopes))) ?? [];
    },
    listOn: (...thing) => read<Grant>(selectOn, ...thing),
    listGivenBy: (owner) => read<OwnedGrant>(selectGivenBy, owner),
    listReceivedBy: (username) => read<OwnedGrant>(selectReceivedBy, username),
    putForGroup: ({ kind, resource, groupId, scopes }) =>
      write('putGroupGrant', [kind, resource, groupId], JSON.stringify(scopes)),
    removeForGroup: (...key) => write('removeGroupGrant', ...key),
    listGroupsOn: (...thing) => read<OwnedGroupGrant>(selectGroupsOn, ...thing),
    listGroupsGivenBy: (owner) => read<OwnedGroupGrant>(selectGroupsGivenBy, owner),
    listGroupsReceivedBy: (username) => read<OwnedGroupGrant>(selectGroupsReceivedBy, username),
    ...createReachingGrants({ reader, damaged, readReach }),
  };
}
