import type { Payer } from '../../domain/budgets/payer.ts';
import { createTurnShares, type TurnShares } from './turn-shares.ts';
import type { Slices } from './turns.ts';

/** Milliseconds that packets have kept others waiting in this slice of the event loop. */
export type WorkShares = Pick<TurnShares, 'isSpent' | 'spend'>;

/** Packets of one payer that are handled in one go. */
const shareMs = 10;

export const createWorkShares = (): WorkShares =>
  createTurnShares({ own: shareMs, ofAll: 2 * shareMs, least: 0.5 });

/** A connection that is read from in its slices. */
export interface Source {
  readonly payer: Payer;
  pauseReading(): void;
  resumeReading(): void;
}

/** How many packets are handled between two readings of the clock. */
const packetsPerLook = 64;
const untimedBytesMax = 512;

/** The packets of one connection: those beyond the quota of its payer wait for the next slice. */
export class ReadingSlice {
  readonly #shares: WorkShares;
  readonly #turns: Slices<ReadingSlice>;
  readonly #source: Source;
  #packets = 0;
  #endsAt = 0;
  #isTimed = false;
  #isWaiting = false;

  constructor(shares: WorkShares, turns: Slices<ReadingSlice>, source: Source) {
    this.#shares = shares;
    this.#turns = turns;
    this.#source = source;
  }

  /** So many bytes have arrived, and are handled now; few are not worth reading the clock. */
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

  /** Reads on in the connection's next slice. */
  goOn(): void {
    this.#isWaiting = false;
    this.#source.resumeReading();
  }
}
