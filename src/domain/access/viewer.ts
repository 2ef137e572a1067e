import type { Actor } from '../actor.ts';
import type { Username } from '../ids.ts';
import type { GrantStore } from './grant-store.ts';
import { effectiveScopes, may, type PolicySettings, type Resource } from './policy.ts';
import { type ResourceKind, type Scope, scopesReaching, viewScopeOf } from './scopes.ts';

/** Which resources a list may show; the domain decides it, the stores obey. */
export interface VisibleTo {
  /** everything: an admin. public: a guest. Else what this user owns, was granted, or is public. */
  readonly who: 'everything' | 'public' | { readonly username: Username };
  /** Nothing but these ids: those an access key is limited to, or those asked for. */
  readonly only?: ReadonlySet<string>;
}

/** An actor with all its grants at hand, for asking about many resources without waiting. */
export interface Viewer {
  /** What lists show. */
  readonly visibleTo: VisibleTo;
  /** Beyond what lists show: where a key has any right, be it without the one to view. */
  readonly concernedWith: VisibleTo;
  may(scope: Scope, resource: Resource): boolean;
  effective(resource: Resource): readonly Scope[];
}

/** Fetches what the actor was granted on resources of one kind. */
export async function createViewer(options: {
  readonly actor: Actor;
  readonly kind: ResourceKind;
  readonly grants: GrantStore;
  readonly settings: PolicySettings;
}): Promise<Viewer> {
  const { actor, kind, settings } = options;
  const granted = new Map<string, readonly Scope[]>();
  if (actor.kind === 'user') {
    for (const { resource, scopes } of await options.grants.listReaching(kind, actor.username)) {
      granted.set(resource, [...(granted.get(resource) ?? []), ...scopes]);
    }
    for (const [resource, scopes] of granted) granted.set(resource, scopesReaching(kind, scopes));
  }
  const scopesOn = (resource: Resource) => granted.get(resource.id) ?? [];
  return {
    visibleTo: visibleTo(actor, onlyVisible(actor, kind)),
    concernedWith: visibleTo(actor, onlyNamed(actor, kind)),
    may: (scope, resource) => may(actor, scope, resource, scopesOn(resource), settings),
    effective: (resource) => effectiveScopes(actor, resource, scopesOn(resource), settings),
  };
}

/** What may be shown, and of that only these ids. */
export function within({ who, only }: VisibleTo, ids: readonly string[]): VisibleTo {
  return { who, only: new Set(only === undefined ? ids : ids.filter((id) => only.has(id))) };
}

function visibleTo(actor: Actor, only: ReadonlySet<string> | undefined): VisibleTo {
  if (actor.kind === 'guest') return { who: 'public' };
  const who = actor.kind === 'admin' ? 'everything' : { username: actor.username };
  return only === undefined ? { who } : { who, only };
}

function onlyVisible(actor: Actor, kind: ResourceKind): ReadonlySet<string> | undefined {
  const scopes = actor.kind === 'guest' ? undefined : actor.key?.scopes;
  const isBlind = scopes !== undefined && !scopes.has(viewScopeOf[kind]);
  return isBlind ? new Set() : onlyNamed(actor, kind);
}

/** The ids a key is limited to; it names devices, so it has nothing to do with other kinds. */
function onlyNamed(actor: Actor, kind: ResourceKind): ReadonlySet<string> | undefined {
  const devices = actor.kind === 'guest' ? undefined : actor.key?.devices;
  return devices === undefined || kind === 'device' ? devices : new Set();
}
