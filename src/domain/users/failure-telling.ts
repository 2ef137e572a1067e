import { isJsonObject, type JsonValue, parseJson } from '../../lib/json.ts';

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
export interface FailureNews {
  readonly counter: string;
  readonly key: string;
  /** Whether what was counted before was forgiven. */
  readonly isForgiven: boolean;
  readonly failures: number;
}

/** Publishes to the other processes what is counted here, and receives what they count. */
export interface FailureTelling {
  /** Soon publishes that a key failed once more or was forgiven. */
  note(counter: string, key: string, what: 'failed' | 'forgiven'): void;
  /** Resolves when the others have counted what was noted, or a second later. */
  told(): Promise<void>;
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
export function createFailureTelling(options: {
  readonly talk: FailureTalk;
  /** Receives what others counted. */
  readonly hear: (news: FailureNews) => void;
  /** Keys that wait to be published; of more, the oldest are dropped. */
  readonly waitingMax: number;
}): FailureTelling {
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
      await talk.ask(textOf(part.map(([, news]) => news)));
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
    note(counter, key, what) {
      const isForgiven = what === 'forgiven';
      add({ counter, key, isForgiven, failures: isForgiven ? 0 : 1 }, 'last');
      start();
    },
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

const textOf = (news: readonly FailureNews[]): string => JSON.stringify({ kind: 'failures', news });

/** Nothing: it is about something else. */
function readTold(text: string): readonly FailureNews[] {
  if (!text.startsWith(beginning)) return [];
  const told = parseJson(text) as JsonValue;
  // Processes of one version wrote it.
  return isJsonObject(told) ? (told['news'] as unknown as readonly FailureNews[]) : [];
}
