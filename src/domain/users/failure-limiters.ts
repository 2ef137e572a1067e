import type { Clock, Instant } from '../../lib/clock.ts';
import {
  createFailureLimiter,
  type FailureLimiter,
  type FailureWindow,
} from '../../lib/failure-limiter.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';
import { signText } from '../../lib/secret-token.ts';
import { tooMany } from '../errors.ts';
import { limits } from '../limits.ts';

/** Failures counted for a key since its first one. */
export interface KeptFailures {
  readonly key: string;
  /** 0: forgiven. */
  readonly failures: number;
  readonly endsAt: Instant;
}

/** Counters of failures, as they were a moment ago: what they are worth after a restart. */
export interface FailureStore {
  /** Counters kept under this name that have not ended. */
  load(limiter: string, now: Instant): Promise<readonly KeptFailures[]>;
  /**
   * Keeps these instead of what was kept for their keys. What has ended goes, and of more than
   * `limits.loginFailureEntriesMax` under one name those that end first.
   */
  save(limiter: string, counted: readonly KeptFailures[], now: Instant): Promise<void>;
}

/** How the processes of one service reach each other. */
export interface FailureTalk {
  /**
   * Resolves when all others have acted on the text, or after a second. Throws when it will not
   * reach them.
   */
  ask(text: string): Promise<void>;
  onTold(listener: (text: string) => Promise<void>): void;
}

/** News of a key since the last message about it. */
interface FailureNews {
  readonly counter: string;
  readonly key: string;
  /** Whether what was counted before was forgiven. */
  readonly isForgiven: boolean;
  readonly failures: number;
}

/** Wait before news that could not be published is published again. */
const retryMs = 1_000;
/** Pieces of news in one text. */
const newsPerTextMax = 1_000;

/**
 * Each process counts by itself, so that none asks another one before a password is checked, and
 * counts go on when the others cannot be reached. Messages are steps, so that those of several
 * processes add up; keys are to be such that no name can be read out of them.
 */
function createFailureTelling(options: {
  readonly talk: FailureTalk;
  /** Receives what others counted. */
  readonly hear: (news: FailureNews) => void;
  /** Keys that wait to be published; of more, the oldest are dropped. */
  readonly waitingMax: number;
}) {
  const { talk, hear, waitingMax } = options;
  const untold = new Map<string, FailureNews>();
  let telling: Promise<void> | undefined;
  let isPausing = false;

  talk.onTold(async (text) => {
    for (const news of readTold(text)) hear(news);
  });

  /** Adds to what waits; `first`: it happened before that. */
  function add(news: FailureNews, place: 'first' | 'last'): void {
    const name = `${news.counter} ${news.key}`;
    const waiting = untold.get(name);
    const [before, later] = place === 'first' ? [news, waiting] : [waiting, news];
    untold.set(name, together(before, later) ?? news);
    const [oldest] = untold.keys();
    if (untold.size > waitingMax && oldest !== undefined) untold.delete(oldest);
  }

  /** Publishes waiting news after other events were handled: many failures are one text. */
  async function tellWaiting(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    telling = undefined;
    const part = [...untold].slice(0, newsPerTextMax);
    for (const [name] of part) untold.delete(name);
    if (part.length === 0) return;
    if (untold.size > 0) start();
    try {
      await talk.ask(JSON.stringify({ kind: 'failures', news: part.map(([, news]) => news) }));
    } catch {
      for (const [, news] of part) add(news, 'first');
      retry();
    }
  }

  function retry(): void {
    if (isPausing) return;
    isPausing = true;
    setTimeout(() => {
      isPausing = false;
      start();
    }, retryMs).unref();
  }

  function start(): void {
    if (!isPausing) telling ??= tellWaiting();
  }

  return {
    /** Soon publishes that a key failed once more or was forgiven. */
    note(counter: string, key: string, what: 'failed' | 'forgiven'): void {
      const isForgiven = what === 'forgiven';
      add({ counter, key, isForgiven, failures: isForgiven ? 0 : 1 }, 'last');
      start();
    },
    /** Resolves when the others have counted what was noted, or a second later. */
    told: async () => telling,
  };
}

/** Merges two pieces of news of one key. */
function together(
  before: FailureNews | undefined,
  later: FailureNews | undefined,
): FailureNews | undefined {
  if (before === undefined || later === undefined || later.isForgiven) return later ?? before;
  return { ...before, failures: before.failures + later.failures };
}

const beginning = '{"kind":"failures"';

/** Nothing: it is about something else. */
function readTold(text: string): readonly FailureNews[] {
  if (!text.startsWith(beginning)) return [];
  const told = parseJson(text) as JsonValue;
  // Processes of one version wrote it.
  return isJsonObject(told) ? (told['news'] as unknown as readonly FailureNews[]) : [];
}

/** Counts a try under each of these keys. Throws rate_limited where one of them has to wait. */
export function countTry(
  what: string,
  ...counters: readonly (readonly [limiter: FailureLimiter, key: string])[]
): void {
  const waitMs = Math.max(...counters.map(([limiter, key]) => limiter.blockedForMs(key)));
  if (waitMs > 0) throw tooMany(what, waitMs);
  for (const [limiter, key] of counters) limiter.recordFailure(key);
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
}) {
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
    /** The counter of this name; after `load` it knows what was counted before a restart. */
    of(name: string, bounds: { failuresMax: number; windowMs: number }): FailureLimiter {
      const changed: Counter['changed'] = new Map();
      const limiter = createFailureLimiter({
        ...bounds,
        entriesMax: limits.loginFailureEntriesMax,
        clock,
        // Names and addresses stay in this process.
        keyOf: others && ((key) => signText(others.secret, `failures ${name} ${key}`)),
        onChange(key, window) {
          note(changed, key, window);
          telling?.note(name, key, window === undefined ? 'forgiven' : 'failed');
        },
      });
      counters.set(name, { limiter, changed });
      return limiter;
    },
    /**
     * Resolves when all processes have counted what failed here until now, or a second later: a
     * client that is answered then has no more tries at another one. Alone: at once.
     */
    told: async () => telling?.told(),
    /** Before a login can fail. */
    async load(): Promise<void> {
      for (const [name, { limiter }] of counters) {
        const counted = await store.load(name, clock.now());
        for (const { key, ...window } of counted) limiter.restore(key, window);
      }
    },
    /** Keeps all that was counted until now; at the end of the service. */
    async save(): Promise<void> {
      clearTimeout(pause);
      while (await savePart());
    },
  };
}

/** Counters of failures that outlive a restart, and of all processes that serve together. */
export type FailureLimiters = ReturnType<typeof createFailureLimiters>;
const forgiven: FailureWindow = { failures: 0, endsAt: 0 };
