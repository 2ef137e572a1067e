import type { Clock, Instant } from '../src/lib/clock.ts';

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
