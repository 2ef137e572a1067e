export interface GroupCommitOptions<Item, Outcome> {
  /** Makes one batch durable; answers an outcome per item, in order. Throws: nothing was kept. */
  readonly commit: (batch: readonly Item[]) => Promise<readonly Outcome[]>;
  /** How much of a batch an item takes up, for instance its number of datapoints. */
  readonly weigh: (item: Item) => number;
  /** A batch is closed once it weighs this much; a single heavier item travels alone. */
  readonly batchWeightMax: number;
  /** Items that wait weigh at most this much together; more are refused. */
  readonly queueWeightMax: number;
  /** Makes the refusal of an item for which there is no room. */
  readonly refusal: () => Error;
}

export interface GroupCommit<Item, Outcome> {
  /** Joins the next batch; resolves when that batch is durable. */
  add(item: Item): Promise<Outcome>;
  /** Resolves when nothing waits and nothing is in flight. */
  drain(): Promise<void>;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Many callers, one commit. One batch is in flight at a time and the next leaves as soon as it
 * returns, so batches grow with the load and a lone caller waits for nobody. No timers.
 */
export function createGroupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> {
  let queue: Waiting<Item, Outcome>[] = [];
  let queueWeight = 0;
  let isScheduled = false;
  let inFlight: Promise<void> | undefined;

  function add(item: Item): Promise<Outcome> {
    const weight = options.weigh(item);
    if (queueWeight > 0 && queueWeight + weight > options.queueWeightMax) {
      return Promise.reject(options.refusal());
    }
    queueWeight += weight;
    return new Promise<Outcome>((resolve, reject) => {
      queue.push({ item, resolve, reject });
      schedule();
    });
  }

  function schedule(): void {
    if (isScheduled || inFlight !== undefined) return;
    isScheduled = true;
    // After the current turn of the event loop, so that requests read together commit together.
    setImmediate(() => {
      isScheduled = false;
      startNext();
    });
  }

  function startNext(): void {
    inFlight = queue.length === 0 ? undefined : flush(takeBatch());
  }

  function takeBatch(): Waiting<Item, Outcome>[] {
    let weight = 0;
    let count = 0;
    for (const waiting of queue) {
      const itemWeight = options.weigh(waiting.item);
      if (count > 0 && weight + itemWeight > options.batchWeightMax) break;
      weight += itemWeight;
      count += 1;
    }
    const batch = count === queue.length ? queue : queue.slice(0, count);
    queue = count === queue.length ? [] : queue.slice(count);
    queueWeight -= weight;
    return batch;
  }

  async function flush(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const outcomes = await options.commit(batch.map((waiting) => waiting.item));
      // First of all: the disk works on the next batch while the callers of this one are answered.
      startNext();
      batch.forEach((waiting, index) => {
        waiting.resolve(outcomes[index] as Outcome);
      });
    } catch (reason) {
      startNext();
      for (const waiting of batch) waiting.reject(reason);
    }
  }

  async function drain(): Promise<void> {
    while (queue.length > 0 || isScheduled || inFlight !== undefined) {
      await (inFlight ?? new Promise((resolve) => setImmediate(resolve)));
    }
  }

  return { add, drain };
}
