import { createLruCache } from '../../lib/cache.ts';
import { type Actor, isImport } from '../actor.ts';
import { DomainError } from '../errors.ts';
import { guestUsername, type Username } from '../ids.ts';
import { limits } from '../limits.ts';
import { type Payer, payerOf } from './budget.ts';

/**
 * Usage of each payer since the start, of the quota of all guests and strangers: one address, or
 * account, may take half. Kept in memory, for a bounded number of payers; those who were quiet for
 * longest are forgotten.
 */
export function createGuestShares() {
  const taken = createLruCache<Payer, number>(limits.guestAddressesMax);
  return {
    /**
     * Whether the actor's payer took half of what all guests may have. As long as all guests
     * together have less than that, what it took was removed again, and it may go on.
     */
    isUsedUp(actor: Actor, { used, max }: { used: number; max: number }): boolean {
      if (used < max / 2) return false;
      return (taken.get(payerOf(actor)) ?? 0) >= max / 2;
    },
    /** Counts what the actor took; a negative amount gives back. */
    add(actor: Actor, amount: number): void {
      const payer = payerOf(actor);
      taken.set(payer, Math.max(0, (taken.get(payer) ?? 0) + amount));
    },
  };
}
export type GuestShares = ReturnType<typeof createGuestShares>;

/**
 * Lets the actor make one of `what`; throws limit_reached for an account that has `each` already,
 * but for an administrator who imports. One that a guest makes counts for the address, and not any
 * more when `make` answers 'duplicate' or throws. Throws unavailable when guests have all they may
 * have, limit_reached when the address has half of that.
 */
export async function makeWithin<Outcome extends string>(
  guests: {
    readonly shares: GuestShares;
    readonly what: string;
    readonly max: number;
    /** Of one account; absent: no limit but the quota of its bytes. */
    readonly each?: number;
    readonly store: { countOwnedBy(owner: Username): Promise<number> };
  },
  actor: Actor,
  make: () => Promise<Outcome>,
): Promise<Outcome> {
  const { shares, what, max, each, store } = guests;
  if (actor.kind !== 'guest') {
    const isFree = each === undefined || isImport(actor);
    if (!isFree && (await store.countOwnedBy(actor.username)) >= each) {
      throw new DomainError(
        'limit_reached',
        `no room for more ${what}: you have ${each} already, delete one that is not needed`,
      );
    }
    return make();
  }
  const used = await store.countOwnedBy(guestUsername);
  if (used >= max) {
    throw new DomainError(
      'unavailable',
      `there are ${max} ${what} without an owner already: log in to add yours`,
    );
  }
  if (shares.isUsedUp(actor, { used, max })) {
    throw new DomainError(
      'limit_reached',
      `guests at your address made half of the ${max} ${what} that all guests may have: log in ` +
        'to add yours',
    );
  }
  shares.add(actor, 1);
  let outcome: Outcome | undefined;
  try {
    outcome = await make();
    return outcome;
  } finally {
    if (outcome === undefined || outcome === 'duplicate') shares.add(actor, -1);
  }
}
