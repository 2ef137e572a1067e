import { createFairSlices } from './fair-slices.ts';

export interface GroupCommitOptions<Item, Committed, Outcome = Committed> {
  /** Makes one batch durable; answers what became of each item, in order. Throws: none was kept. */
  readonly commit: (batch: readonly Item[]) => Promise<readonly Committed[]>;
  /** Hands the caller the outcome of its item; left out where that is what was committed. */
  readonly settle?: (committed: Committed, caller: Caller<Outcome>) => void;
  /** How much of a batch an item takes up, for instance its bytes. */
  readonly weigh: (item: Item) => number;
  /** The payer of an item. Items of one payer keep their order; payers are served by weight. */
  readonly payerOf: (item: Item) => string;
  /** A batch is closed once it weighs this much; a single heavier item travels alone. */
  readonly batchWeightMax: number;
  /** A batch has at most so many items; absent: as many as its weight allows. */
  readonly batchItemsMax?: number;
  /** Items that wait weigh at most this much together; more are refused. */
  readonly queueWeightMax: number;
  /** As `queueWeightMax`, of one payer. A single heavier item is taken when no other waits. */
  readonly payerWeightMax: number;
  /** Weight that a payer may queue although the queue is full of the items of others. */
  readonly payerWeightFloor: number;
  /**
   * The part of the time that a batch took for which the next one waits for its callers to come
   * again, where others wait already: fewer commits carry as much. Absent: it leaves at once.
   */
  readonly gatherPart?: number | undefined;
  /** Makes the refusal of an item that exceeds the limit of its payer, or of the queue. */
  readonly refusal: (full: 'payer' | 'queue') => Error;
}

/** The caller that waits for the outcome of an item: as in the executor of a promise. */
export interface Caller<Outcome> {
  readonly resolve: (outcome: Outcome | PromiseLike<Outcome>) => void;
  readonly reject: (reason: unknown) => void;
}

interface Waiting<Item, Outcome> extends Caller<Outcome> {
  readonly item: Item;
  readonly weight: number;
}

/** The waiting items of a payer. */
interface PayerQueue<Item, Outcome> {
  readonly waiting: Waiting<Item, Outcome>[];
  /** Index of the first item that still waits. */
  next: number;
  weight: number;
  /** Weight that the payer may send before the next payer does. */
  credit: number;
}

const turnsPerBatch = 8;
/** Batches that come back within twice as many milliseconds are settled in one turn. */
const turnMs = 2.5;
/** The longest wait for the callers of a batch. */
const gatherMsMax = 10;

/**
 * Many callers, one commit. One batch is in flight at a time and the next leaves as soon as it
 * returns, or a part of its time later (`gatherPart`), so batches grow with the load and a lone
 * caller waits for no other. Under a flood batches come back while their callers are answered:
 * after some milliseconds of that the event loop has its turn first.
 *
 * Payers are served by weight (deficit round robin, Shreedhar and Varghese 1995): a payer is given
 * the same credit in each round, and a heavy item waits until its payer has saved up for it, so
 * light items of others leave before it however many heavy ones wait.
 *
 * `add` joins the next batch that its payer's credit allows, and resolves when that is durable.
 * `hold` counts an item that waits elsewhere before it is added, and answers the function that ends
 * that; it throws the refusal when a limit is exceeded. `drain` resolves when nothing waits and
 * nothing is in flight.
 */
