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

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  advance(ms: number): void;
  set(instant: Instant): void;
}

/** A clock for tests, standing at `start`. */
export function createManualClock(start: Instant): ManualClock {
  let current = start;
  return {
    now: () => current,
    advance: (ms) => {
      current += ms;
    },
    set: (instant) => {
      current = instant;
    },
  };
}
