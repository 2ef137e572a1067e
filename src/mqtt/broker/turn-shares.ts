import { kindOf, type Payer } from '../../domain/budgets/payer.ts';

/**
 * Quotas of each slice of the event loop: one of each payer, one of all guests, and one of all
 * accounts. Without the latter each new payer would have a quota of its own; no account waits
 * behind guests, however many there are.
 */
export interface TurnShares {
  /** Whether the payer, or the crowd that it belongs to, has used up its quota of this slice. */
  isSpent(payer: Payer): boolean;
  spend(payer: Payer, amount: number): void;
  /** Begins the count of the payer and of its crowd anew. */
  renew(payer: Payer): void;
}

/** `least`: smaller amounts are not worth remembering. */
export function createTurnShares({
  own,
  ofAll,
  least,
}: {
  readonly own: number;
  readonly ofAll: number;
  readonly least: number;
}): TurnShares {
  const spent = new Map<Payer, number>();
  const spentOfAll = { guests: 0, accounts: 0 };

  function endTurn(): void {
    spent.clear();
    spentOfAll.guests = 0;
    spentOfAll.accounts = 0;
  }

  return {
    isSpent: (payer) =>
      spent.size > 0 && (spentOfAll[kindOf(payer)] >= ofAll || (spent.get(payer) ?? 0) >= own),
    spend(payer, amount) {
      if (amount < least) return;
      if (spent.size === 0) setImmediate(endTurn);
      spentOfAll[kindOf(payer)] += amount;
      spent.set(payer, (spent.get(payer) ?? 0) + amount);
    },
    renew(payer) {
      spent.delete(payer);
      spentOfAll[kindOf(payer)] = 0;
    },
  };
}
