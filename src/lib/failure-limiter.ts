import type { Clock } from './clock.ts';
import { createLruCache } from './lru-cache.ts';

export interface FailureLimiter {
  /** Milliseconds until `key` may try again; 0 when it may now. */
  blockedForMs(key: string): number;
  recordFailure(key: string): void;
  forgive(key: string): void;
}

/** Counts failures per key in windows of fixed length; after `failuresMax` the key must wait. */
export function createFailureLimiter(options: {
  readonly failuresMax: number;
  readonly windowMs: number;
  readonly entriesMax: number;
  readonly clock: Clock;
}): FailureLimiter {
  const { failuresMax, windowMs, clock } = options;
  const windows = createLruCache<string, { failures: number; readonly endsAt: number }>(
    options.entriesMax,
  );

  return {
    blockedForMs(key) {
      const window = windows.get(key);
      if (window === undefined || window.failures < failuresMax) return 0;
      return Math.max(0, window.endsAt - clock.now());
    },
    recordFailure(key) {
      const window = windows.get(key);
      if (window === undefined || window.endsAt <= clock.now()) {
        windows.set(key, { failures: 1, endsAt: clock.now() + windowMs });
      } else {
        window.failures += 1;
      }
    },
    forgive(key) {
      windows.delete(key);
    },
  };
}
