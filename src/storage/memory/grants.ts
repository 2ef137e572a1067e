import type { Grant, GroupGrant, OwnedGrant, OwnedGroupGrant } from '../../domain/access/grant.ts';
import type { GrantStore } from '../../domain/access/grant-store.ts';
import {
  findByUsername,
  grantKey,
  type MemoryState,
  ownerOf,
  reachingIndirectly,
  reachingOf,
  sameUsername,
} from './memory-state.ts';

/** Grants in memory. */
export function createGrantStore(state: MemoryState): GrantStore {
  const { grants, groups, groupGrants } = state;

  function sorted(wanted: (grant: Grant) => boolean): Grant[] {
    return [...grants.values()].filter(wanted).sort(byKindResourceUsername);
  }

  function withOwner(grant: Grant): OwnedGrant[] {
    const owner = ownerOf(state, grant.kind, grant.resource);
    return owner === undefined ? [] : [{ ...grant, owner }];
  }

  /** With what is told of both ends, by kind, resource, and order of creation of the groups. */
  function ofGroups(wanted: (grant: OwnedGroupGrant) => boolean): OwnedGroupGrant[] {
    const order = [...groups.keys()];
    return [...groupGrants.values()]
      .flatMap((grant): OwnedGroupGrant[] => {
        const owner = ownerOf(state, grant.kind, grant.resource);
        const group = groups.get(grant.groupId);
        if (owner === undefined || group === undefined) return [];
        return [{ ...grant, groupName: group.name, owner }];
      })
      .filter(wanted)
      .sort(
        (a, b) =>
          compare(a.kind, b.kind) ||
          compare(a.resource, b.resource) ||
          order.indexOf(a.groupId) - order.indexOf(b.groupId),
      );
  }

  const groupGrantKey = ({ kind, resource, groupId }: Omit<GroupGrant, 'scopes'>): string =>
    JSON.stringify([kind, resource, groupId]);

  return {
    async put(grant) {
      const username = findByUsername(state, grant.username)?.user.username;
      const owner = ownerOf(state, grant.kind, grant.resource);
      if (username === undefined || owner === undefined) return 'missing';
      grants.set(grantKey(grant.kind, grant.resource, username), { ...grant, username });
      return 'put';
    },
    remove: async (kind, resource, username) =>
      grants.delete(grantKey(kind, resource, username)) ? 'removed' : 'missing',
    find: async (kind, resource, username) =>
      grants.get(grantKey(kind, resource, username))?.scopes ?? [],
    listOn: async (kind, resource) =>
      sorted((grant) => grant.kind === kind && grant.resource === resource),
    listGivenBy: async (owner) =>
      sorted(() => true)
        .flatMap(withOwner)
        .filter((grant) => sameUsername(grant.owner, owner)),
    listReceivedBy: async (username) =>
      sorted((grant) => sameUsername(grant.username, username)).flatMap(withOwner),
    async putForGroup(grant) {
      if (!groups.has(grant.groupId)) return 'missing';
      if (ownerOf(state, grant.kind, grant.resource) === undefined) return 'missing';
      groupGrants.set(groupGrantKey(grant), grant);
      return 'put';
    },
    removeForGroup: async (kind, resource, groupId) =>
      groupGrants.delete(groupGrantKey({ kind, resource, groupId })) ? 'removed' : 'missing',
    listGroupsOn: async (kind, resource) =>
      ofGroups((grant) => grant.kind === kind && grant.resource === resource),
    listGroupsGivenBy: async (owner) => ofGroups((grant) => sameUsername(grant.owner, owner)),
    listGroupsReceivedBy: async (username) =>
      ofGroups(({ groupId }) =>
        (groups.get(groupId)?.usernames ?? []).some((member) => sameUsername(member, username)),
      ),
    findIndirect: async ({ kind, id }, username) =>
      reachingIndirectly(state, kind, username)
        .filter(({ resource }) => resource === id)
        .flatMap(({ scopes }) => scopes),
    listReaching: async (kind, username) =>
      reachingOf(state, kind, username).map(({ resource, scopes }) => ({ resource, scopes })),
  };
}

function byKindResourceUsername(a: Grant, b: Grant): number {
  return (
    compare(a.kind, b.kind) ||
    compare(a.resource, b.resource) ||
    compare(a.username.toLowerCase(), b.username.toLowerCase())
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
