import { memberLimits } from '../domain/members/member-limits.ts';
import type { Log } from '../lib/log.ts';

interface Held {
  readonly place: number;
  /** Read intervals that had passed in this process. */
  readonly since: number;
  readonly work: () => void;
  /** A listener that waits for earlier work: called also when that is not done. */
  readonly isWaiter: boolean;
}

/**
 * Does work here in the order of the commits of all processes.
 *
 * A process sees its own commits before those of others, which it reads: work on its own commits
 * behind them is deferred until it has read them. Not for ever: where others cannot be read for
 * seconds although commits succeed, order is given up, and a line in the log says so. Seconds are
 * those in which the process was awake, with one commit at their begin and one at their end: a
 * process that was stopped, or has lost the database, may have been given up, and hands on nothing.
 */
export function createHeldBack(options: {
  /** The last place that other processes had written when the newest commit began. */
  readonly before: () => number;
  /** Asks for a read attempt on entries of other processes. */
  readonly look: () => void;
  readonly log: Log;
}) {
  const { before, look, log } = options;
  let held: Held[] = [];
  /** How many do not wait any more. */
  let gone = 0;
  let acted = 0;
  let isResting = false;
  let looks = 0;
  let looking: NodeJS.Timeout | undefined;

  function release(count: number): void {
    const released = held.slice(0, count);
    held = held.slice(count);
    gone += released.length;
    for (const { work } of released) work();
    if (held.length === 0) {
      clearInterval(looking);
      looking = undefined;
    } else looking ??= setInterval(lookRound, memberLimits.logLookMs).unref();
  }

  function lookRound(): void {
    looks += 1;
  }

  /** Releases the work that was committed so long before the newest commit. */
  function giveUp(): void {
    const until = looks - memberLimits.heldBackMs / memberLimits.logLookMs;
    const late = held.findIndex(({ since }) => since > until);
    if (late === 0) return;
    log.warn({}, 'what other processes wrote could not be read: values are told out of order');
    release(late === -1 ? held.length : late);
  }

  function inOrder(work: () => void, isWaiter = false): void {
    const place = before();
    if (held.length === 0 && place <= acted) {
      work();
      return;
    }
    if (isResting) {
      if (isWaiter) work();
      return;
    }
    held.push({ place, since: looks, work, isWaiter });
    if (held.length === 1) release(0);
    else if (!isWaiter) giveUp();
    look();
  }

  return {
    /** Does it now, or when all entries of others before the newest commit were acted on. */
    inOrder: (work: () => void): void => inOrder(work),
    released: () => new Promise<void>((resolve) => inOrder(resolve, true)),
    areAny: () => held.length > 0,
    /** How many have come so far: those before what is read next. */
    count: (): number => gone + held.length,
    /** Records that entries up to the place were acted on, or all when so many had come. */
    actedOn(place: number, count: number = 0): void {
      acted = Math.max(acted, place);
      const waiting = held.findIndex(({ place: of }, at) => gone + at >= count && of > acted);
      release(waiting === -1 ? held.length : waiting);
    },
    /** Drops work that waits, and later work that would have to; no caller waits for it. */
    rest(): void {
      isResting = true;
      const waiters = held.filter(({ isWaiter }) => isWaiter);
      gone += held.length - waiters.length;
      held = waiters;
      release(held.length);
    },
  };
}
