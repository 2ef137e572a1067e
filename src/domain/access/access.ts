import type { Actor } from '../actor.ts';
import { forbidden } from '../errors.ts';
import { guestUsername } from '../ids.ts';
import type { GrantDirectory } from './grant-directory.ts';
import { effectiveScopes, may, type PolicySettings, type Resource } from './policy.ts';
import type { Scope } from './scopes.ts';

/** yes and no are final at this moment; unknown: something has to be read first. */
export type Verdict = 'yes' | 'no' | 'unknown';

const noGrants: readonly Scope[] = [];
const forActuators: PolicySettings = { publicPush: 'granted' };

/** Asks the policy, fetching grants only when they can matter. */
export function createAccess(options: {
  readonly grants: GrantDirectory;
  readonly settings: PolicySettings;
}) {
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

  const allows = (actor: Actor, scope: Scope, resource: Resource): Promise<boolean> =>
    allowed(actor, scope, resource, settings);

  const allowsSetting = (actor: Actor, resource: Resource): Promise<boolean> =>
    allowed(actor, 'devices-data:create', resource, forActuators);

  return {
    settings,
    /** The fast path of pushes and deliveries: answers at once, from what is at hand. */
    tryAllow: (actor: Actor, scope: Scope, resource: Resource) =>
      tryAllowed(actor, scope, resource, settings),
    allows,
    /**
     * Whether the actor may set the actuators of this device: its owner, admins, and users who were
     * granted to push. That it is public opens its sensors only [contract 13].
     */
    allowsSetting,
    /**
     * Whether the actor is a stranger to this device: may push to it only because it is public. A
     * device without an owner knows no strangers.
     */
    tryStranger(actor: Actor, resource: Resource): Verdict {
      const known = tryAllowed(actor, 'devices-data:create', resource, forActuators);
      return known === 'unknown' ? known : known === 'no' ? 'yes' : 'no';
    },
    isStranger: async (actor: Actor, resource: Resource) => !(await allowsSetting(actor, resource)),
    /** Throws DomainError forbidden when the actor may not set its actuators. */
    async requireSetting(actor: Actor, resource: Resource): Promise<void> {
      if (await allowsSetting(actor, resource)) return;
      throw forbidden(
        'only the owner of the device, and users it is shared with, set its actuators',
      );
    },
    /** Throws DomainError forbidden when the actor may not. */
    async require(actor: Actor, scope: Scope, resource: Resource): Promise<void> {
      if (await allows(actor, scope, resource)) return;
      throw forbidden(`you need the right ${scope} on this ${resource.kind}`);
    },
    /** Sharing and handing over are for the owner and admins, never for a grant or a key. */
    requireOwner(actor: Actor, resource: Resource): void {
      requireAccount(actor);
      if (actor.kind === 'admin' || resource.owner === guestUsername) return;
      if (actor.kind === 'user' && actor.username === resource.owner) return;
      throw forbidden(`only the owner of this ${resource.kind} or an admin may do this`);
    },
    async effective(actor: Actor, resource: Resource): Promise<readonly Scope[]> {
      const granted =
        actor.kind === 'user' ? await grants.scopesOn(resource, actor.username) : noGrants;
      return effectiveScopes(actor, resource, granted, settings);
    },
  };
}
export type Access = ReturnType<typeof createAccess>;

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
