import type { Actor } from '../actor.ts';
import { forbidden } from '../errors.ts';
import { guestUsername } from '../ids.ts';
import type { GrantDirectory } from './grant-directory.ts';
import { effectiveScopes, may, type PolicySettings, type Resource } from './policy.ts';
import type { Scope } from './scopes.ts';

/** yes and no are final at this moment; unknown: something has to be read first. */
export type Verdict = 'yes' | 'no' | 'unknown';

/** Asks the policy, fetching grants only when they can matter. */
export interface Access {
  /** The fast path of pushes and deliveries: answers at once, from what is at hand. */
  tryAllow(actor: Actor, scope: Scope, resource: Resource): Verdict;
  allows(actor: Actor, scope: Scope, resource: Resource): Promise<boolean>;
  /** Throws DomainError forbidden when the actor may not. */
  require(actor: Actor, scope: Scope, resource: Resource): Promise<void>;
  /**
   * Whether the actor may set the actuators of this device: its owner, admins, and users who were
   * granted to push. That it is public opens its sensors only [contract 13].
   */
  allowsSetting(actor: Actor, resource: Resource): Promise<boolean>;
  /**
   * Whether the actor is a stranger to this device: may push to it only because it is public. A
   * device without an owner knows no strangers.
   */
  tryStranger(actor: Actor, resource: Resource): Verdict;
  isStranger(actor: Actor, resource: Resource): Promise<boolean>;
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
  readonly grants: GrantDirectory;
  readonly settings: PolicySettings;
}): Access {
  const { grants, settings } = options;

  function tryAllowed(
    actor: Actor,
    scope: Scope,
    resource: Resource,
    settings: PolicySettings,
  ): Verdict {
    if (may(actor, scope, resource, noGrants, settings)) return 'yes';
    if (actor.kind !== 'user') return 'no';
    const granted = grants.peek(resource, actor.username);
    if (granted === undefined) return 'unknown';
    return may(actor, scope, resource, granted, settings) ? 'yes' : 'no';
  }

  const tryAllow: Access['tryAllow'] = (actor, scope, resource) =>
    tryAllowed(actor, scope, resource, settings);

  async function allowed(
    actor: Actor,
    scope: Scope,
    resource: Resource,
    settings: PolicySettings,
  ): Promise<boolean> {
    if (may(actor, scope, resource, noGrants, settings)) return true;
    if (actor.kind !== 'user') return false;
    const granted = await grants.scopesOn(resource, actor.username);
    return may(actor, scope, resource, granted, settings);
  }

  const allows: Access['allows'] = (actor, scope, resource) =>
    allowed(actor, scope, resource, settings);

  const allowsSetting: Access['allowsSetting'] = (actor, resource) =>
    allowed(actor, 'devices-data:create', resource, forActuators);

  return {
    settings,
    tryAllow,
    allows,
    allowsSetting,
    tryStranger(actor, resource) {
      const known = tryAllowed(actor, 'devices-data:create', resource, forActuators);
      return known === 'unknown' ? known : known === 'no' ? 'yes' : 'no';
    },
    isStranger: async (actor, resource) => !(await allowsSetting(actor, resource)),
    async requireSetting(actor, resource) {
      if (await allowsSetting(actor, resource)) return;
      throw forbidden(
        'only the owner of the device, and users it is shared with, set its actuators',
      );
    },
    async require(actor, scope, resource) {
      if (await allows(actor, scope, resource)) return;
      throw forbidden(`you need the right ${scope} on this ${resource.kind}`);
    },
    requireOwner(actor, resource) {
      requireAccount(actor);
      if (actor.kind === 'admin' || resource.owner === guestUsername) return;
      if (actor.kind === 'user' && actor.username === resource.owner) return;
      throw forbidden(`only the owner of this ${resource.kind} or an admin may do this`);
    },
    async effective(actor, resource) {
      const granted =
        actor.kind === 'user' ? await grants.scopesOn(resource, actor.username) : noGrants;
      return effectiveScopes(actor, resource, granted, settings);
    },
  };
}

/** Refuses access keys where an account is meant: keys never manage accounts, keys or sharing. */
export function requireAccount(actor: Actor): void {
  if (actor.kind !== 'guest' && actor.key !== undefined) {
    throw forbidden('an access key cannot do this: log in with username and password');
  }
}

/** Actors may create gateways and projects; a key needs the scope, and none that names devices. */
export function requireCreation(actor: Actor, scope: 'gateways:update' | 'projects:update'): void {
  if (actor.kind === 'guest' || actor.key === undefined) return;
  const { scopes, devices } = actor.key;
  if (devices !== undefined) throw forbidden('this access key is for certain devices only');
  if (scopes !== undefined && !scopes.has(scope)) {
    throw forbidden(`this access key lacks the right ${scope}`);
  }
}
