import type { Instant } from '../../lib/clock.ts';
import type { Actor } from '../actor.ts';
import { guestUsername, type Username } from '../ids.ts';
import type { GrantStore } from './grant.ts';
import { effectiveScopes, isOldEnough, may, type PolicySettings } from './policy.ts';
import {
  type Resource,
  type ResourceKind,
  type Scope,
  scopesReaching,
  viewScopeOf,
} from './scopes.ts';

/** Which resources a list may show; the domain decides it, the stores obey. */
export interface VisibleTo {
  /** everything: an admin. public: a guest. Else what this user owns, was granted, or is public. */
  readonly who:
    | 'everything'
    | 'public'
    | {
        readonly username: Username;
        /** Ids of this kind that the user was given, by whatever way. */
        readonly reached: ReadonlySet<string>;
      };
  /** Nothing but these ids: those an access key is limited to, or those asked for. */
  readonly only?: ReadonlySet<string>;
  /** Hides what others than this user made later: a key does not name it. */
  readonly madeBy?: Instant;
}

/** On which devices an actor may see the data, as plain data that a store can ask about rows. */
export interface DataReach extends VisibleTo {
  /** Ids of private devices of others that were granted. */
  readonly granted: ReadonlySet<string>;
}

/** Whether the data of a device is within a reach, as the policy would answer. */
export function reaches(
  { who, only, granted, madeBy }: DataReach,
  device: Omit<Resource, 'kind'>,
): boolean {
  if (only?.has(device.id) === false) return false;
  if (typeof who !== 'string' && !isOldEnough(device, { madeBy, owner: who.username }))
    return false;
  if (who === 'everything' || device.owner === guestUsername) return true;
  if (device.visibility !== 'private' || granted.has(device.id)) return true;
  return who !== 'public' && who.username === device.owner;
}

/** An actor with all its grants at hand, for asking about many resources without waiting. */
export type Viewer = Awaited<ReturnType<typeof createViewer>>;

/** Fetches what the actor was granted on resources of one kind. */
export async function createViewer(options: {
  readonly actor: Actor;
  readonly kind: ResourceKind;
  readonly grants: Pick<GrantStore, 'listReaching'>;
  readonly settings: PolicySettings;
}) {
  const { actor, kind, settings } = options;
  const granted = new Map<string, readonly Scope[]>();
  if (actor.kind === 'user') {
    const given = new Map<string, Set<Scope>>();
    for (const { resource, scopes } of await options.grants.listReaching(kind, actor.username)) {
      const ofResource = given.get(resource) ?? new Set();
      given.set(resource, ofResource);
      for (const scope of scopes) ofResource.add(scope);
    }
    for (const [id, scopes] of given) granted.set(id, scopesReaching(kind, [...scopes]));
  }
  const reached = new Set(granted.keys());
  const scopesOn = (resource: Resource) => granted.get(resource.id) ?? [];
  return {
    /** Resources that lists show. */
    visibleTo: visibleTo(actor, reached, onlyWithScope(actor, kind, viewScopeOf[kind])),
    /** Beyond what lists show: where a key has any right, be it without the one to view. */
    concernedWith: visibleTo(actor, reached, onlyNamed(actor, kind)),
    /** Of devices: what `may` answers to devices-data:view. */
    dataReach: {
      ...visibleTo(actor, reached, onlyWithScope(actor, kind, 'devices-data:view')),
      granted: new Set(
        [...granted].flatMap(([id, scopes]) => (scopes.includes('devices-data:view') ? id : [])),
      ),
    },
    may: (scope: Scope, resource: Resource) =>
      may(actor, scope, resource, scopesOn(resource), settings),
    effective: (resource: Resource) =>
      effectiveScopes(actor, resource, scopesOn(resource), settings),
  };
}

/** Narrows what may be shown to these ids. */
export function within({ only, ...others }: VisibleTo, ids: readonly string[]): VisibleTo {
  return { ...others, only: new Set(only === undefined ? ids : ids.filter((id) => only.has(id))) };
}

function visibleTo(
  actor: Actor,
  reached: ReadonlySet<string>,
  only: ReadonlySet<string> | undefined,
): VisibleTo {
  if (actor.kind === 'guest') return { who: 'public' };
  const who: VisibleTo['who'] =
    actor.kind === 'admin' ? 'everything' : { username: actor.username, reached };
  if (only === undefined) return { who };
  const madeBy = actor.key?.createdAt;
  return madeBy === undefined ? { who, only } : { who, only, madeBy };
}

function onlyWithScope(
  actor: Actor,
  kind: ResourceKind,
  scope: Scope,
): ReadonlySet<string> | undefined {
  const scopes = actor.kind === 'guest' ? undefined : actor.key?.scopes;
  const isBlind = scopes !== undefined && !scopes.has(scope);
  return isBlind ? new Set() : onlyNamed(actor, kind);
}

/** The ids a key is limited to; it names devices, so it has nothing to do with other kinds. */
function onlyNamed(actor: Actor, kind: ResourceKind): ReadonlySet<string> | undefined {
  const devices = actor.kind === 'guest' ? undefined : actor.key?.devices;
  return devices === undefined || kind === 'device' ? devices : new Set();
}
