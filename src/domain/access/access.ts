import type { Actor } from '../actor.ts';
import { forbidden } from '../errors.ts';
import { guestUsername } from '../ids.ts';
import type { GrantStore } from './grant-store.ts';
import { effectiveScopes, may, type PolicySettings, type Resource } from './policy.ts';
import { type Scope, scopesReaching } from './scopes.ts';

/** Asks the policy, fetching grants only when they can matter. */
export interface Access {
  /** Answers at once when no grants have to be fetched, or the store has them at hand. */
  allows(actor: Actor, scope: Scope, resource: Resource): boolean | Promise<boolean>;
  /**
   * Throws DomainError forbidden when the actor may not. Answers a promise only when grants have to
   * be fetched: most pushes need none.
   */
  require(actor: Actor, scope: Scope, resource: Resource): Promise<void> | undefined;
  /**
   * Whether the actor may set the actuators of this device: its owner, admins, and users who were
   * granted to push. That it is public opens its sensors only [contract 13].
   */
  allowsSetting(actor: Actor, resource: Resource): boolean | Promise<boolean>;
  /** Throws DomainError forbidden when the actor may not set its actuators. */
  requireSetting(actor: Actor, resource: Resource): Promise<void>;
  /** Sharing and handing over are for the owner and admins, never for a grant or a key. */
  requireOwner(actor: Actor, resource: Resource): void;
  effective(actor: Actor, resource: Resource): Promise<readonly Scope[]>;
  readonly settings: PolicySettings;
}

const noGrants: readonly Scope[] = [];
const forActuators: PolicySettings = { publicPush: 'granted' };

export function createAccess(options: {
  readonly grants: GrantStore;
  readonly settings: PolicySettings;
}): Access {
  const { grants, settings } = options;

  /** Grants on the thing come first: most that allow are of them, and they are cheap to find. */
  function allowed(
    actor: Actor,
    scope: Scope,
    resource: Resource,
    settings: PolicySettings,
  ): boolean | Promise<boolean> {
    if (may(actor, scope, resource, noGrants, settings)) return true;
    if (actor.kind !== 'user') return false;
    const allowedBy = (granted: readonly Scope[]): boolean =>
      granted.length > 0 &&
      may(actor, scope, resource, scopesReaching(resource.kind, granted), settings);
    const indirectly = (): boolean | Promise<boolean> => {
      const found = grants.findIndirect(resource, actor.username);
      return found instanceof Promise ? found.then(allowedBy) : allowedBy(found);
    };
    const granted = grants.find(resource.kind, resource.id, actor.username);
    if (granted instanceof Promise) {
      return granted.then((found) => allowedBy(found) || indirectly());
    }
    return allowedBy(granted) || indirectly();
  }

  async function allGrants(actor: Actor, resource: Resource): Promise<readonly Scope[]> {
    if (actor.kind !== 'user') return noGrants;
    const direct = await grants.find(resource.kind, resource.id, actor.username);
    const indirect = await grants.findIndirect(resource, actor.username);
    return scopesReaching(resource.kind, [...direct, ...indirect]);
  }

  const allows: Access['allows'] = (actor, scope, resource) =>
    allowed(actor, scope, resource, settings);

  const allowsSetting: Access['allowsSetting'] = (actor, resource) =>
    allowed(actor, 'devices-data:create', resource, forActuators);

  async function requireGranted(actor: Actor, scope: Scope, resource: Resource): Promise<void> {
    if (await allows(actor, scope, resource)) return;
    throw forbidden(`you need the right ${scope} on this ${resource.kind}`);
  }

  return {
    settings,
    allows,
    allowsSetting,
    async requireSetting(actor, resource) {
      if (await allowsSetting(actor, resource)) return;
      throw forbidden(
        'only the owner of the device, and users it is shared with, set its actuators',
      );
    },
    require(actor, scope, resource) {
      if (may(actor, scope, resource, noGrants, settings)) return undefined;
      return requireGranted(actor, scope, resource);
    },
    requireOwner(actor, resource) {
      requireAccount(actor);
      if (actor.kind === 'admin' || resource.owner === guestUsername) return;
      if (actor.kind === 'user' && actor.username === resource.owner) return;
      throw forbidden(`only the owner of this ${resource.kind} or an admin may do this`);
    },
    async effective(actor, resource) {
      return effectiveScopes(actor, resource, await allGrants(actor, resource), settings);
    },
  };
}

/** Refuses access keys where an account is meant: keys never manage accounts, keys or sharing. */
export function requireAccount(actor: Actor): void {
  if (actor.kind !== 'guest' && actor.key !== undefined) {
    throw forbidden('an access key cannot do this: log in with username and password');
  }
}

/** Anybody may create a gateway or project; a key needs the scope, and none that names devices. */
export function requireCreation(actor: Actor, scope: 'gateways:update' | 'projects:update'): void {
  if (actor.kind === 'guest' || actor.key === undefined) return;
  const { scopes, devices } = actor.key;
  if (devices !== undefined) throw forbidden('this access key is for certain devices only');
  if (scopes !== undefined && !scopes.has(scope)) {
    throw forbidden(`this access key lacks the right ${scope}`);
  }
}
