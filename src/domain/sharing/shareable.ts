import { type Access, requireAccount } from '../access/access.ts';
import type { Resource } from '../access/policy.ts';
import { grantableOn, type ResourceKind, type Scope } from '../access/scopes.ts';
import type { Actor } from '../actor.ts';
import { forbidden, invalid } from '../errors.ts';
import { guestUsername } from '../ids.ts';
import { limits } from '../limits.ts';

/** The thing to share, if it is the actor's to share. Throws invalid, forbidden, not_found. */
export type RequireShareable = (actor: Actor, kind: ResourceKind, id: string) => Promise<Resource>;

export function createRequireShareable(options: {
  readonly access: Access;
  /** The device, gateway or project with this id. Throws invalid, not_found. */
  readonly findResource: (kind: ResourceKind, id: string) => Promise<Resource>;
}): RequireShareable {
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
