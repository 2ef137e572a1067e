import type { Actor } from '../actor.ts';
import { forbidden, notFound } from '../errors.ts';
import type { UserId, Username } from '../ids.ts';
import type { GrantStore } from './grant.ts';
import type { Access } from './policy.ts';
import { type Resource, viewScopeOf } from './scopes.ts';

interface Account {
  readonly id: UserId;
  readonly username: Username;
}

interface HandingOver {
  readonly access: Access;
  readonly users: {
    find(id: UserId): Promise<Account | undefined>;
    findByUsername(username: string): Promise<Account | undefined>;
  };
  readonly grants: Pick<GrantStore, 'find' | 'put' | 'remove'>;
}

/**
 * Answers the changes that hand a thing over. Until the receiver accepts, the giver owns it and the
 * receiver may see it; no acceptance is needed when an administrator hands it over, or an actor
 * takes it [contract 15]. Throws forbidden, not_found.
 */
export async function handingOver(
  { access, users, grants }: HandingOver,
  actor: Actor,
  { resource, offeredTo }: { readonly resource: Resource; readonly offeredTo?: UserId | undefined },
  to: Username,
): Promise<{ readonly owner?: Username; readonly offeredTo: UserId | undefined }> {
  access.requireOwner(actor, resource);
  if (actor.kind === 'guest') throw forbidden('guests hand nothing over: log in first');
  const { kind, id } = resource;
  const user = await users.findByUsername(to);
  if (user === undefined) throw notFound(`there is no user ${to}`);
  const before = offeredTo && (await users.find(offeredTo));
  if (before && before.id !== user.id) {
    const granted = await grants.find(kind, id, before.username);
    if (granted.every((scope) => scope === viewScopeOf[kind])) {
      await grants.remove(kind, id, before.username);
    }
  }
  if (user.username === resource.owner) return { offeredTo: undefined };
  if (actor.kind === 'admin' || actor.userId === user.id) {
    return { owner: user.username, offeredTo: undefined };
  }
  const isHidden = resource.visibility === 'private';
  if (isHidden && (await grants.find(kind, id, user.username)).length === 0) {
    await grants.put({ kind, resource: id, username: user.username, scopes: [viewScopeOf[kind]] });
  }
  return { offeredTo: user.id };
}

/** The account that takes what it was offered; undefined: nothing is. Throws forbidden. */
export function acceptorOf(
  access: Access,
  actor: Actor,
  { resource, offeredTo }: { readonly resource: Resource; readonly offeredTo?: UserId | undefined },
): Username | undefined {
  const isOffered = offeredTo !== undefined;
  if (isOffered && actor.kind !== 'guest' && actor.userId === offeredTo) {
    if (actor.key === undefined) return actor.username;
  }
  access.requireOwner(actor, resource);
  if (isOffered) throw forbidden(`this ${resource.kind} was offered to somebody else`);
  return undefined;
}

/** Whether the actor is to know that it waits to be accepted: its owner and the receiver. */
export function knowsOffer(
  actor: Actor,
  { owner, offeredTo }: { owner: Username; offeredTo?: UserId },
): boolean {
  if (offeredTo === undefined || actor.kind === 'guest') return false;
  return actor.userId === offeredTo || actor.username === owner;
}
