import { createFairSlices, type Pace } from '../../lib/scheduling/fair-slices.ts';
import { stepsOf } from '../../lib/steps.ts';
import type { Actor } from '../actor.ts';
import { DomainError, invalid } from '../errors.ts';
import { limits } from '../limits.ts';
import { type Payer, payerOf } from './budget.ts';
import type { Budgets } from './budgets.ts';

/** So many bytes are kept from now on, instead of those before. Throws rate_limited. */
export type Hold = (bytes: number) => void;

/** Work over many things, in slices, so that no other work waits for it. */
export function createLongWork(budgets: Budgets) {
  const budget = budgets.of('long_reads');
  const answerBytes = budgets.of('answer_bytes');
  const turns = createFairSlices({ turnMs: limits.turnMs });
  const limit = { workMsMax: limits.longWorkMsMax, onTooMuch: tooMuchWork };

  function holdFor(payer: Payer): Hold {
    let held = 0;
    return (bytes) => {
      if (bytes > held) answerBytes.takeOrThrow(payer, bytes - held);
      else answerBytes.release(payer, held - bytes);
      held = bytes;
    };
  }

  return {
    /** The pace of an answer that is written while it is read: as long as its reader takes. */
    paceOf: (actor: Actor) => turns.paceOf(payerOf(actor)),
    /** The slices of work that comes piece by piece, for instance the lines of a body. */
    arriving(actor: Actor) {
      const payer = payerOf(actor);
      const pace = turns.paceOf(payer);
      return {
        pace,
        /**
         * Called with each piece, before it is processed: undefined when it may begin, a promise of
         * its slice when other pieces that came with it have taken a few slices already.
         */
        arrive(): Promise<void> | undefined {
          const turn = turns.enter(payer);
          if (turn !== undefined) return turn.then(pace.begin);
          pace.begin();
          return undefined;
        },
      };
    },
    /**
     * Runs work whose answer comes at its end: few at once for each payer, and of bounded length.
     * Bytes that it reserves for the answer count until the work is over, as the answer's own do
     * from then on. Throws rate_limited; the work throws invalid once it took too long.
     */
    async run<Result>(
      actor: Actor,
      work: (pace: Pace, hold: Hold) => Promise<Result>,
    ): Promise<Result> {
      const payer = payerOf(actor);
      budget.takeOrThrow(payer, 1);
      const hold = holdFor(payer);
      try {
        return await work(turns.paceOf(payer, limit), hold);
      } finally {
        hold(0);
        budget.release(payer, 1);
      }
    },
    /**
     * Counts an answer that keeps much while it is read, from its first step until its last or its
     * reader's end, and the bytes that `hold` reserves. Throws rate_limited at the first step, and
     * where more is reserved.
     */
    during<Step>(actor: Actor, begin: (hold: Hold) => AsyncIterable<Step>): AsyncIterable<Step> {
      const payer = payerOf(actor);
      const hold = holdFor(payer);
      let [hasBegun, isOver] = [false, false];
      // A step under way when its reader leaves goes on: it reserves nothing then, and ends.
      const source = begin((bytes) => {
        if (isOver) throw new DomainError('unavailable', 'nobody is there to read');
        hold(bytes);
      })[Symbol.asyncIterator]();
      return stepsOf(
        async () => {
          if (!hasBegun) budget.takeOrThrow(payer, 1);
          hasBegun = true;
          const { done, value } = await source.next();
          return done === true ? undefined : value;
        },
        async () => {
          isOver = true;
          hold(0);
          if (hasBegun) budget.release(payer, 1);
          await source.return?.();
        },
      );
    },
  };
}
export type LongWork = ReturnType<typeof createLongWork>;

const tooMuchWork = (): Error =>
  invalid(
    `this took more than ${limits.longWorkMsMax / 1_000} s of work and was given up: name fewer ` +
      'devices or sensors, a shorter time, or a simpler filter (owner==… is fast)',
  );
