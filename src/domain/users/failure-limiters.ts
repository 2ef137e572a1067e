import type { Clock } from '../../lib/clock.ts';
import {
  createFailureLimiter,
  type FailureLimiter,
  type FailureWindow,
} from '../../lib/failure-limiter.ts';
import { limits } from '../limits.ts';
import type { FailureStore } from './failure-store.ts';

/** Counters of failures that outlive a restart. */
export interface FailureLimiters {
  /** The counter of this name; after `load` it knows what was counted before a restart. */
  of(name: string, bounds: FailureBounds): FailureLimiter;
  /** Before anybody can fail. */
  load(): Promise<void>;
  /** Keeps all that was counted until now; at the end of the service. */
  save(): Promise<void>;
}

export interface FailureBounds {
  readonly failuresMax: number;
  readonly windowMs: number;
}

interface Counter {
  readonly limiter: FailureLimiter;
  /** What is not kept yet; undefined: forgiven. */
  readonly changed: Map<string, FailureWindow | undefined>;
}

/** A longer key is nobody's name: it is counted, and forgotten at the end of the process. */
const keyCharactersMax = 200;

/**
 * Counting is in memory, so that no login waits for the disk. What changed is written a moment
 * later, each key once and only so many of them: who fails all the time writes one row in each
 * pause, and many who fail write no more than the disk bears. A crash loses what one pause counted.
 */
export function createFailureLimiters(options: {
  readonly clock: Clock;
  readonly store: FailureStore;
}): FailureLimiters {
  const { clock, store } = options;
  const counters = new Map<string, Counter>();
  let pause: NodeJS.Timeout | undefined;

  function note(changed: Counter['changed'], key: string, window: FailureWindow | undefined): void {
    if (key.length > keyCharactersMax) return;
    changed.set(key, window);
    const [oldest] = changed.keys();
    if (changed.size > limits.loginFailureEntriesMax && oldest !== undefined) {
      changed.delete(oldest);
    }
    pause ??= setTimeout(() => void saveSome(), limits.failuresPauseMs).unref();
  }

  /** Writes a part of what changed under each name; answers whether there is more. */
  async function savePart(): Promise<boolean> {
    let isMore = false;
    for (const [name, { changed }] of counters) {
      const part = [...changed].slice(0, limits.failuresPerSaveMax);
      if (part.length === 0) continue;
      const counted = part.map(([key, window]) => ({ key, ...(window ?? forgiven) }));
      await store.save(name, counted, clock.now());
      // What changed while it was written is written once more.
      for (const [key, window] of part) if (changed.get(key) === window) changed.delete(key);
      isMore ||= changed.size > 0;
    }
    return isMore;
  }

  async function saveSome(): Promise<void> {
    try {
      await savePart();
    } catch {
      // The engine has said what is wrong; what could not be kept is tried with the next failure.
    }
    pause = undefined;
    const isMore = [...counters.values()].some(({ changed }) => changed.size > 0);
    if (isMore) pause = setTimeout(() => void saveSome(), limits.failuresPauseMs).unref();
  }

  return {
    of(name, bounds) {
      const changed: Counter['changed'] = new Map();
      const limiter = createFailureLimiter({
        ...bounds,
        entriesMax: limits.loginFailureEntriesMax,
        clock,
        onChange: (key, window) => note(changed, key, window),
      });
      counters.set(name, { limiter, changed });
      return limiter;
    },
    async load() {
      for (const [name, { limiter }] of counters) {
        const counted = await store.load(name, clock.now());
        for (const { key, ...window } of counted) limiter.restore(key, window);
      }
    },
    async save() {
      clearTimeout(pause);
      while (await savePart());
    },
  };
}

const forgiven: FailureWindow = { failures: 0, endsAt: 0 };
