import type { Clock } from '../../lib/clock.ts';
import {
  createFailureLimiter,
  type FailureLimiter,
  type FailureWindow,
} from '../../lib/failure-limiter.ts';
import { signText } from '../../lib/secret-token.ts';
import { limits } from '../limits.ts';
import type { FailureStore } from './failure-store.ts';
import { createFailureTelling, type FailureNews, type FailureTalk } from './failure-telling.ts';

/** Counters of failures that outlive a restart, and of all processes that serve together. */
export interface FailureLimiters {
  /** The counter of this name; after `load` it knows what was counted before a restart. */
  of(name: string, bounds: FailureBounds): FailureLimiter;
  /**
   * Resolves when all processes have counted what failed here until now, or a second later: a
   * client that is answered then has no more tries at another one. At once where there is this one
   * alone.
   */
  told(): Promise<void>;
  /** Before a login can fail. */
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
  /** Windows that are not kept yet; undefined: forgiven. */
  readonly changed: Map<string, FailureWindow | undefined>;
}

/** A longer key is no account's name: it is counted, and forgotten at the end of the process. */
const keyCharactersMax = 200;

/**
 * Counting is in memory, so that no login waits for the disk. What changed is written a moment
 * later, each key once and only so many of them: a client that fails all the time costs one row in
 * each pause, and many cost no more than the disk bears. A crash loses what one pause counted.
 * Where several processes serve, each receives at once what the others count, under keys that say
 * nothing without the secret; they are kept under these as well.
 */
export function createFailureLimiters(options: {
  readonly clock: Clock;
  readonly store: FailureStore;
  /** The other processes, and a secret that they have too; absent: there are none. */
  readonly others?: { readonly talk: FailureTalk; readonly secret: string } | undefined;
}): FailureLimiters {
  const { clock, store, others } = options;
  const counters = new Map<string, Counter>();
  const waitingMax = limits.loginFailureEntriesMax;
  const telling = others && createFailureTelling({ talk: others.talk, hear, waitingMax });
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

  /** Counts failures that another process keeps; windows still to be kept here include them. */
  function hear({ counter, key, isForgiven, failures }: FailureNews): void {
    const { limiter, changed } = counters.get(counter) ?? {};
    if (limiter === undefined) return;
    let window = isForgiven ? limiter.hear(key, 0) : undefined;
    if (failures > 0) window = limiter.hear(key, failures);
    if (changed?.has(key)) changed.set(key, window);
  }

  /** Writes a part of what changed under each name; answers whether there is more. */
  async function savePart(): Promise<boolean> {
    let isMore = false;
    for (const [name, { changed }] of counters) {
      const part = [...changed].slice(0, limits.failuresPerSaveMax);
      if (part.length === 0) continue;
      const counted = part.map(([key, window]) => ({ key, ...(window ?? forgiven) }));
      await store.save(name, counted, clock.now());
      // Windows that changed while they were written are written once more.
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
        onChange(key, window) {
          note(changed, key, window);
          telling?.note(name, key, window === undefined ? 'forgiven' : 'failed');
        },
      });
      counters.set(name, { limiter, changed });
      if (others === undefined) return limiter;
      return underSignedKeys(limiter, (key) => signText(others.secret, `failures ${name} ${key}`));
    },
    told: async () => telling?.told(),
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

/** Names and addresses stay in this process. */
function underSignedKeys(limiter: FailureLimiter, signed: (key: string) => string): FailureLimiter {
  return {
    blockedForMs: (key) => limiter.blockedForMs(signed(key)),
    hasFailed: (key) => limiter.hasFailed(signed(key)),
    recordFailure: (key) => limiter.recordFailure(signed(key)),
    forgive: (key) => limiter.forgive(signed(key)),
    hear: (key, failures) => limiter.hear(signed(key), failures),
    restore: (key, window) => limiter.restore(signed(key), window),
  };
}
