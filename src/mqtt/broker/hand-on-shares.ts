import type { Payer } from '../../domain/budgets/payer.ts';
import { limits } from '../../domain/limits.ts';
import { createFairSlices } from '../../lib/fair-slices.ts';
import { createTurnShares } from './turn-shares.ts';

/** A message that waits to be handed on. */
export interface Waiting {
  readonly payer: Payer;
  goOn(): void;
}

/**
 * How far messages, of each payer and of all, have looked for those who subscribed, and how many
 * bytes these were handed, in this turn of the event loop: with many wildcards in deep filters one
 * topic may be at tens of thousands of places, thousands of wills may be due at once, and a message
 * of 64 KiB is copied for each of hundreds of subscribers.
 */
export interface HandOnShares {
  /** A message of the payer was looked for at so many places, or took as long to hand on. */
  spend(payer: Payer, places: number): void;
  /**
   * Whether the payer, or all, have had their share of this turn. Then this goes on when it is the
   * payer's turn again; what waits already keeps its place.
   */
  mustWait(waiting: Waiting): boolean;
  /** Whether the payer, or all, have had their share of this turn. */
  isSpent(payer: Payer): boolean;
  /** Resolves when it is the payer's turn. */
  turnOf(payer: Payer): Promise<void>;
}

/** Some three milliseconds of looking. */
const placesPerTurn = 10_000;
/** Of all guests together, and of all accounts: each new one would have a share of its own. */
const placesOfAllPerTurn = 3 * placesPerTurn;
/** Handing it to one who subscribed takes as long as looking at so many places. */
const placesPerRecipient = 10;
/** Copying so many bytes takes as long as looking at one place. */
const bytesPerPlace = 256;

/** The cost of handing a message of so many bytes to one who subscribed, in places. */
export const placesOfRecipient = (bytes: number): number =>
  placesPerRecipient + Math.floor(bytes / bytesPerPlace);

export function createHandOnShares(): HandOnShares {
  const shares = createTurnShares({ own: placesPerTurn, ofAll: placesOfAllPerTurn, least: 100 });
  const waits = new Set<Waiting>();
  const turns = createFairSlices({ turnMs: limits.turnMs });

  function begin(waiting: Waiting): void {
    waits.delete(waiting);
    // Work in fair turns is bounded by them.
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
