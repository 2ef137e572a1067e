import { type Access, requireAccount } from '../access/access.ts';
import type { Grant, OwnedGrant } from '../access/grant.ts';
import type { GrantStore } from '../access/grant-store.ts';
import type { Resource } from '../access/policy.ts';
import { type ResourceKind, type Scope, scopesOf } from '../access/scopes.ts';
import { createViewer, type VisibleTo } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import { forbidden, invalid, notFound } from '../errors.ts';
import { guestUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from '../users/account-access.ts';
import type { UserStore } from '../users/user-store.ts';

/** What the actor may do with one resource, as /auth/permissions reports it. */
export interface Permission {
  readonly resource: string;
  readonly scopes: readonly Scope[];
}

/** Owners give rights to users, and everybody can ask what rights they have. */
export interface Sharing {
  listGrants(actor: Actor, kind: ResourceKind, id: string): Promise<readonly Grant[]>;
  /** Sets what `username` may do; an empty list revokes. Effective at once. */
  grant(
    actor: Actor,
    kind: ResourceKind,
    id: string,
    to: { username: Username; scopes: readonly Scope[] },
  ): Promise<void>;
  revoke(actor: Actor, kind: ResourceKind, id: string, username: Username): Promise<void>;
  mine(actor: Actor): Promise<{
    readonly given: readonly OwnedGrant[];
    readonly received: readonly OwnedGrant[];
  }>;
  /** Everything of this kind on which the actor has a right, in steps of bounded size. */
  permissions(actor: Actor, kind: ResourceKind): AsyncIterable<readonly Permission[]>;
}

export function createSharing(options: {
  readonly grants: GrantStore;
  readonly users: UserStore;
  readonly access: Access;
  /** The device, gateway or project with this id. Throws invalid, not_found. */
  readonly findResource: (kind: ResourceKind, id: string) => Promise<Resource>;
  /** In order of creation. */
  readonly listResources: (
    kind: ResourceKind,
    page: { visibleTo: VisibleTo; limit: number; offset: number },
  ) => Promise<readonly Resource[]>;
}): Sharing {
  const { grants, users, access } = options;

  /** The thing to share, if it is the actor's to share. */
  async function requireShareable(actor: Actor, kind: ResourceKind, id: string): Promise<Resource> {
    requireAccount(actor);
    const resource = await options.findResource(kind, id);
    access.requireOwner(actor, resource);
    // A grant planted while nobody owned it would outlive the day somebody takes it over.
    if (resource.owner === guestUsername) {
      const way = kind === 'project' ? 'make one of your own' : 'set its owner first';
      throw forbidden(`this ${kind} has no owner and is everybody's: ${way}`);
    }
    return resource;
  }

  return {
    async listGrants(actor, kind, id) {
      await requireShareable(actor, kind, id);
      return grants.listOn(kind, id);
    },
    async grant(actor, kind, id, to) {
      const resource = await requireShareable(actor, kind, id);
      const user = await users.findByUsername(to.username);
      if (user === undefined) throw notFound(`there is no user ${to.username}`);
      if (user.username === resource.owner) {
        throw invalid(`${user.username} owns this ${kind} and has every right already`);
      }
      if (to.scopes.length === 0) {
        await grants.remove(kind, id, user.username);
        return;
      }
      const others = (await grants.listOn(kind, id)).filter(
        ({ username }) => username !== user.username,
      );
      if (others.length >= limits.grantsPerResourceMax) {
        throw invalid(`a ${kind} may be shared with ${limits.grantsPerResourceMax} users`);
      }
      const scopes = scopesOf[kind].filter((scope) => to.scopes.includes(scope));
      await grants.put({ kind, resource: id, username: user.username, scopes });
    },
    async revoke(actor, kind, id, username) {
      await requireShareable(actor, kind, id);
      const user = await users.findByUsername(username);
      if (user === undefined) throw notFound(`there is no user ${username}`);
      await grants.remove(kind, id, user.username);
    },
    async mine(actor) {
      const { username } = requirePerson(actor);
      const [given, received] = await Promise.all([
        grants.listGivenBy(username),
        grants.listReceivedBy(username),
      ]);
      return { given, received };
    },
    async *permissions(actor, kind) {
      const { settings } = access;
      const viewer = await createViewer({ actor, kind, grants, settings });
      const visibleTo = viewer.concernedWith;
      const limit = limits.resourcesPerStep;
      for (let offset = 0; ; offset += limit) {
        const step = await options.listResources(kind, { visibleTo, limit, offset });
        yield step
          .map((resource) => ({ resource: resource.id, scopes: viewer.effective(resource) }))
          .filter(({ scopes }) => scopes.length > 0);
        if (step.length < limit) return;
      }
    },
  };
}
