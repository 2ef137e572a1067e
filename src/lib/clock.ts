import type { Log } from './log.ts';

/** A moment, in milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number;
/** No moment is later, as JavaScript counts them. */
export const latestInstant: Instant = 8.64e15;

/** The only source of "now": parts ask the clock they are given, tests give one they can move. */
export interface Clock {
  now(): Instant;
}

/** The machine's own clock. */
export const systemClock: Clock = { now: () => Date.now() };
/** A clock that does not go back when that of its machine does. */
export type SteadyClock = ReturnType<typeof createSteadyClock>;
/** A machine's clock that is behind by less is waited for, and not logged. */
const waitedForMs = 1_000;
/** Clocks of two machines that differ by less are the same. */
const sameMs = 50;
const yearMs = 365 * 86_400_000;
/** No machine's clock that is right is before the release of this program. */
const released = Date.UTC(2026, 10, 1);

/**
 * The latest time that is believed although the machine's clock reads `read` [decision 0026]: a
 * later one was written by a clock that was wrong. A clock from before the release knows nothing.
 */
export const latestBelieved = (read: Instant): Instant =>
  read >= released ? read + 2 * yearMs : released + 30 * yearMs;

/**
 * The time of the machine, never before the last answer: while the machine's clock is behind that
 * answer, the time is the answer plus the milliseconds since [contract 15].
 */
export function createSteadyClock(options: {
  readonly machine: Clock;
  readonly log: Log;
  /** Milliseconds that pass whatever clocks are set to. */
  readonly elapsed?: () => number;
}) {
  const { machine, log, elapsed = () => performance.now() } = options;
  let latest = Number.NEGATIVE_INFINITY;
  let correction = 0;
  /** Since when the time is reckoned, and from where; undefined: the machine's clock applies. */
  let held: { readonly from: Instant; readonly since: number } | undefined;

  function reckoned(read: Instant): Instant {
    if (held === undefined) {
      if (latest - read < waitedForMs) return latest;
      if (latest > latestBelieved(read)) {
        log.error(facts(latest, read), 'the clock was years ahead: its times are not kept up with');
        latest = read;
        return read;
      }
      held = { from: latest, since: elapsed() };
      log.error(
        facts(latest, read),
        'the clock of this machine is behind what was stored: the time is reckoned from there; ' +
          'set the clock, or wait until it is set',
      );
    }
    const time = held.from + Math.floor(elapsed() - held.since);
    if (read >= time) {
      held = undefined;
      log.info({}, 'the clock of this machine is right again');
      latest = read;
    } else latest = time;
    return latest;
  }

  function now(): Instant {
    const read = machine.now() + correction;
    if (held !== undefined || read < latest) return reckoned(read);
    latest = read;
    return read;
  }

  return {
    now,
    /** By how much it is ahead of the machine's clock, which is behind; 0: that one applies. */
    aheadMs(): number {
      const time = now();
      return held === undefined ? 0 : time - machine.now();
    },
    /** How much the clock that is followed is ahead of the machine's; negative: behind. */
    offsetMs: () => correction,
    /** The time from now on is not before this one. */
    keepFrom(newest: Instant) {
      if (newest > latest) latest = newest;
    },
    /** Another machine, whose clock applies to several, has this time now. */
    follow(theirs: Instant) {
      const found = theirs - machine.now();
      // A time that is none would be that of all values from here on.
      if (!Number.isFinite(found)) return;
      if (Math.abs(found - correction) < sameMs) return;
      if (Math.abs(found - correction) >= waitedForMs) {
        const fields = { differenceMs: Math.round(found) };
        log.warn(
          fields,
          'the clock of this machine differs from that of the database, which holds',
        );
      }
      correction = Math.abs(found) < sameMs ? 0 : Math.round(found);
    },
  };
}

const facts = (latest: Instant, read: Instant) => ({
  stored: new Date(latest).toISOString(),
  machine: new Date(read).toISOString(),
});
