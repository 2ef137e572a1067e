import { inNextTurn, turnMs as msOfTurn, turnMsMax } from '../event-loop.ts';
import { PayerQueues } from './payer-queues.ts';

/** The pace of a piece of long work, which leaves the event loop to other work between slices. */
export interface Pace {
  /** Whether this slice has lasted long enough. */
  isOver(): boolean;
  /** Ends the slice; resolves when the work's next one begins. Throws the `onTooMuch` error. */
  rest(): Promise<void>;
  /** Begins a new slice now: time spent waiting, for instance for a reader, is no work. */
  begin(): void;
}

/**
 * The limit of processor time of a piece of work, and the error thrown when it is used up. A
 * machine that is busy with other work refuses no more than an idle one.
 */
export interface WorkLimit {
  readonly workMsMax: number;
  readonly onTooMuch: () => Error;
}

/** Processor time of this thread, in milliseconds; where Node lacks it, the time that passed. */
function threadMs(): number {
  if (typeof process.threadCpuUsage !== 'function') return performance.now();
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const turnsPerEntry = 2;
const restPerWork = 4;
/** Rests are put off until there is so much of one: a timer is no finer than short pieces. */
const restMsMin = 2;
/** A slice lasts so long at least, unless it is shorter, however long others worked in its turn. */
const sliceMsMin = 1;

/** Microtasks in which a short piece of work gets on: they are run before the next one begins. */
async function inMicrotasks(): Promise<void> {
  for (let tick = 0; tick < 8; tick += 1) await undefined;
}

/** The same for pieces that get on in ticks of Node, as requests do whose bodies have arrived. */
export async function inTicks(): Promise<void> {
  for (let tick = 0; tick < 4; tick += 1) {
    await new Promise<void>((resolve) => process.nextTick(resolve));
  }
}

/** Runs a slice in the third turn of the event loop to come, behind those who connect. */
const inThirdTurn = (slice: () => void): void =>
  inNextTurn(() => inNextTurn(() => inNextTurn(slice)));

/**
 * Slices for what many may ask at once without an account: others have the event loop for two turns
 * between two of them.
 */
export const createGuestSlices = (turnMs: number): FairSlices =>
  createFairSlices({ turnMs, later: inThirdTurn, isInOrder: true });

/**
 * Hands out slices of about `turnMs`. However many pieces of work there are, they run for one slice
 * between two polls of the sockets, so that other work waits no longer: one long piece, or several
 * short ones. Of a turn in which other work has taken `untilMs` they get one short piece.
 */
export function createFairSlices({
  turnMs,
  untilMs = turnMsMax,
  later = inNextTurn,
  getOn = inMicrotasks,
  isInOrder = false,
  restsWhile,
}: {
  readonly turnMs: number;
  readonly untilMs?: number;
  /**
   * Waits for the turn of the event loop that has the next slice, or in which work may enter at
   * once again; absent: the next one, behind those who connect.
   */
  readonly later?: (slice: () => void) => unknown;
  /** Lets the piece that has begun get on before the next one begins. */
  readonly getOn?: () => Promise<void>;
  /** Whether nobody enters while others wait: else only who waits already does not. */
  readonly isInOrder?: boolean;
  /** Whether others are at work, who then have the loop four times as long as slices took. */
  readonly restsWhile?: () => boolean;
}) {
  /** Each answers true when it has nothing left to get on with. */
  const waiting = new PayerQueues<() => unknown>();
  let isPumping = false;
  let enteredAt: number | undefined;
  let restsUntil = 0;

  const isResting = (now: number): boolean =>
    now < restsUntil - restMsMin && restsWhile?.() === true;

  /** Adds the rest for work that began then and ends now; that of one slice is owed at most. */
  function addRest(startedAt: number): void {
    const now = performance.now();
    const owed = Math.max(restsUntil - now, 0) + restPerWork * (now - startedAt);
    restsUntil = now + Math.min(owed, restPerWork * turnMs);
  }

  async function pump(): Promise<void> {
    const startedAt = performance.now();
    if (isResting(startedAt)) {
      setTimeout(() => void pump(), restsUntil - startedAt);
      return;
    }
    do {
      const begin = waiting.shift();
      if (begin === undefined) {
        isPumping = false;
        break;
      }
      if (begin() === true) continue;
      await getOn();
    } while (isEarly(performance.now() - startedAt));
    addRest(startedAt);
    if (isPumping) later(() => void pump());
  }

  const leastMs = Math.min(sliceMsMin, turnMs);
  const isEarly = (ms: number): boolean => ms < leastMs || (ms < turnMs && !isTurnOver());
  const isTurnOver = (now?: number): boolean => msOfTurn(now) >= untilMs;

  function push(payer: string, begin: () => unknown): void {
    waiting.push(payer, begin);
    if (isPumping) return;
    isPumping = true;
    later(() => void pump());
  }

  const next = (payer: string): Promise<void> => new Promise((resolve) => push(payer, resolve));

  /** Runs a piece of work in the payer's next slice, and again while it answers true. */
  function run(payer: string, piece: () => boolean): void {
    push(payer, () => {
      if (piece()) run(payer, piece);
      return true;
    });
  }

  function mayEnter(payer: string): boolean {
    const now = performance.now();
    const isBehind = isInOrder ? isPumping : waiting.countOf(payer) > 0;
    if (isBehind || isTurnOver(now) || isResting(now)) return false;
    if (enteredAt !== undefined && now - enteredAt >= turnsPerEntry * turnMs) return false;
    if (restsWhile !== undefined) void getOn().then(() => addRest(now));
    if (enteredAt !== undefined) return true;
    enteredAt = now;
    later(() => {
      enteredAt = undefined;
    });
    return true;
  }

  /** Begins a short piece of work at once, or in the payer's next slice if the turn is used up. */
  function begin(payer: string, piece: () => void): void {
    if (mayEnter(payer)) piece();
    else push(payer, () => piece());
  }

  return {
    /** The pace of one piece of work, for who pays for it. */
    paceOf(payer: string, limit?: WorkLimit): Pace {
      let startedAt = performance.now();
      // To ask costs microseconds: only where it matters.
      const usedMs = limit === undefined ? () => 0 : threadMs;
      let usedBefore = usedMs();
      let workedMs = 0;
      const begin = (): void => {
        startedAt = performance.now();
        usedBefore = usedMs();
      };
      return {
        isOver() {
          const now = performance.now();
          const ms = now - startedAt;
          return ms > turnMs || (ms > leastMs && isTurnOver(now));
        },
        async rest() {
          workedMs += usedMs() - usedBefore;
          if (limit !== undefined && workedMs > limit.workMsMax) throw limit.onTooMuch();
          await next(payer);
          begin();
        },
        begin,
      };
    },
    /**
     * For work that comes all at once: undefined when it may begin, a promise of its slice when
     * work before it has taken a few slices already.
     */
    enter: (payer: string): Promise<void> | undefined =>
      mayEnter(payer) ? undefined : next(payer),
    /** Resolves when the next slice of the payer begins. */
    next,
    ...{ begin, run },
    /** Whether no more work of this kind may begin in this turn of the event loop. */
    isTurnOver,
    /** Pieces of work that wait for their slice. */
    get waiting() {
      return waiting.size;
    },
  };
}

/** Slices of the event loop for long work: one piece at a time, each payer as often as others. */
export type FairSlices = ReturnType<typeof createFairSlices>;
/** The pace of work inside the service, which has no payer. */
export const ownPace = (): Pace => createFairSlices({ turnMs: 5 }).paceOf('service');
