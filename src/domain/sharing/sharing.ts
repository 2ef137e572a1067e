import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { GrantStore } from '../access/grant.ts';
import { type Access, requireAccount } from '../access/policy.ts';
import { grantableOn, type Resource, type ResourceKind, type Scope } from '../access/scopes.ts';
import { createViewer, type VisibleTo } from '../access/viewer.ts';
import type { Actor } from '../actor.ts';
import { forbidden, invalid, notFound } from '../errors.ts';
import { type GroupStore, requireGroup } from '../groups/groups.ts';
import { type GroupId, guestUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { requirePerson } from '../users/account-access.ts';
import type { UserStore } from '../users/user.ts';

/** Finds the thing to share, if it is the actor's. Throws invalid, forbidden, not_found. */
export function createRequireShareable(options: {
  readonly access: Access;
  /** The device, gateway or project with this id. Throws invalid, not_found. */
  readonly findResource: (kind: ResourceKind, id: string) => Promise<Resource>;
}): (actor: Actor, kind: ResourceKind, id: string) => Promise<Resource> {
  return async (actor, kind, id) => {
    requireAccount(actor);
    const resource = await options.findResource(kind, id);
    options.access.requireOwner(actor, resource);
    // A grant planted while it has no owner would outlive the day an account takes it over.
    if (resource.owner === guestUsername) {
      const remedy = kind === 'project' ? 'make one of your own' : 'set its owner first';
      throw forbidden(`this ${kind} has no owner and is everybody's: ${remedy}`);
    }
    return resource;
  };
}

/** Throws invalid when a thing that is shared with so many can be shared with no other. */
export function requireRoom(kind: ResourceKind, others: number): void {
  if (others < limits.grantsPerResourceMax) return;
  throw invalid(`a ${kind} may be shared with ${limits.grantsPerResourceMax} users and groups`);
}

/** Scopes of these that a grant on this kind may give, in the order of `grantableOn`. */
export function inOrder(kind: ResourceKind, scopes: readonly Scope[]): readonly Scope[] {
  return grantableOn[kind].filter((scope) => scopes.includes(scope));
}

/** Grants by which owners give rights to users, and answers which rights a user has. */
export function createSharing(options: {
  readonly grants: GrantStore;
  readonly users: UserStore;
  readonly groups: GroupStore;
  readonly access: Access;
  /** The device, gateway or project with this id. Throws invalid, not_found. */
  readonly findResource: (kind: ResourceKind, id: string) => Promise<Resource>;
  /** Lists all that may be shown, step by step, in order of creation. A step may be empty. */
  readonly listResources: (
    kind: ResourceKind,
    visibleTo: VisibleTo,
  ) => AsyncIterable<readonly Resource[]>;
}) {
  const { grants, users, groups, access } = options;
  const requireShareable = createRequireShareable(options);

  return {
    async listGrants(actor: Actor, kind: ResourceKind, id: string) {
      await requireShareable(actor, kind, id);
      const [toUsers, toGroups] = await Promise.all([
        grants.listOn(kind, id),
        grants.listGroupsOn(kind, id),
      ]);
      return { users: toUsers, groups: toGroups };
    },
    /** Sets what `username` may do; an empty list revokes. Effective at once. */
    async grant(
      actor: Actor,
      kind: ResourceKind,
      id: string,
      to: { username: Username; scopes: readonly Scope[] },
    ): Promise<void> {
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
      requireRoom(kind, others.length);
      const scopes = inOrder(kind, to.scopes);
      const outcome = await grants.put({ kind, resource: id, username: user.username, scopes });
      if (outcome === 'missing') throw notFound(`the ${kind} or the user was deleted meanwhile`);
    },
    async revoke(actor: Actor, kind: ResourceKind, id: string, username: Username): Promise<void> {
      await requireShareable(actor, kind, id);
      const user = await users.findByUsername(username);
      if (user === undefined) throw notFound(`there is no user ${username}`);
      await grants.remove(kind, id, user.username);
    },
    /** As `grant`, for the members of one of the actor's groups while they are in it. */
    async grantToGroup(
      actor: Actor,
      kind: ResourceKind,
      id: string,
      { groupId, scopes }: { groupId: GroupId; scopes: readonly Scope[] },
    ): Promise<void> {
      await requireShareable(actor, kind, id);
      await requireGroup(groups, actor, groupId);
      if (scopes.length === 0) {
        await grants.removeForGroup(kind, id, groupId);
        return;
      }
      const others = (await grants.listGroupsOn(kind, id)).filter(
        (grant) => grant.groupId !== groupId,
      );
      requireRoom(kind, others.length);
      const grant = { kind, resource: id, groupId, scopes: inOrder(kind, scopes) };
      const outcome = await grants.putForGroup(grant);
      if (outcome === 'missing') throw notFound(`the ${kind} or the group was deleted meanwhile`);
    },
    async revokeFromGroup(
      actor: Actor,
      kind: ResourceKind,
      id: string,
      groupId: GroupId,
    ): Promise<void> {
      await requireShareable(actor, kind, id);
      // The owner of the thing may end the grant, whosever group it is.
      await grants.removeForGroup(kind, id, groupId);
    },
    async mine(actor: Actor) {
      const { username } = requirePerson(actor);
      const [given, received, givenToGroups, receivedByGroups] = await Promise.all([
        grants.listGivenBy(username),
        grants.listReceivedBy(username),
        grants.listGroupsGivenBy(username),
        grants.listGroupsReceivedBy(username),
      ]);
      return { given, received, givenToGroups, receivedByGroups };
    },
    /** Everything of this kind on which the actor has a right, in steps of bounded size. */
    async *permissions(actor: Actor, kind: ResourceKind) {
      const { settings } = access;
      const viewer = await createViewer({ actor, kind, grants, settings });
      const visibleTo = viewer.concernedWith;
      for await (const step of options.listResources(kind, visibleTo)) {
        yield step
          .map((resource) => ({ resource: resource.id, scopes: viewer.effective(resource) }))
          .filter(({ scopes }) => scopes.length > 0);
        await yieldToEventLoop();
      }
    },
  };
}
export type Sharing = ReturnType<typeof createSharing>;
