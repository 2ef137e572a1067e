import type { Timers } from './timers.ts';

/** Timers for tests: time passes when it is told to. */
export interface HandTimers extends Timers {
  advance(byMs: number): void;
}

/** Starts at a round instant, with nothing due. */
export function createHandTimers(start = Date.UTC(2026, 2, 1, 12)): HandTimers {
  let now = start;
  let due: { readonly at: number; readonly callback: () => void }[] = [];
  return {
    now: () => now,
    after: (delayMs, callback) => {
      const entry = { at: now + delayMs, callback };
      due.push(entry);
      return () => {
        due = due.filter((other) => other !== entry);
      };
    },
    advance: (byMs) => {
      const end = now + byMs;
      for (;;) {
        const next = due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        due = due.filter((other) => other !== next);
        now = next.at;
        next.callback();
      }
      now = end;
    },
  };
}
