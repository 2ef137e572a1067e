import { createFairTurns, type Pace } from '../../lib/fair-turns.ts';
import type { Actor } from '../actor.ts';
import { invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import type { Budget } from './budget.ts';
import { payerOf } from './payer.ts';

/** Work over many things: it takes turns, so that nobody else waits for it. */
export interface LongWork {
  /** The pace of an answer that is written while it is read; its length is the reader's affair. */
  paceOf(actor: Actor): Pace;
  /**
   * Runs work whose answer comes at its end: few at once for each payer, and of bounded length.
   * Throws rate_limited; the work throws invalid at its next rest when it took too long.
   */
  run<Result>(actor: Actor, work: (pace: Pace) => Promise<Result>): Promise<Result>;
  /**
   * Counts an answer that holds much while it is read, from its first step until its last or its
   * reader's end. Throws rate_limited at the first step.
   */
  during<Step>(actor: Actor, steps: AsyncIterable<Step>): AsyncIterable<Step>;
}

export function createLongWork({ budget }: { readonly budget: Budget }): LongWork {
  const turns = createFairTurns({ turnMs: limits.turnMs });
  const limit = { workMsMax: limits.longWorkMsMax, onTooMuch: tooMuchWork };
  return {
    paceOf: (actor) => turns.paceOf(payerOf(actor)),
    async run(actor, work) {
      const payer = payerOf(actor);
      budget.takeOrThrow(payer, 1);
      try {
        return await work(turns.paceOf(payer, limit));
      } finally {
        budget.release(payer, 1);
      }
    },
    async *during(actor, steps) {
      const payer = payerOf(actor);
      budget.takeOrThrow(payer, 1);
      try {
        yield* steps;
      } finally {
        budget.release(payer, 1);
      }
    },
  };
}

const tooMuchWork = (): Error =>
  invalid(
    `this took more than ${limits.longWorkMsMax / 1_000} s of work and was given up: name fewer ` +
      'devices or sensors, a shorter time, or a simpler filter (owner==… is fast)',
  );
