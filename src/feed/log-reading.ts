import { memberLimits } from '../domain/members/member-limits.ts';
import type { FeedLog, LogPlaces, LogPosition } from '../domain/members/member-store.ts';
import { createBreather } from '../lib/event-loop.ts';
import type { Log } from '../lib/log.ts';

/** Reads entries of other processes, one attempt at a time. */
export function createLogReading(options: {
  readonly shared: FeedLog;
  /** Never rejects. */
  readonly act: (text: string) => Promise<void>;
  /** Resolves when what was acted on is done; when it rejects it is called again. */
  readonly acted: () => Promise<void>;
  /** Runs before each read attempt. */
  readonly first: () => Promise<void>;
  readonly log: Log;
  readonly heldBackMs?: number | undefined;
}) {
  const { shared, act, acted, first, log, heldBackMs } = options;
  /** Work that is done here behind what others committed before. */
  const held = createHeldBack({ before: shared.before, look: () => void look(), log, heldBackMs });
  let heardAt = Number.NEGATIVE_INFINITY;
  let tidiedAt = performance.now();
  let looking: Promise<void> | undefined;
  let tidying: Promise<void> | undefined;
  let settling: Promise<void> | undefined;
  /** Acknowledges what was acted on so far; undefined: all of it is acknowledged. */
  let acknowledge: (() => Promise<void>) | undefined;
  /** Entries that were acted on, and are not acknowledged. */
  let readAhead = 0;
  let isAskedAgain = false;
  let isResting = false;
  let isOver = false;

  const noteFailure = (error: unknown): void =>
    log.debug({ err: error }, 'other processes could not be heard');

  async function readAll(): Promise<void> {
    const mayTidy = tidying === undefined && performance.now() - tidiedAt >= memberLimits.logTidyMs;
    await first();
    if (acknowledge !== undefined) settleBeside();
    let goal: { readonly askedAt: number; readonly places: LogPlaces } | undefined;
    while (!isResting) {
      if (readAhead > memberLimits.readAheadMax) await settle();
      const askedAt = performance.now();
      const [before, waiting] = [shared.before(), held.count()];
      const { entries, isLast } = await shared.read();
      const breathe = createBreather();
      for (const { text, ...position } of entries) {
        if (isResting) return;
        await act(text);
        held.actedOn(position);
        await breathe();
      }
      if (entries.length > 0) {
        acknowledge = shared.acknowledgement();
        readAhead += entries.length;
        settleBeside();
      }
      // Not only where there was none: beside others who write all the time, and over a slow link,
      // there always is one.
      if (isLast) {
        heardAt = askedAt;
        held.readUpTo(before, waiting);
        break;
      }
      // Others may write a page in the time of each read: then it is heard what there was by now.
      goal ??= { askedAt: performance.now(), places: await shared.lastPlaces() };
      if (!held.isActedOn(goal.places)) continue;
      heardAt = goal.askedAt;
      // Another attempt follows: callers wait for the end of one, and there is work between two.
      isAskedAgain = true;
      break;
    }
    if (!mayTidy || isResting) return;
    // Own work that had come before this read is done: it is to be stored, too. Reading goes on.
    tidying = acted()
      .then(() => (isResting ? undefined : shared.tidy()))
      .catch(noteFailure)
      .finally(() => {
        tidying = undefined;
        tidiedAt = performance.now();
      });
  }

  /** Acknowledges what was acted on before, once that is done. */
  async function settleOnce(): Promise<void> {
    const [acknowledgeSoFar, count] = [acknowledge, readAhead];
    await acted();
    if (isResting) return;
    await acknowledgeSoFar?.();
    readAhead -= count;
    if (acknowledge === acknowledgeSoFar) acknowledge = undefined;
  }

  function settle(): Promise<void> {
    settling ??= settleOnce().finally(() => {
      settling = undefined;
    });
    return settling;
  }

  /** Does it while reading goes on; it is tried again with the next read attempt. */
  function settleBeside(): void {
    if (settling !== undefined) return;
    void settle().then(() => {
      if (acknowledge !== undefined && !isResting) settleBeside();
    }, noteFailure);
  }

  /** Resolves when the read attempt under way has ended; another one follows it then. */
  function look(): Promise<void> {
    if (looking !== undefined) {
      isAskedAgain = true;
      return looking;
    }
    looking = Promise.resolve()
      .then(readAll)
      .catch(noteFailure)
      .finally(() => {
        looking = undefined;
        if (!isAskedAgain || isOver) return;
        isAskedAgain = false;
        void look();
      });
    return looking;
  }

  return {
    ...{ look, held },
    /** Whether earlier entries of others were acted on, and that is stored. */
    async heard(): Promise<boolean> {
      const askedAt = performance.now();
      // The read attempt under way may have begun before.
      await look();
      await looking;
      if (heardAt < askedAt) return false;
      try {
        // The one under way may have begun before.
        await settling;
        if (acknowledge !== undefined) await settle();
        return !isResting;
      } catch {
        return false;
      }
    },
    /** Whether the log was read to its end within the last second. */
    isCurrent: (): boolean => performance.now() - heardAt < memberLimits.trustMs,
    figures: () => ({
      unheardSeconds: (performance.now() - heardAt) / 1_000,
      deferred: held.size(),
    }),
    /** From now on nothing is acted on, or counts as acted on. */
    rest(): void {
      isResting = true;
      held.rest();
    },
    async end(): Promise<void> {
      isOver = true;
      await looking;
      await tidying;
      await settling?.catch(noteFailure);
    },
  };
}

