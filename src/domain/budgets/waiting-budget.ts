import type { Budget } from './budget.ts';
import { isGuestPayer, type Payer } from './payer.ts';

/** Budget of what has begun to arrive: when it is full, the connection that waits longest ends. */
export interface WaitingBudget {
  /** A place that takes nothing yet. `payerOf` is asked each time that it begins to. */
  place(of: { readonly payerOf: () => Payer; readonly end: () => void }): WaitingPlace;
}

/** Place of one connection in the waiting budget. */
export interface WaitingPlace {
  /**
   * So many bytes wait from now on; 0: none do, and what comes next is the newest. false: the
   * budget is full, and they are not counted.
   */
  hold(bytes: number): boolean;
}

interface Waiting {
  readonly end: () => void;
  payer: Payer | undefined;
  bytes: number;
}

/** Waiting connections, the longest wait first. */
type Line = Set<Waiting>;

export function createWaitingBudget(budget: Budget): WaitingBudget {
  const guests: Line = new Set();
  const lines = new Map<Payer, Line>();

  function enter(waiting: Waiting, payer: Payer): void {
    waiting.payer = payer;
    const line = lines.get(payer) ?? new Set();
    lines.set(payer, line.add(waiting));
    if (isGuestPayer(payer)) guests.add(waiting);
  }

  function leave(waiting: Waiting): void {
    const { payer, bytes } = waiting;
    if (payer === undefined) return;
    budget.release(payer, bytes);
    Object.assign(waiting, { payer: undefined, bytes: 0 });
    guests.delete(waiting);
    const line = lines.get(payer);
    line?.delete(waiting);
    if (line?.size === 0) lines.delete(payer);
  }

  /** Frees budget as long as another connection has waited longer. */
  function take(waiting: Waiting, payer: Payer, more: number): boolean {
    for (;;) {
      const refusal = budget.take(payer, more);
      if (refusal === undefined) return true;
      const line = refusal.scope === 'own' || guests.size === 0 ? lines.get(payer) : guests;
      const [longest] = line ?? [];
      if (longest === undefined || longest === waiting) return false;
      leave(longest);
      longest.end();
    }
  }

  return {
    place({ payerOf, end }) {
      const waiting: Waiting = { end, payer: undefined, bytes: 0 };
      return {
        hold(bytes) {
          if (bytes === 0) leave(waiting);
          const more = bytes - waiting.bytes;
          if (more === 0) return true;
          const payer = waiting.payer ?? payerOf();
          if (more > 0 && !take(waiting, payer, more)) {
            leave(waiting);
            return false;
          }
          if (more < 0) budget.release(payer, -more);
          if (waiting.payer === undefined) enter(waiting, payer);
          waiting.bytes = bytes;
          return true;
        },
      };
    },
  };
}