export function createGroupCommit<Item, Committed, Outcome = Committed>(
  options: GroupCommitOptions<Item, Committed, Outcome>,
) {
  const { batchWeightMax, queueWeightMax, payerWeightMax, payerWeightFloor } = options;
  const { gatherPart = 0 } = options;
  /** Added to the weight of each item in a batch. */
  const itemWeight = batchWeightMax / (options.batchItemsMax ?? Number.POSITIVE_INFINITY);
  const settling = createFairSlices({ turnMs });
  const creditPerTurn = Math.max(1, Math.floor(batchWeightMax / turnsPerBatch));
  /** The queues of payers with waiting items, the next one first. */
  const lines = new Map<string, PayerQueue<Item, Outcome>>();
  /** By payer: what waits elsewhere. */
  const held = new Map<string, number>();
  /** Weight of all items that wait, here and elsewhere. */
  let queueWeight = 0;
  let isScheduled = false;
  let inFlight: Promise<void> | undefined;
  /** How many items wait here. */
  let waitingCount = 0;
  const gathering = createGathering();

  /** The refusal of so much more weight in a payer's queue; undefined: it is within the limits. */
  function refusalOf(
    name: string,
    line: PayerQueue<Item, Outcome> | undefined,
    weight: number,
  ): Error | undefined {
    // Mostly nothing waits elsewhere: then the map is not read.
    const heldWeight = held.size === 0 ? undefined : held.get(name);
    const payerWeight = (line?.weight ?? 0) + (heldWeight ?? 0) + weight;
    const isAlone = line === undefined && heldWeight === undefined;
    if (!isAlone && payerWeight > payerWeightMax) return options.refusal('payer');
    const isFull = queueWeight > 0 && weight > 0 && queueWeight + weight > queueWeightMax;
    return isFull && payerWeight > payerWeightFloor ? options.refusal('queue') : undefined;
  }

  function hold(item: Item): () => void {
    const weight = options.weigh(item);
    const name = options.payerOf(item);
    const refusal = refusalOf(name, lines.get(name), weight);
    if (refusal !== undefined) throw refusal;
    held.set(name, (held.get(name) ?? 0) + weight);
    queueWeight += weight;
    return () => {
      const left = (held.get(name) ?? 0) - weight;
      if (left > 0) held.set(name, left);
      else held.delete(name);
      queueWeight -= weight;
    };
  }

  function add(item: Item): Promise<Outcome> {
    const weight = options.weigh(item);
    const name = options.payerOf(item);
    let line = lines.get(name);
    const refusal = refusalOf(name, line, weight);
    if (refusal !== undefined) return Promise.reject(refusal);
    if (line === undefined) {
      line = { waiting: [], next: 0, weight: 0, credit: 0 };
      lines.set(name, line);
    }
    line.weight += weight;
    queueWeight += weight;
    const { waiting } = line;
    return new Promise<Outcome>((resolve, reject) => {
      waiting.push({ item, weight, resolve, reject });
      waitingCount += 1;
      gathering.noteWaiting(waitingCount);
      schedule();
    });
  }

  function schedule(): void {
    if (isScheduled || inFlight !== undefined) return;
    isScheduled = true;
    // After this iteration of the event loop, so that requests read together commit together.
    setImmediate(() => {
      isScheduled = false;
      startNext();
    });
  }

  function startNext(): void {
    inFlight = lines.size === 0 ? undefined : flush(takeBatch());
  }

  function takeBatch(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = [];
    let room = batchWeightMax;
    let turnsInVain = 0;
    // A payer that is put back is visited again: the loop ends when all are empty or nothing fits.
    for (const [name, line] of lines) {
      const countBefore = batch.length;
      line.credit += creditPerTurn;
      const creditBefore = line.credit;
      const isFull = takeFrom(line, batch, { room, itemWeight });
      room -= creditBefore - line.credit;
      const isEmpty = line.next === line.waiting.length;
      if (isEmpty) lines.delete(name);
      // A payer that could not send all that it may goes first in the next batch.
      if (isFull) break;
      if (isEmpty) continue;
      lines.delete(name);
      lines.set(name, line);
      turnsInVain = batch.length > countBefore ? 0 : turnsInVain + 1;
      if (batch.length > 0 && turnsInVain >= lines.size) break;
    }
    for (const { weight } of batch) queueWeight -= weight;
    waitingCount -= batch.length;
    return batch;
  }

  /** Whether the next batch waits for callers of the one before. */
  const isGathered = (): boolean =>
    gatherPart > 0 && waitingCount > 0 && queueWeight + waitingCount * itemWeight < batchWeightMax;

  async function flush(batch: readonly Waiting<Item, Outcome>[]): Promise<void> {
    try {
      const startedAt = performance.now();
      const committed = await options.commit(batch.map((waiting) => waiting.item));
      const turn = settling.enter('batches');
      if (turn !== undefined) await turn;
      const count = isGathered() ? waitingCount + batch.length : 0;
      // First of all: the disk works on the next batch while the callers of this one are answered.
      if (count === 0) startNext();
      settleAll(batch, committed, options.settle);
      if (count === 0) return;
      await gathering.wait(count, (performance.now() - startedAt) * gatherPart);
      startNext();
    } catch (reason) {
      startNext();
      for (const waiting of batch) waiting.reject(reason);
    }
  }

  async function drain(): Promise<void> {
    while (lines.size > 0 || isScheduled || inFlight !== undefined) {
      await (inFlight ?? new Promise((resolve) => setImmediate(resolve)));
    }
  }

  return { add, hold, drain };
}

/** Takes what the payer's credit allows; answers whether the batch is full before that. */
function takeFrom<Item, Outcome>(
  line: PayerQueue<Item, Outcome>,
  batch: Waiting<Item, Outcome>[],
  { room, itemWeight }: { readonly room: number; readonly itemWeight: number },
): boolean {
  const { waiting, credit } = line;
  let taken = 0;
  let isFull = false;
  for (; line.next < waiting.length; line.next += 1) {
    const next = waiting[line.next];
    const more = taken + (next?.weight ?? 0) + itemWeight;
    if (next === undefined || more > credit) break;
    isFull = batch.length > 0 && more > room;
    if (isFull) break;
    batch.push(next);
    line.weight -= next.weight;
    taken = more;
  }
  line.credit -= taken;
  if (!isFull) dropTaken(line);
  return isFull;
}

/** The wait for callers of a batch before the next one leaves. */
function createGathering() {
  let under: { readonly count: number; readonly end: () => void } | undefined;
  return {
    /** Resolves when so many items wait, or after so many milliseconds. */
    wait(count: number, ms: number): Promise<void> {
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(patience);
          under = undefined;
          resolve();
        };
        const patience = setTimeout(end, Math.min(ms, gatherMsMax));
        under = { count, end };
      });
    },
    /** Records how many wait now. */
    noteWaiting(count: number): void {
      if (count === under?.count) setImmediate(under.end);
    },
  };
}

/** Hands each caller the outcome of its item. Without `settle`, both types are one. */
function settleAll<Item, Committed, Outcome>(
  batch: readonly Waiting<Item, Outcome>[],
  committed: readonly Committed[],
  settle: GroupCommitOptions<Item, Committed, Outcome>['settle'] = (made, { resolve }) =>
    resolve(made as unknown as Outcome),
): void {
  for (let at = 0; at < batch.length; at += 1) {
    // As many as the batch has.
    settle(committed[at] as Committed, batch[at] as Waiting<Item, Outcome>);
  }
}

const takenMax = 1_024;

/** Lets go of what has left, now and then: each time would move all that waits. */
function dropTaken<Item, Outcome>(line: PayerQueue<Item, Outcome>): void {
  if (line.next < takenMax || line.next * 2 < line.waiting.length) return;
  line.waiting.splice(0, line.next);
  line.next = 0;
}