interface Held {
  readonly places: LogPlaces;
  /** Read intervals that had passed in this process. */
  readonly since: number;
  readonly work: () => void;
  /** A listener that waits for earlier work: called also when that is not done. */
  readonly isWaiter: boolean;
}

/**
 * Does work here behind what other processes committed before.
 *
 * A process sees its own commits before those of others, which it reads: work on its own commits
 * behind them is deferred until it has read them. Not for ever: where others cannot be read for
 * seconds although commits succeed, order is given up, and a line in the log says so. Seconds are
 * those in which the process was awake, with one commit at their begin and one at their end: a
 * process that was stopped, or has lost the database, may have been given up, and hands on nothing.
 */
export function createHeldBack(options: {
  /** The last places of other processes that the newest commit may have waited for. */
  readonly before: () => LogPlaces;
  /** Asks for a read attempt on entries of other processes. */
  readonly look: () => void;
  readonly log: Log;
  readonly heldBackMs?: number | undefined;
}) {
  const { before, look, log, heldBackMs = memberLimits.heldBackMs } = options;
  let held: Held[] = [];
  /** How many do not wait any more. */
  let gone = 0;
  const acted = new Map<number, number>();
  let isResting = false;
  let hasDropped = false;
  let looks = 0;
  let looking: NodeJS.Timeout | undefined;

  const note = ({ writer, place }: LogPosition): void =>
    void acted.set(writer, Math.max(place, acted.get(writer) ?? 0));

  const isActedOn = (places: LogPlaces): boolean =>
    places.entries().every(([writer, place]) => (acted.get(writer) ?? 0) >= place);

  /** Releases those before the first that has to wait; none does of so many that had come. */
  function releaseActedOn(count = 0): void {
    const waiting = held.findIndex(({ places }, at) => gone + at >= count && !isActedOn(places));
    release(waiting === -1 ? held.length : waiting);
  }

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
    const until = looks - heldBackMs / memberLimits.logLookMs;
    const late = held.findIndex(({ since }) => since > until);
    if (late === 0) return;
    log.warn({}, 'what other processes wrote could not be read: values are told out of order');
    release(late === -1 ? held.length : late);
  }

  function inOrder(work: () => void, isWaiter = false) {
    const places = before();
    if (held.length === 0 && isActedOn(places)) return work();
    if (isResting) {
      hasDropped = true;
      if (isWaiter) work();
      return;
    }
    held.push({ places, since: looks, work, isWaiter });
    if (held.length === 1) release(0);
    else if (!isWaiter) giveUp();
    look();
  }

  return {
    /** Does it now, or when all entries of others before the newest commit were acted on. */
    inOrder: (work: () => void): void => inOrder(work),
    released: () => new Promise<void>((resolve) => inOrder(resolve, true)),
    areAny: () => held.length > 0,
    /** Whether something had to wait since `rest`: what comes later is not all. */
    hasDropped: () => hasDropped,
    isActedOn,
    size: (): number => held.length,
    /** How many have come so far: those before what is read next. */
    count: (): number => gone + held.length,
    /** Records that an entry was acted on. */
    actedOn(position: LogPosition): void {
      note(position);
      releaseActedOn();
    },
    /** Records that everything up to these places was, and all that so many waited for. */
    readUpTo(places: LogPlaces, count: number): void {
      for (const [writer, place] of places) note({ writer, place });
      releaseActedOn(count);
    },
    /** Drops work that waits, and later work that would have to; no caller waits for it. */
    rest(): void {
      isResting = true;
      const waiters = held.filter(({ isWaiter }) => isWaiter);
      gone += held.length - waiters.length;
      hasDropped = held.length > 0;
      held = waiters;
      release(held.length);
    },
  };
}
