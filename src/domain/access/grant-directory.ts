import type { Change, ChangeSource } from '../changes.ts';
import type { Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { GrantStore } from './grant.ts';
import { type Resource, type ResourceKind, type Scope, scopesReaching } from './scopes.ts';

/** Projects reach what their owner owns: under another owner other scopes may reach the user. */
interface Reaching {
  readonly owner: Username;
  readonly scopes: readonly Scope[];
}

/** Scopes that reach one user on one thing; `known` is absent while they are being read. */
interface GrantEntry {
  readonly reading: Promise<Reaching>;
  readonly readAt: number;
  known?: Reaching;
}

type Thing = `${ResourceKind}/${string}`;

// No id has a slash.
const thingOf = ({ kind, id }: Pick<Resource, 'kind' | 'id'>): Thing => `${kind}/${id}`;

/**
 * Cache of the scopes that reach users on things, by user and by thing, so that a change forgets
 * only the entries it concerns, those being read included. Bounded in entries: one user has half of
 * them at most; when all are taken, a user who adds one gives up the oldest own one.
 */
class GrantCache {
  /** Usernames are one whatever their case. */
  readonly #byUser = new Map<string, Map<Thing, GrantEntry>>();
  readonly #usersOf = new Map<Thing, Set<string>>();
  #count = 0;

  get(resource: Resource, username: Username): GrantEntry | undefined {
    return this.#byUser.get(username.toLowerCase())?.get(thingOf(resource));
  }

  /** Puts an entry in the place of the one before. */
  set(resource: Resource, username: Username, entry: GrantEntry): void {
    const [user, thing] = [username.toLowerCase(), thingOf(resource)];
    this.#drop(user, thing);
    const own = this.#byUser.get(user) ?? new Map<Thing, GrantEntry>();
    const users = this.#usersOf.get(thing) ?? new Set<string>();
    this.#byUser.set(user, own.set(thing, entry));
    this.#usersOf.set(thing, users.add(user));
    this.#count += 1;
    const { grantCacheEntriesMax: max } = limits;
    if (own.size > max / 2 || (own.size > 1 && this.#count > max)) this.#dropOldest(user);
    else if (this.#count > max) this.#dropOfNext();
  }

  forget(resource: Pick<Resource, 'kind' | 'id'>, username: Username): void {
    this.#drop(username.toLowerCase(), thingOf(resource));
  }

  forgetThing(kind: ResourceKind, id: string): void {
    const thing = thingOf({ kind, id });
    for (const user of this.#usersOf.get(thing) ?? []) this.#drop(user, thing);
  }

  forgetUser(username: Username): void {
    const user = username.toLowerCase();
    for (const thing of this.#byUser.get(user)?.keys() ?? []) this.#drop(user, thing);
  }

  clear(): void {
    this.#byUser.clear();
    this.#usersOf.clear();
    this.#count = 0;
  }

  #drop(user: string, thing: Thing): void {
    const own = this.#byUser.get(user);
    if (own?.delete(thing) !== true) return;
    this.#count -= 1;
    if (own.size === 0) this.#byUser.delete(user);
    const users = this.#usersOf.get(thing);
    users?.delete(user);
    if (users?.size === 0) this.#usersOf.delete(thing);
  }

  #dropOldest(user: string): void {
    const [oldest] = this.#byUser.get(user)?.keys() ?? [];
    if (oldest !== undefined) this.#drop(user, oldest);
  }

  /** Drops an entry of the next user, round robin, for a user who has no other entry. */
  #dropOfNext(): void {
    const [next] = this.#byUser;
    if (next === undefined) return;
    const [user, own] = next;
    this.#byUser.delete(user);
    this.#byUser.set(user, own);
    this.#dropOldest(user);
  }
}

/** Remembers which grants reach which user until grants, groups, projects or owners change. */
export function createGrantDirectory(
  grants: Pick<GrantStore, 'find' | 'findIndirect'>,
  changes: ChangeSource,
) {
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
    /** The scopes, if they are at hand now. Undefined: not known, ask `scopesOn`. */
    peek(resource: Resource, username: Username): readonly Scope[] | undefined {
      const entry = cache.get(resource, username);
      if (entry === undefined || changes.isCurrent?.(entry.readAt) === false) return undefined;
      return entry.known?.owner === resource.owner ? entry.known.scopes : undefined;
    },
    /** The scopes of this kind of thing; empty: nothing reaches the user. */
    async scopesOn(resource: Resource, username: Username): Promise<readonly Scope[]> {
      const before = cache.get(resource, username);
      const counts = before !== undefined && changes.isCurrent?.(before.readAt) !== false;
      const found = counts ? await before.reading : undefined;
      if (found?.owner === resource.owner) return found.scopes;
      const readAt = performance.now();
      const entry: GrantEntry = { reading: read(resource, username), readAt };
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

/** Scopes of users on things, by whatever grant, behind a read-through cache. */
export type GrantDirectory = ReturnType<typeof createGrantDirectory>;

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
