/** Waiting items by payer: one of each payer, then the next of each; those of a payer in order. */
export class PayerQueues<Item> {
  /** The next payer first; each has an item at least. */
  readonly #byPayer = new Map<string, Set<Item>>();
  /** Items of all payers. */
  size = 0;

  /** Puts an item behind those of its payer; one that waits already keeps its place. */
  push(payer: string, item: Item): void {
    const own = this.#byPayer.get(payer) ?? new Set();
    if (own.has(item)) return;
    own.add(item);
    this.#byPayer.set(payer, own);
    this.size += 1;
  }

  /** Takes the first item of the next payer, or of this one, who goes behind all others. */
  shift(payer = this.#byPayer.keys().next().value): Item | undefined {
    const own = payer === undefined ? undefined : this.#byPayer.get(payer);
    if (payer === undefined || own === undefined) return undefined;
    const [first] = own;
    own.delete(first as Item);
    this.#byPayer.delete(payer);
    if (own.size > 0) this.#byPayer.set(payer, own);
    this.size -= 1;
    return first;
  }

  /** Takes an item out that waits. */
  remove(payer: string, item: Item): void {
    const own = this.#byPayer.get(payer);
    if (own?.delete(item) !== true) return;
    this.size -= 1;
    if (own.size === 0) this.#byPayer.delete(payer);
  }

  countOf(payer: string): number {
    return this.#byPayer.get(payer)?.size ?? 0;
  }
}

/** The first of each list, then the second of each, and so on: `count` in all. */
export function oneOfEach<Item>(lists: readonly (readonly Item[])[], count: number): Item[] {
  const found: Item[] = [];
  const longest = lists.reduce((max, { length }) => Math.max(max, length), 0);
  for (let round = 0; round < longest && found.length < count; round += 1) {
    const next = lists.flatMap((list) => (round < list.length ? [list[round] as Item] : []));
    found.push(...next.slice(0, count - found.length));
  }
  return found;
}

/** The error that `run` throws when too many tasks wait already. */
export class TooManyWaitingError extends Error {
  constructor() {
    super('too many tasks wait');
    this.name = 'TooManyWaitingError';
  }
}

/**
 * At most `parallelMax` tasks at a time, at most `waitingMax` in the queue; where the caller bounds
 * how much may wait, there is none. Tasks of one payer keep their order; payers follow round robin,
 * so a single task waits for one task of each other payer at most.
 */
export function createSemaphore(options: {
  readonly parallelMax: number;
  readonly waitingMax?: number;
}) {
  const { parallelMax, waitingMax = Number.POSITIVE_INFINITY } = options;
  const waiting = new PayerQueues<() => void>();
  let running = 0;

  return {
    /** Runs the task when one of the places is free and its payer is next in the queue. */
    async run<Result>(payer: string, task: () => Promise<Result>): Promise<Result> {
      if (running >= parallelMax) {
        if (waiting.size >= waitingMax) throw new TooManyWaitingError();
        await new Promise<void>((resolve) => waiting.push(payer, resolve));
      } else {
        running += 1;
      }
      try {
        return await task();
      } finally {
        // The place is handed on without being given up in between.
        const next = waiting.shift();
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };
}

/**
 * Runs tasks of one key one after the other, in their order; those of other keys run beside. A task
 * begins before the call returns when none of its key runs.
 */
export function createKeyedSequence() {
  /** Kept while something runs. */
  const last = new Map<string, Promise<void>>();
  const run = <Result>(key: string, task: () => Promise<Result>): Promise<Result> => {
    const running = last.get(key)?.then(task) ?? task();
    const leave = (): void => {
      if (last.get(key) === over) last.delete(key);
    };
    const over = running.then(leave, leave);
    last.set(key, over);
    return running;
  };
  return Object.assign(run, {
    /** Resolves when no task runs or waits. */
    async drain(): Promise<void> {
      while (last.size > 0) await Promise.all(last.values());
    },
  });
}
