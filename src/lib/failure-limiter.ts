import { createLruCache } from './cache.ts';
import type { Clock, Instant } from './clock.ts';

/** The failures that were counted for a key, and until when they count. */
export interface FailureWindow {
  readonly failures: number;
  readonly endsAt: Instant;
}

export type FailureLimiter = ReturnType<typeof createFailureLimiter>;

/** Counts failures per key in windows of fixed length; after `failuresMax` the key must wait. */
export function createFailureLimiter(options: {
  readonly failuresMax: number;
  readonly windowMs: number;
  readonly entriesMax: number;
  readonly clock: Clock;
  /** The key under which failures are counted and published; absent: the key itself. */
  readonly keyOf?: ((key: string) => string) | undefined;
  /** Receives the window of a key from now on; undefined: the key was forgiven. */
  readonly onChange?: (key: string, window: FailureWindow | undefined) => void;
}) {
  const { failuresMax, windowMs, clock, onChange, keyOf = (key: string) => key } = options;
  const windows = createLruCache<string, FailureWindow>(options.entriesMax);

  function count(key: string, failures: number): FailureWindow {
    const now = clock.now();
    const before = windows.get(key);
    const isOver = before === undefined || before.endsAt <= now;
    const window = isOver
      ? { failures, endsAt: now + windowMs }
      : { ...before, failures: before.failures + failures };
    windows.set(key, window);
    return window;
  }

  return {
    /** Milliseconds until `key` may try again; 0 when it may now. */
    blockedForMs(key: string): number {
      const window = windows.get(keyOf(key));
      if (window === undefined || window.failures < failuresMax) return 0;
      return Math.max(0, window.endsAt - clock.now());
    },
    /** Whether `key` failed in its present window. */
    hasFailed: (key: string): boolean => (windows.get(keyOf(key))?.endsAt ?? 0) > clock.now(),
    recordFailure(name: string): void {
      const key = keyOf(name);
      const window = count(key, 1);
      onChange?.(key, window);
    },
    forgive(name: string): void {
      const key = keyOf(name);
      if (windows.get(key) === undefined) return;
      windows.delete(key);
      onChange?.(key, undefined);
    },
    /** Counts failures of another process, without `onChange`; 0: the key was forgiven there. */
    hear(key: string, failures: number): FailureWindow | undefined {
      if (failures > 0) return count(key, failures);
      windows.delete(key);
      return undefined;
    },
    /** Goes on counting where another process stopped. */
    restore: (key: string, window: FailureWindow): void => windows.set(key, window),
  };
}
