/** The clock and the timers of a part, so that tests can turn them by hand. */
export interface Timers {
  now(): number;
  /** Calls back once, later; what is returned forgets it. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Those of the browser. */
export const browserTimers: Timers = {
  now: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};
