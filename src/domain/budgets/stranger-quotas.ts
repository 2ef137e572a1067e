import type { Actor } from '../actor.ts';
import { DomainError } from '../errors.ts';
import type { Username } from '../ids.ts';
import type { GuestShares } from './guest-shares.ts';

/** Limits of a push of a stranger. */
export interface StrangerLimits {
  /** Of the owner of the device; absent: none. */
  readonly quota: number | undefined;
  /** Bytes that have no owner. */
  readonly guests: number;
  /** Limit of guests and strangers together. */
  readonly guestsMax: number;
}

/**
 * Quota for what strangers push to public devices: those who may only because they are public. It
 * takes at most a quarter of the owner's quota, and counts in the total of guests [contract 15].
 */
export interface StrangerQuotas {
  /**
   * Reserves quota for a push; the caller says afterwards how much was stored. Throws storage_full.
   */
  hold(
    push: { readonly actor: Actor; readonly owner: Username; readonly bytes: number },
    limits: StrangerLimits,
  ): (stored: number) => void;
  /** Counts what was stored; a negative number gives quota back. */
  add(owner: Username, bytes: number): void;
  of(owner: Username): number;
  /** Bytes of all owners that are stored or about to be. */
  total(): number;
  /** Takes over what was counted from the store. */
  recount(uses: ReadonlyMap<Username, number>): void;
}

const partOfQuota = 4;

export function createStrangerQuotas(shares: GuestShares): StrangerQuotas {
  // By the username in lower case.
  const stored = new Map<string, number>();
  const held = new Map<string, number>();
  let total = 0;

  function put(into: Map<string, number>, owner: Username, bytes: number): void {
    const key = owner.toLowerCase();
    const before = into.get(key) ?? 0;
    const after = Math.max(0, before + bytes);
    total += after - before;
    if (after === 0) into.delete(key);
    else into.set(key, after);
  }
  const usedOf = (owner: Username): number => stored.get(owner.toLowerCase()) ?? 0;

  return {
    hold({ actor, owner, bytes }, { quota, guests, guestsMax }) {
      const used = usedOf(owner) + (held.get(owner.toLowerCase()) ?? 0);
      const max = quota === undefined ? undefined : Math.floor(quota / partOfQuota);
      if (max !== undefined && used + bytes > max) {
        throw full(
          `others pushed ${used} of the ${max} bytes to what ${owner} owns that they may, a ` +
            'quarter of its quota: its owner must share the device with you',
        );
      }
      const ofAll = guests + total;
      if (ofAll + bytes > guestsMax || shares.isUsedUp(actor, { used: ofAll, max: guestsMax })) {
        throw full(
          `guests, and strangers on public devices, filled what they may of ${guestsMax} bytes: ` +
            `${owner} must share the device with you, or an administrator raise ` +
            'KIPIMO_QUOTA_GUESTS_BYTES',
        );
      }
      put(held, owner, bytes);
      return (bytesStored) => {
        put(held, owner, -bytes);
        shares.add(actor, bytesStored);
      };
    },
    add: (owner, bytes) => put(stored, owner, bytes),
    of: usedOf,
    total: () => total,
    recount(uses) {
      for (const bytes of stored.values()) total -= bytes;
      stored.clear();
      for (const [owner, bytes] of uses) put(stored, owner, bytes);
    },
  };
}

const full = (sentence: string): DomainError => new DomainError('storage_full', sentence);
