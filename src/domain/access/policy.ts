import type { Instant } from '../../lib/clock.ts';
import type { Actor } from '../actor.ts';
import { forbidden } from '../errors.ts';
import { guestUsername, type Username } from '../ids.ts';
import type { GrantDirectory } from './grant-directory.ts';
import { type Resource, type Scope, scopesOf } from './scopes.ts';

export interface PolicySettings {
  /** open: every actor may push to a public device, as the specification's guests do. */
  readonly publicPush: 'open' | 'granted';
}

const viewScopes: ReadonlySet<Scope> = new Set([
  'devices:view',
  'devices-data:view',
  'gateways:view',
]);

const selfViewScopes: ReadonlySet<Scope> = new Set([
  'devices:view',
  'gateways:view',
  'projects:view',
]);

/**
 * The one place where rights are decided [spec 5.5–5.8, contract 4]: may `actor` do `scope` with
 * `resource`, given what was granted to it there? Pure: the same question has the same answer.
 */
export function may(
  actor: Actor,
  scope: Scope,
  resource: Resource,
  granted: readonly Scope[],
  settings: PolicySettings,
): boolean {
  if (!keyAllows(actor, scope, resource)) return false;
  if (actor.kind === 'admin') return true;
  // Things made without a token belong to every actor.
  if (resource.owner === guestUsername) return true;
  if (actor.kind === 'user' && actor.username === resource.owner) return true;
  if (isPublic(resource) && publicMay(scope, settings)) return true;
  if (granted.length === 0) return false;
  // Any grant lets its holder see the thing itself.
  return granted.includes(scope) || selfViewScopes.has(scope);
}

/** All the actor may do with the resource, in the order the API reports scopes. */
export function effectiveScopes(
  actor: Actor,
  resource: Resource,
  granted: readonly Scope[],
  settings: PolicySettings,
): readonly Scope[] {
  return scopesOf[resource.kind].filter((scope) => may(actor, scope, resource, granted, settings));
}

function isPublic(resource: Resource): boolean {
  return resource.kind !== 'project' && resource.visibility !== 'private';
}

function publicMay(scope: Scope, settings: PolicySettings): boolean {
  return (
    viewScopes.has(scope) || (scope === 'devices-data:create' && settings.publicPush === 'open')
  );
}

/** A key is never wider than its owner; it narrows by scope and by device. */
function keyAllows(actor: Actor, scope: Scope, resource: Resource): boolean {
  if (actor.kind === 'guest' || actor.key === undefined) return true;
  const { scopes, devices, createdAt } = actor.key;
  if (scopes !== undefined && !scopes.has(scope)) return false;
  if (devices === undefined) return true;
  const isNamed = resource.kind === 'device' && (devices as ReadonlySet<string>).has(resource.id);
  return isNamed && isOldEnough(resource, { madeBy: createdAt, owner: actor.username });
}

/** Whether a device was there when an account named it, or belongs to that account. */
export function isOldEnough(
  device: Pick<Resource, 'owner' | 'createdAt'>,
  { madeBy, owner }: { readonly madeBy: Instant | undefined; readonly owner: Username },
): boolean {
  if (madeBy === undefined || device.owner === owner) return true;
  return device.createdAt !== undefined && device.createdAt <= madeBy;
}

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

/** Finds a thing of a store for those who have a right to it. Throws not_found and forbidden. */
export function byRight<Store, Id, Thing>(
  access: Access,
  store: Store,
  find: (store: Store, id: Id) => Promise<Thing>,
  resourceOf: (thing: Thing) => Resource,
) {
  return async (actor: Actor, scope: Scope, id: Id): Promise<Thing> => {
    const thing = await find(store, id);
    await access.require(actor, scope, resourceOf(thing));
    return thing;
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
