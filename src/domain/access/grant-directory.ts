import type { Change, ChangeSource } from '../changes.ts';
import type { Username } from '../ids.ts';
import { GrantCache, type GrantEntry, type Reaching } from './grant-cache.ts';
import type { GrantStore } from './grant-store.ts';
import type { Resource } from './policy.ts';
import { type Scope, scopesReaching } from './scopes.ts';

/** Scopes of users on things, by whatever grant, behind a read-through cache. */
export interface GrantDirectory {
  /** The scopes, if they are at hand now. Undefined: not known, ask `scopesOn`. */
  peek(resource: Resource, username: Username): readonly Scope[] | undefined;
  /** The scopes of this kind of thing; empty: nothing reaches the user. */
  scopesOn(resource: Resource, username: Username): Promise<readonly Scope[]>;
}

/** Remembers which grants reach which user until grants, groups, projects or owners change. */
export function createGrantDirectory(
  grants: Pick<GrantStore, 'find' | 'findIndirect'>,
  changes: ChangeSource,
): GrantDirectory {
  const cache = new GrantCache();
  changes.onChange(async (change) => forgetChanged(cache, change));

  async function read(resource: Resource, username: Username): Promise<Reaching> {
    const { kind, id, owner } = resource;
    const [direct, indirect] = await Promise.all([
      grants.find(kind, id, username),
      grants.findIndirect(resource, username),
    ]);
    return { owner, scopes: scopesReaching(kind, [...direct, ...indirect]) };
  }

  return {
    peek(resource, username) {
      if (changes.isCurrent?.() === false) return undefined;
      const known = cache.get(resource, username)?.known;
      return known?.owner === resource.owner ? known.scopes : undefined;
    },
    async scopesOn(resource, username) {
      if (changes.isCurrent?.() === false) cache.forget(resource, username);
      const found = await cache.get(resource, username)?.reading;
      if (found?.owner === resource.owner) return found.scopes;
      const entry: GrantEntry = { reading: read(resource, username) };
      cache.set(resource, username, entry);
      try {
        entry.known = await entry.reading;
        return entry.known.scopes;
      } catch (error) {
        if (cache.get(resource, username) === entry) cache.forget(resource, username);
        throw error;
      }
    },
  };
}

function forgetChanged(cache: GrantCache, change: Change): void {
  switch (change.kind) {
    case 'grant_changed':
      // A grant on a project reaches what the project lists.
      if (change.on === 'project') cache.forgetUser(change.username);
      else cache.forget({ kind: change.on, id: change.resource }, change.username);
      return;
    case 'group_changed':
      for (const username of change.usernames) cache.forgetUser(username);
      return;
    case 'project_changed':
    case 'project_removed':
      cache.forgetThing('project', change.projectId);
      for (const id of change.deviceIds) cache.forgetThing('device', id);
      for (const id of change.gatewayIds) cache.forgetThing('gateway', id);
      return;
    case 'device_handed_over':
    case 'device_removed':
      cache.forgetThing('device', change.deviceId);
      return;
    case 'gateway_handed_over':
    case 'gateway_removed':
      cache.forgetThing('gateway', change.gatewayId);
      return;
    case 'account_removed':
    case 'anything':
      // The account's groups and projects went with it, whatever they reached; or it is unknown.
      cache.clear();
      return;
    default:
  }
}
