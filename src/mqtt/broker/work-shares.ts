import { kindOf, type Payer } from '../../domain/budgets/payer.ts';
import type { Turns } from './turns.ts';

/** How long the packets of each payer have kept others waiting in this turn of the event loop. */
export interface WorkShares {
  /** Whether the payer has had its share of this turn, or all have had theirs. */
  isSpent(payer: Payer): boolean;
  spend(payer: Payer, ms: number): void;
}

/** Packets of one payer that are handled in one go. */
const shareMs = 10;
/** … and of all guests, and of all accounts: each new one would have a share of its own. */
const shareOfAllMs = 2 * shareMs;
/** Less is not worth remembering. */
const leastMs = 0.5;

export function createWorkShares(): WorkShares {
  const spent = new Map<Payer, number>();
  // No account waits behind guests, however many there are.
  const ofAll = { guests: 0, accounts: 0 };

  function endTurn(): void {
    spent.clear();
    ofAll.guests = 0;
    ofAll.accounts = 0;
  }

  return {
    isSpent: (payer) =>
      spent.size > 0 &&
      (ofAll[kindOf(payer)] >= shareOfAllMs || (spent.get(payer) ?? 0) >= shareMs),
    spend(payer, ms) {
      if (ms < leastMs) return;
      if (spent.size === 0) setImmediate(endTurn);
      ofAll[kindOf(payer)] += ms;
      spent.set(payer, (spent.get(payer) ?? 0) + ms);
    },
  };
}

/** A connection that is read from, as long as it is its turn. */
export interface Source {
  readonly payer: Payer;
  pauseReading(): void;
  resumeReading(): void;
}

/** How many packets are handled before a look at the clock. */
const packetsPerLook = 64;
const untimedBytesMax = 512;

/** The packets of one connection: those beyond the share of its payer wait for the next turn. */
export class ReadingTurn {
  readonly #shares: WorkShares;
  readonly #turns: Turns<ReadingTurn>;
  readonly #source: Source;
  #packets = 0;
  #endsAt = 0;
  #isTimed = false;
  #isWaiting = false;

  constructor(shares: WorkShares, turns: Turns<ReadingTurn>, source: Source) {
    this.#shares = shares;
    this.#turns = turns;
    this.#source = source;
  }

  /** So many bytes have arrived, and are handled now; few are not worth a look at the clock. */
  arrived(bytes: number): void {
    this.#isTimed = bytes > untimedBytesMax;
    if (!this.#isTimed) return;
    if (this.#shares.isSpent(this.#source.payer)) this.#wait();
    this.#begin();
  }

  /** Starts the clock for packets that have waited and are handled now. */
  resumed(): void {
    this.#isTimed = true;
    this.#begin();
  }

  #begin(): void {
    this.#packets = 0;
    this.#endsAt = performance.now() + shareMs;
  }

  /** Counts the time spent: the packets have been handled, or wait. */
  end(): void {
    if (!this.#isTimed) return;
    const spentMs = performance.now() - this.#endsAt + shareMs;
    this.#shares.spend(this.#source.payer, spentMs);
  }

  packetHandled(): void {
    this.#packets += 1;
    const isTimeToLook = this.#isTimed && this.#packets % packetsPerLook === 0;
    if (isTimeToLook && performance.now() > this.#endsAt) this.#wait();
  }

  #wait(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#source.pauseReading();
    this.#turns.add(this.#source.payer, this);
  }

  /** Reads on when the connection's turn comes again. */
  goOn(): void {
    this.#isWaiting = false;
    this.#source.resumeReading();
  }
}
