import type { DatabaseSync } from 'node:sqlite';
import type { ReachingGrant } from '../../domain/access/grant.ts';
import type { GrantStore } from '../../domain/access/grant-store.ts';
import type { ResourceKind, Scope } from '../../domain/access/scopes.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import { scopesFromText } from '../sql/grant-row.ts';
import { readSafely } from './failures.ts';
import { createReachWalk } from './reach-walk.ts';
import { createSelection } from './selection.ts';

const ofGroups = (username: string): string =>
  `from group_members cross join group_grants using (group_id) where username = ${username}`;

/** Projects that were granted to the user, with the scopes, by whatever way. */
const grantedProjects = (username: string): string => `
  select resource as project, scopes from grants indexed by grants_by_username
  where username = ${username} and kind = 'project'
  union select resource, scopes ${ofGroups(username)} and kind = 'project'`;

/**
 * Selects `resource` and `scopes` of all of this kind that any grant reaches for the user whom the
 * placeholder stands for. A project reaches what its owner listed and still owns [decision 0013].
 * What comes by several ways with the same scopes is there once: a thing may be in many projects.
 */
export function reachingSql(kind: ResourceKind, username: string): string {
  const onThings = `
    select resource, scopes from grants indexed by grants_by_username
    where username = ${username} and kind = '${kind}'
    union select resource, scopes ${ofGroups(username)} and kind = '${kind}'`;
  if (kind === 'project') return onThings;
  return `${onThings}
    union
    select member.resource, granted.scopes from (${grantedProjects(username)}) as granted
    cross join projects on projects.id = granted.project
    cross join project_members as member
      on member.project = granted.project and member.kind = '${kind}'
    cross join ${kind}s as thing on thing.id = member.resource and thing.owner = projects.owner`;
}

// ?1 username, ?2 kind, ?3 resource, ?4 its owner.
const selectIndirect = `
  select scopes ${ofGroups('?1')} and kind = ?2 and resource = ?3
  union
  select granted.scopes from (${grantedProjects('?1')}) as granted
  cross join project_members as member
    on member.project = granted.project and member.kind = ?2 and member.resource = ?3
  cross join projects on projects.id = granted.project and projects.owner = ?4`;

/** The part of the store of grants that finds what reaches users by groups and projects. */
export function createReachingGrants(
  reader: DatabaseSync,
  damaged: DamagedRows,
): Pick<GrantStore, 'findIndirect' | 'listReaching'> {
  const indirect = createSelection<{ scopes: string }>(reader, selectIndirect);
  const walk = createReachWalk(reader);
  const none: readonly Scope[] = [];

  function readScopes(resource: string, text: string): readonly Scope[] {
    return damaged.read('grants', `reaching ${resource}`, () => scopesFromText(text)) ?? none;
  }

  return {
    findIndirect: ({ kind, id, owner }, username) =>
      readSafely(() =>
        indirect
          .all(username, kind, id, owner)
          .flatMap(({ scopes }) => readScopes(`${kind} ${id}`, scopes)),
      ),
    async listReaching(kind, username) {
      const reached: ReachingGrant[] = [];
      for (const [resource, texts] of await walk(kind, username)) {
        for (const text of texts) {
          reached.push({ resource, scopes: readScopes(`${kind} ${resource}`, text) });
        }
      }
      return reached;
    },
  };
}
