import { createLruCache } from './cache.ts';
import type { Clock, Instant } from './clock.ts';

/** Gives each key `capacity` at once, and one more every `refillMs` after that. */
export function createTokenBucket(options: {
  readonly capacity: number;
  readonly refillMs: number;
  readonly entriesMax: number;
  readonly clock: Clock;
}) {
  const { capacity, refillMs, clock } = options;
  // When the bucket of a key will be full again: all that has to be known of it.
  const fullAt = createLruCache<string, Instant>(options.entriesMax);

  return {
    /** Takes one of what `key` may use; else answers how many milliseconds are left to wait. */
    take(key: string): number {
      const now = clock.now();
      const full = Math.max(now, fullAt.get(key) ?? now) + refillMs;
      const waitMs = full - now - capacity * refillMs;
      if (waitMs > 0) return waitMs;
      fullAt.set(key, full);
      return 0;
    },
  };
}
