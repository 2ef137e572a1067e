import type { Grant, OwnedGrant } from '../../domain/access/grant.ts';
import type { GrantStore } from '../../domain/access/grant-store.ts';
import {
  findByUsername,
  grantKey,
  type MemoryState,
  ownerOf,
  sameUsername,
} from './memory-state.ts';

/** Grants in memory. */
export function createGrantStore(state: MemoryState): GrantStore {
  const { grants } = state;

  function sorted(wanted: (grant: Grant) => boolean): Grant[] {
    return [...grants.values()].filter(wanted).sort(byKindResourceUsername);
  }

  function withOwner(grant: Grant): OwnedGrant[] {
    const owner = ownerOf(state, grant.kind, grant.resource);
    return owner === undefined ? [] : [{ ...grant, owner }];
  }

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
    find: (kind, resource, username) =>
      grants.get(grantKey(kind, resource, username))?.scopes ?? [],
    listOn: async (kind, resource) =>
      sorted((grant) => grant.kind === kind && grant.resource === resource),
    listGivenBy: async (owner) =>
      sorted(() => true)
        .flatMap(withOwner)
        .filter((grant) => sameUsername(grant.owner, owner)),
    listReceivedBy: async (username) =>
      sorted((grant) => sameUsername(grant.username, username)).flatMap(withOwner),
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
