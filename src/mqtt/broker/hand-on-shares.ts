import type { Payer } from '../../domain/budgets/payer.ts';
import { createTurns } from './turns.ts';

/** What waits to be handed on. */
export interface Waiting {
  readonly payer: Payer;
  goOn(): void;
}

/**
 * How far each payer's messages have looked for those who subscribed, in this turn of the event
 * loop: with many wildcards in deep filters one topic may be at tens of thousands of places.
 */
export interface HandOnShares {
  /** A message of the payer was looked for at so many places. */
  spend(payer: Payer, places: number): void;
  /**
   * Whether the payer has had its share of this turn. Then this goes on when it is the payer's turn
   * again; what waits already keeps its place.
   */
  mustWait(waiting: Waiting): boolean;
}

/** Some three milliseconds of looking. */
const placesPerTurn = 10_000;
/** Fewer are not worth remembering. */
const leastPlaces = 100;

export function createHandOnShares(): HandOnShares {
  const spent = new Map<Payer, number>();
  const turns = createTurns<Waiting>((waiting) => {
    spent.delete(waiting.payer);
    waiting.goOn();
    return false;
  });
  return {
    spend(payer, places) {
      if (places < leastPlaces) return;
      if (spent.size === 0) setImmediate(() => spent.clear());
      spent.set(payer, (spent.get(payer) ?? 0) + places);
    },
    mustWait(waiting) {
      const isSpent = spent.size > 0 && (spent.get(waiting.payer) ?? 0) >= placesPerTurn;
      if (isSpent) turns.add(waiting.payer, waiting);
      return isSpent;
    },
  };
}
