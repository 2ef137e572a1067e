import type { GrantStore } from '../../domain/access/grant-store.ts';
import type { ResourceKind, Scope } from '../../domain/access/scopes.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import { scopesFromText } from '../sql/grant-row.ts';
import type { Reader } from './reader.ts';

const isUser = (place: string): string => `nocase(username) = nocase(${place})`;

const ofGroups = (place: string): string =>
  `from group_members join group_grants using (group_id) where ${isUser(place)}`;

/** Projects that were granted to the user, with the scopes, by whatever way. */
const grantedProjects = (place: string): string => `
  select resource as project, scopes from grants where ${isUser(place)} and kind = 'project'
  union all select resource, scopes ${ofGroups(place)} and kind = 'project'`;

/**
 * Selects `resource` and `scopes` of all of this kind that any grant reaches for the user whom the
 * placeholder stands for. A project reaches what its owner listed and still owns [decision 0013].
 */
export function reachingSql(kind: ResourceKind, place: string): string {
  const onThings = `
    select resource, scopes from grants where ${isUser(place)} and kind = '${kind}'
    union all select resource, scopes ${ofGroups(place)} and kind = '${kind}'`;
  if (kind === 'project') return onThings;
  return `${onThings}
    union all
    select member.resource, granted.scopes from (${grantedProjects(place)}) as granted
    join projects on projects.id = granted.project
    join project_members as member
      on member.project = granted.project and member.kind = '${kind}'
    join ${kind}s as thing
      on thing.id = member.resource and nocase(thing.owner) = nocase(projects.owner)`;
}

// $1 username, $2 kind, $3 resource, $4 its owner.
const selectIndirect = `
  select scopes ${ofGroups('$1')} and kind = $2 and resource = $3
  union all
  select granted.scopes from (${grantedProjects('$1')}) as granted
  join project_members as member
    on member.project = granted.project and member.kind = $2 and member.resource = $3
  join projects on projects.id = granted.project and nocase(projects.owner) = nocase($4)`;

const selectReaching: Readonly<Record<ResourceKind, string>> = {
  device: reachingSql('device', '$1'),
  gateway: reachingSql('gateway', '$1'),
  project: reachingSql('project', '$1'),
};

/** The part of the store of grants that finds what reaches users by groups and projects. */
export function createReachingGrants(
  reader: Reader,
  damaged: DamagedRows,
): Pick<GrantStore, 'findIndirect' | 'listReaching'> {
  const none: readonly Scope[] = [];

  function readScopes(resource: string, text: string): readonly Scope[] {
    return damaged.read('grants', `reaching ${resource}`, () => scopesFromText(text)) ?? none;
  }

  return {
    async findIndirect({ kind, id, owner }, username) {
      const rows = await reader.all<{ scopes: string }>(selectIndirect, username, kind, id, owner);
      return rows.flatMap(({ scopes }) => readScopes(`${kind} ${id}`, scopes));
    },
    async listReaching(kind, username) {
      const rows = await reader.all<{ resource: string; scopes: string }>(
        selectReaching[kind],
        username,
      );
      return rows.map(({ resource, scopes }) => ({
        resource,
        scopes: readScopes(`${kind} ${resource}`, scopes),
      }));
    },
  };
}
