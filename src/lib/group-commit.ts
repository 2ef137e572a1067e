export interface GroupCommitOptions<Item, Outcome> {
  /** Makes one batch durable; answers an outcome per item, in order. Throws: nothing was kept. */
  readonly commit: (batch: readonly Item[]) => Promise<readonly Outcome[]>;
  /** How much of a batch an item takes up, for instance its bytes. */
  readonly weigh: (item: Item) => number;
  /** Whose item it is. Items of one lane keep their order; lanes take turns by weight. */
  readonly laneOf: (item: Item) => string;
  /** A batch is closed once it weighs this much; a single heavier item travels alone. */
  readonly batchWeightMax: number;
  /** Items that wait weigh at most this much together; more are refused. */
  readonly queueWeightMax: number;
  /** Those of one lane. A single heavier item is taken when its lane is empty. */
  readonly laneWeightMax: number;
  /** What a lane may hold although the queue is full of what others wait for. */
  readonly laneWeightFloor: number;
  /** Makes the refusal of an item for which there is no room: in its lane, or in the queue. */
  readonly refusal: (full: 'lane' | 'queue') => Error;
}

export interface GroupCommit<Item, Outcome> {
  /** Joins the next batch that its lane's turn allows; resolves when that batch is durable. */
  add(item: Item): Promise<Outcome>;
  /**
   * Counts an item that waits elsewhere before it is added, and answers what ends that; whoever
   * adds it ends that first. Throws the refusal when there is no room.
   */
  hold(item: Item): () => void;
  /** Resolves when nothing waits and nothing is in flight. */
  drain(): Promise<void>;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly weight: number;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (reason: unknown) => void;
}

/** What one caller waits for. */
interface Lane<Item, Outcome> {
  readonly waiting: Waiting<Item, Outcome>[];
  /** Those before it have left. */
  next: number;
  weight: number;
  /** What it may send before others have their turn. */
  credit: number;
}

const turnsPerBatch = 8;

/**
 * Many callers, one commit. One batch is in flight at a time and the next leaves as soon as it
 * returns, so batches grow with the load and a lone caller waits for nobody. No timers.
 *
 * Lanes take turns by weight (deficit round robin, Shreedhar and Varghese 1995): a lane is given
 * the same credit at each of its turns, and a heavy item waits until its lane has saved up for it,
 * so light items of others leave before it however many heavy ones wait.
 */
export function createGroupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> {
  const { batchWeightMax, queueWeightMax, laneWeightMax, laneWeightFloor } = options;
  const creditPerTurn = Math.max(1, Math.floor(batchWeightMax / turnsPerBatch));
  /** In the order of their turns; a lane is here while something waits in it. */
  const lanes = new Map<string, Lane<Item, Outcome>>();
  /** By lane: what waits elsewhere. */
  const held = new Map<string, number>();
  /** What waits here and elsewhere. */
  let queueWeight = 0;
  let isScheduled = false;
  let inFlight: Promise<void> | undefined;

  /** The refusal of so much more in a lane; undefined: there is room. */
  function refusalOf(name: string, weight: number): Error | undefined {
    const laneHeld = held.get(name);
    const lane = lanes.get(name);
    const laneWeight = (lane?.weight ?? 0) + (laneHeld ?? 0) + weight;
    const isAlone = lane === undefined && laneHeld === undefined;
    if (!isAlone && laneWeight > laneWeightMax) return options.refusal('lane');
    const isFull = queueWeight > 0 && weight > 0 && queueWeight + weight > queueWeightMax;
    return isFull && laneWeight > laneWeightFloor ? options.refusal('queue') : undefined;
  }

  function hold(item: Item): () => void {
    const weight = options.weigh(item);
    const name = options.laneOf(item);
    const refusal = refusalOf(name, weight);
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
    const name = options.laneOf(item);
    const refusal = refusalOf(name, weight);
    if (refusal !== undefined) return Promise.reject(refusal);
    let lane = lanes.get(name);
    if (lane === undefined) {
      lane = { waiting: [], next: 0, weight: 0, credit: 0 };
      lanes.set(name, lane);
    }
    lane.weight += weight;
    queueWeight += weight;
    const { waiting } = lane;
    return new Promise<Outcome>((resolve, reject) => {
      waiting.push({ item, weight, resolve, reject });
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
    inFlight = lanes.size === 0 ? undefined : flush(takeBatch());
  }

  function takeBatch(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = [];
    let room = batchWeightMax;
    let turnsInVain = 0;
    // A lane that is put back is visited again: the loop ends when all are empty or nothing fits.
    for (const [name, lane] of lanes) {
      const countBefore = batch.length;
      lane.credit += creditPerTurn;
      const isFull = takeFrom(lane, batch, room);
      for (let at = countBefore; at < batch.length; at += 1) room -= batch[at]?.weight ?? 0;
      const isEmpty = lane.next === lane.waiting.length;
      if (isEmpty) lanes.delete(name);
      // Who did not get all it may send goes first in the next batch.
      if (isFull) break;
      if (isEmpty) continue;
      lanes.delete(name);
      lanes.set(name, lane);
      turnsInVain = batch.length > countBefore ? 0 : turnsInVain + 1;
      if (batch.length > 0 && turnsInVain >= lanes.size) break;
    }
    return batch;
  }

  /** Takes what the lane's credit allows; answers whether the batch had no room for more of it. */
  function takeFrom(
    lane: Lane<Item, Outcome>,
    batch: Waiting<Item, Outcome>[],
    roomBefore: number,
  ): boolean {
    let room = roomBefore;
    for (; lane.next < lane.waiting.length; lane.next += 1) {
      const waiting = lane.waiting[lane.next];
      if (waiting === undefined || waiting.weight > lane.credit) break;
      if (batch.length > 0 && waiting.weight > room) return true;
      batch.push(waiting);
      room -= waiting.weight;
      lane.credit -= waiting.weight;
      lane.weight -= waiting.weight;
      queueWeight -= waiting.weight;
    }
    dropTaken(lane);
    return false;
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
    while (lanes.size > 0 || isScheduled || inFlight !== undefined) {
      await (inFlight ?? new Promise((resolve) => setImmediate(resolve)));
    }
  }

  return { add, hold, drain };
}

const takenMax = 1_024;

/** Lets go of what has left, now and then: each time would move all that waits. */
function dropTaken<Item, Outcome>(lane: Lane<Item, Outcome>): void {
  if (lane.next < takenMax || lane.next * 2 < lane.waiting.length) return;
  lane.waiting.splice(0, lane.next);
  lane.next = 0;
}
