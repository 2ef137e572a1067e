import { createReadThroughCache } from '../../lib/read-through-cache.ts';
import type { Change, ChangeFeed } from '../changes.ts';
import type { Username } from '../ids.ts';
import { limits } from '../limits.ts';
import type { GrantStore } from './grant-store.ts';
import type { Resource } from './policy.ts';
import { type Scope, scopesReaching } from './scopes.ts';

/** What reaches users on things, by whatever grant, behind a read-through cache. */
export interface GrantDirectory {
  /** The scopes, if they are at hand now. Undefined tells nothing: ask `scopesOn`. */
  peek(resource: Resource, username: Username): readonly Scope[] | undefined;
  /** The scopes of this kind of thing; empty: nothing reaches the user. */
  scopesOn(resource: Resource, username: Username): Promise<readonly Scope[]>;
}

/** Projects reach what their owner owns: under another owner other scopes may reach the user. */
interface Reaching {
  readonly owner: Username;
  readonly scopes: readonly Scope[];
}

/** Remembers what reaches whom until grants, groups, projects or owners change. */
export function createGrantDirectory(
  grants: Pick<GrantStore, 'find' | 'findIndirect'>,
  changes: Pick<ChangeFeed, 'onChange'>,
): GrantDirectory {
  const known = createReadThroughCache<string, Reaching>({
    entriesMax: limits.grantCacheEntriesMax,
  });
  changes.onChange(async (change) => {
    if (change.kind === 'grant_changed' && change.on !== 'project') {
      known.forget(keyOf(change.on, change.resource, change.username));
    } else if (reachesMany(change)) known.clear();
  });

  async function read(resource: Resource, username: Username): Promise<Reaching> {
    const { kind, id, owner } = resource;
    const [direct, indirect] = await Promise.all([
      grants.find(kind, id, username),
      grants.findIndirect(resource, username),
    ]);
    return { owner, scopes: scopesReaching(kind, [...direct, ...indirect]) };
  }

  return {
    peek({ kind, id, owner }, username) {
      const found = known.peek(keyOf(kind, id, username));
      return found?.owner === owner ? found.scopes : undefined;
    },
    async scopesOn(resource, username) {
      const key = keyOf(resource.kind, resource.id, username);
      const found = await known.get(key, () => read(resource, username));
      if (found.owner === resource.owner) return found.scopes;
      known.forget(key);
      return (await read(resource, username)).scopes;
    },
  };
}

// No id has a slash. Usernames are one whatever their case.
const keyOf = (kind: string, id: string, username: string): string =>
  `${kind}/${id}/${username.toLowerCase()}`;

/** Whether what reaches many users, or what comes by several ways, may be different. */
function reachesMany({ kind }: Change): boolean {
  switch (kind) {
    case 'grant_changed':
    case 'group_changed':
    case 'project_changed':
    case 'project_removed':
    case 'device_handed_over':
    case 'device_removed':
    case 'gateway_handed_over':
    case 'gateway_removed':
    case 'account_removed':
      return true;
    default:
      return false;
  }
}
