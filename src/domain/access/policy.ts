import type { Instant } from '../../lib/clock.ts';
import type { Actor } from '../actor.ts';
import { guestUsername, type Username } from '../ids.ts';
import { type ResourceKind, type Scope, scopesOf } from './scopes.ts';

/** Facts of a device, gateway or project that the policy needs. */
export interface Resource {
  readonly kind: ResourceKind;
  readonly id: string;
  readonly owner: Username;
  /** Absent counts as public; a project has none and is private to owner and grantees. */
  readonly visibility?: 'public' | 'private';
  /** Of a device. */
  readonly createdAt?: Instant;
}

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
