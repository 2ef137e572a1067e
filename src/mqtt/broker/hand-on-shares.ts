import type { Payer } from '../../domain/budgets/payer.ts';
import { limits } from '../../domain/limits.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import { createTurnShares } from './turn-shares.ts';

/** A message that waits to be handed on. */
export interface Waiting {
  readonly payer: Payer;
  goOn(): void;
}

/**
 * Quotas of each slice of the event loop, of each payer and of all, for searching subscribers of
 * messages and for bytes handed to them: with many wildcards in deep filters one topic may be at
 * tens of thousands of places, thousands of wills may be due at once, and a message of 64 KiB is
 * copied for each of hundreds of subscribers.
 */
export interface HandOnShares {
  /** Charges the payer for a message searched at so many places, or as long to hand on. */
  spend(payer: Payer, places: number): void;
  /**
   * Whether the payer, or all, have used up the quota of this slice. Then `waiting` goes on in the
   * payer's next slice; work that waits already keeps its place.
   */
  mustWait(waiting: Waiting): boolean;
  /** Whether the payer, or all, have used up the quota of this slice. */
  isSpent(payer: Payer): boolean;
  /** Resolves in a slice in which the payer has quota left. */
  turnOf(payer: Payer): Promise<void>;
}

/** Some three milliseconds of searching. */
const placesPerTurn = 10_000;
/** Of all guests together, and of all accounts: each new one would have a quota of its own. */
const placesOfAllPerTurn = 3 * placesPerTurn;
/** Handing a message to one subscriber takes as long as searching so many places. */
const placesPerRecipient = 10;
/** Copying so many bytes takes as long as searching one place. */
const bytesPerPlace = 256;

/** The cost of handing a message of so many bytes to one subscriber, in places. */
export const placesOfRecipient = (bytes: number): number =>
  placesPerRecipient + Math.floor(bytes / bytesPerPlace);

export function createHandOnShares(): HandOnShares {
  const shares = createTurnShares({ own: placesPerTurn, ofAll: placesOfAllPerTurn, least: 100 });
  const waits = new Set<Waiting>();
  const turns = createFairSlices({ turnMs: limits.turnMs });

  function begin(waiting: Waiting): void {
    waits.delete(waiting);
    // Work in fair slices is bounded by them.
    shares.renew(waiting.payer);
    waiting.goOn();
  }

  function mustWait(waiting: Waiting): boolean {
    if (!shares.isSpent(waiting.payer)) return false;
    if (waits.has(waiting)) return true;
    waits.add(waiting);
    void turns
      .paceOf(waiting.payer)
      .rest()
      .then(() => begin(waiting));
    return true;
  }

  return {
    ...{ mustWait, spend: shares.spend, isSpent: shares.isSpent },
    async turnOf(payer) {
      for (;;) {
        const { promise, resolve: goOn } = Promise.withResolvers<void>();
        if (!mustWait({ payer, goOn })) return;
        await promise;
      }
    },
  };
}
