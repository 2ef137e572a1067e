import { kindOf, type Payer } from '../../domain/budgets/budget.ts';
import { limits } from '../../domain/limits.ts';
import { createFairSlices, type FairSlices } from '../../lib/scheduling/fair-slices.ts';

/**
 * Quotas of each slice of the event loop: one of each payer, one of all guests, and one of all
 * accounts. Without the latter each new payer would have a quota of its own; no account waits
 * behind guests, however many there are. Amounts below `least` count for all together.
 */
export function createTurnShares({
  own,
  ofAll,
  least,
}: {
  readonly own: number;
  readonly ofAll: number;
  readonly least: number;
}) {
  const spent = new Map<Payer, number>();
  const spentOfAll = { guests: 0, accounts: 0 };
  let isCounting = false;

  function endTurn(): void {
    isCounting = false;
    spent.clear();
    spentOfAll.guests = 0;
    spentOfAll.accounts = 0;
  }

  return {
    /** Whether the payer, or the crowd that it belongs to, has used up its quota of this slice. */
    isSpent: (payer: Payer): boolean =>
      isCounting && (spentOfAll[kindOf(payer)] >= ofAll || (spent.get(payer) ?? 0) >= own),
    spend(payer: Payer, amount: number): void {
      if (!isCounting) setImmediate(endTurn);
      isCounting = true;
      spentOfAll[kindOf(payer)] += amount;
      if (amount >= least) spent.set(payer, (spent.get(payer) ?? 0) + amount);
    },
    /** Begins the count of the payer and of its crowd anew. */
    renew(payer: Payer): void {
      spent.delete(payer);
      spentOfAll[kindOf(payer)] = 0;
    },
  };
}

/** A message that waits to be handed on. */
export interface Waiting {
  readonly payer: Payer;
  goOn(): void;
}

/** Accounts still begin in a turn of the event loop that guests have used up. */
const accountsUntilMs = 10;
export type Readers = ReturnType<typeof createReaders>;

/**
 * Slices in which packets are handled: those who connect wait behind no packets, and no account
 * waits behind guests, however many there are.
 */
export function createReaders() {
  const { turnMs } = limits;
  const arriving = createFairSlices({ turnMs });
  const byKind = {
    accounts: createFairSlices({ turnMs, untilMs: accountsUntilMs }),
    guests: createFairSlices({ turnMs }),
  };
  return (payer: Payer, isArriving: boolean): FairSlices =>
    isArriving ? arriving : byKind[kindOf(payer)];
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

export type HandOnShares = ReturnType<typeof createHandOnShares>;

/**
 * Quotas of each slice of the event loop, of each payer and of all, for searching subscribers of
 * messages and for bytes handed to them: with many wildcards in deep filters one topic may be at
 * tens of thousands of places, thousands of wills may be due at once, and a message of 64 KiB is
 * copied for each of hundreds of subscribers.
 */
export function createHandOnShares() {
  const shares = createTurnShares({ own: placesPerTurn, ofAll: placesOfAllPerTurn, least: 100 });
  const waits = new Set<Waiting>();
  const slices = createFairSlices({ turnMs: limits.turnMs });

  function begin(waiting: Waiting): void {
    waits.delete(waiting);
    // Work in fair slices is bounded by them.
    shares.renew(waiting.payer);
    waiting.goOn();
  }

  /**
   * Whether the payer, or all, have used up the quota of this slice. Then `waiting` goes on in the
   * payer's next slice; work that waits already keeps its place.
   */
  function mustWait(waiting: Waiting): boolean {
    if (!shares.isSpent(waiting.payer)) return false;
    if (waits.has(waiting)) return true;
    waits.add(waiting);
    void slices.next(waiting.payer).then(() => begin(waiting));
    return true;
  }

  /** Resolves in a slice in which the payer has quota left. */
  async function turnOf(payer: Payer): Promise<void> {
    for (;;) {
      const { promise, resolve: goOn } = Promise.withResolvers<void>();
      if (!mustWait({ payer, goOn })) return;
      await promise;
    }
  }

  return { mustWait, turnOf, spend: shares.spend, isSpent: shares.isSpent };
}
