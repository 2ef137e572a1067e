import type { GrantStore } from '../../domain/access/grant-store.ts';
import type { ResourceKind, Scope } from '../../domain/access/scopes.ts';
import type { Username } from '../../domain/ids.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import type { SqlReader } from './session.ts';
import { textsFrom } from './table.ts';

/** The scopes kept as a JSON array. */
export const scopesFromText = (text: string): readonly Scope[] =>
  textsFrom(text) as readonly Scope[];

/** A resource that a grant reaches, with the scopes as their text. */
export interface ReachedRow {
  readonly resource: string;
  readonly scopes: string;
}

/** Reads everything of a kind that any grant reaches for a user. */
export type ReadReach = (kind: ResourceKind, username: Username) => Promise<readonly ReachedRow[]>;

const isUser = (place: string): string => `nocase(username) = nocase(${place})`;

const ofGroups = (place: string): string =>
  `from group_members cross join group_grants using (group_id) where ${isUser(place)}`;

/** Projects that were granted to the user, with the scopes, directly or by a group. */
const grantedProjects = (place: string): string => `
  select resource as project, scopes from grants indexed by grants_by_username
  where ${isUser(place)} and kind = 'project'
  union select resource, scopes ${ofGroups(place)} and kind = 'project'`;

/**
 * Selects `resource` and `scopes` of all of this kind that any grant reaches for the user whom the
 * placeholder names. A project reaches what its owner listed and still owns [decision 0013]. What
 * several grants reach with the same scopes is there once: a thing may be in many projects.
 */
export function reachingSql(kind: ResourceKind, place: string): string {
  const onThings = `
    select resource, scopes from grants indexed by grants_by_username
    where ${isUser(place)} and kind = '${kind}'
    union select resource, scopes ${ofGroups(place)} and kind = '${kind}'`;
  if (kind === 'project') return onThings;
  return `${onThings}
    union
    select member.resource, granted.scopes from (${grantedProjects(place)}) as granted
    cross join projects on projects.id = granted.project
    cross join project_members as member
      on member.project = granted.project and member.kind = '${kind}'
    cross join ${kind}s as thing
      on thing.id = member.resource and nocase(thing.owner) = nocase(projects.owner)`;
}

// $1 username, $2 kind, $3 resource, $4 its owner.
const selectIndirect = `
  select scopes ${ofGroups('$1')} and kind = $2 and resource = $3
  union
  select granted.scopes from (${grantedProjects('$1')}) as granted
  cross join project_members as member
    on member.project = granted.project and member.kind = $2 and member.resource = $3
  cross join projects on projects.id = granted.project and nocase(projects.owner) = nocase($4)`;

/** The part of the store of grants that finds what reaches users by groups and projects. */
export function createReachingGrants({
  reader,
  damaged,
  readReach,
}: {
  readonly reader: SqlReader;
  readonly damaged: DamagedRows;
  readonly readReach: ReadReach;
}): Pick<GrantStore, 'findIndirect' | 'listReaching'> {
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
      const rows = await readReach(kind, username);
      return rows.map(({ resource, scopes }) => ({
        resource,
        scopes: readScopes(`${kind} ${resource}`, scopes),
      }));
    },
  };
}
