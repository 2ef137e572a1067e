import type { Actor } from '../actor.ts';
import { type Payer, payerAt, payerOf, payerOfAccount } from '../budgets/budget.ts';
import type { AccessKeyId, UserId } from '../ids.ts';

/**
 * Whose sessions an actor may take up: a guest those of the same address, or anybody on the
 * Internet could end a connection by its client id. A key has its own, or a device could clear away
 * what waits for its owner, and reach what it must not see.
 */
export function identityOf(actor: Actor): string {
  if (actor.kind === 'guest') return identityOfGuest(payerOf(actor));
  return identityOfAccount(actor.userId, actor.key?.keyId);
}

/** The identity of guests at one address. */
export const identityOfGuest = (payer: Payer): string => `guest/${payer}`;
/** The identity that every guest had before version 0.2; sessions that were kept then have it. */
export const formerGuestIdentity = 'guest';

/** The identity of an account, or of one of its keys. */
export function identityOfAccount(userId: UserId, keyId?: AccessKeyId): string {
  // Ids hold no slash.
  return keyId === undefined ? `user/${userId}` : `key/${userId}/${keyId}`;
}

/** Whether it is of the account or of one of its keys. */
export function isOfAccount(identity: string, userId: UserId): boolean {
  return identity === identityOfAccount(userId) || identity.startsWith(`key/${userId}/`);
}

/** The account, and the key, that a session goes with; undefined for those of guests. */
export function accountOf(
  identity: string,
): { readonly userId: UserId; readonly keyId?: AccessKeyId } | undefined {
  const [kind, userId, keyId] = identity.split('/');
  // Identities are made above, of ids that were parsed.
  if (kind === 'user' && userId !== undefined) return { userId: userId as UserId };
  if (kind !== 'key' || userId === undefined || keyId === undefined) return undefined;
  return { userId: userId as UserId, keyId: keyId as AccessKeyId };
}

/** Payer of a session of which only the identity is known. */
export function payerOfIdentity(identity: string): Payer {
  const account = accountOf(identity);
  return account === undefined ? payerAt('unknown') : payerOfAccount(account.userId);
}
