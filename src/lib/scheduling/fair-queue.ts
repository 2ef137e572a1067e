import { PayerQueues, TooManyWaitingError } from './payer-queues.ts';

/** The error that `run` throws when the payer's own quota of the queue is full. */
export class ShareFullError extends TooManyWaitingError {
  override readonly name = 'ShareFullError';
}

/** The error that `run` throws when a signal of the place aborted before the task began. */
export class LeftQueueError extends Error {
  constructor() {
    super('the task left the queue');
    this.name = 'LeftQueueError';
  }
}

/** Where a task waits. */
export interface QueuePlace<Lane extends string> {
  readonly lane: Lane;
  readonly payer: string;
  /** Signals that take the task out of the queue before it starts. */
  readonly signals?: readonly AbortSignal[];
}

export interface FairQueue<Lane extends string> {
  /**
   * Runs the task when it is next in the queue: round robin over lanes, and over the payers of a
   * lane; every second start in a lane is of the payer that came last, so that many payers do not
   * delay later ones. Throws TooManyWaitingError when the lane is full, ShareFullError when the
   * payer has half of it, LeftQueueError when a signal took it out.
   */
  run<Result>(place: QueuePlace<Lane>, task: () => Promise<Result>): Promise<Result>;
}

/** Limits of a lane, where they differ from those of the queue for each lane. */
interface LaneLimits {
  /** Tasks of the lane that run at a time. */
  readonly parallelMax?: number;
  /** Tasks of one payer that wait. */
  readonly shareMax?: number;
}

/** At most `parallelMax` tasks at a time, and at most `waitingMax` in the queue of each lane. */
export function createFairQueue<Lane extends string>(options: {
  readonly lanes: readonly Lane[];
  /** Lanes whose tasks start when no task waits in the others. */
  readonly idleLanes?: readonly Lane[];
  readonly parallelMax: number;
  readonly waitingMax: number;
  readonly ofLane?: Readonly<Partial<Record<Lane, LaneLimits>>>;
}): FairQueue<Lane> {
  const laneOf = (name: Lane) => ({
    ...{ name, starts: 0, running: 0 },
    ...{ parallelMax: options.parallelMax, shareMax: Math.ceil(options.waitingMax / 2) },
    ...options.ofLane?.[name],
    waiting: new PayerQueues<() => void>(),
    /** Payers of which no task has started yet, in the order of arrival. */
    fresh: new Set<string>(),
  });
  const lanes = options.lanes.map(laneOf);
  const idleLanes = (options.idleLanes ?? []).map(laneOf);
  const byName = new Map([...lanes, ...idleLanes].map((lane) => [lane.name, lane]));
  let running = 0;
  let lastLane = 0;

  function nextIn(lane: ReturnType<typeof laneOf>): (() => void) | undefined {
    if (lane.running >= lane.parallelMax) return undefined;
    lane.starts += 1;
    const start = lane.waiting.shift(lane.starts % 2 === 0 ? [...lane.fresh].at(-1) : undefined);
    if (start === undefined) return undefined;
    lane.running += 1;
    return start;
  }

  function next(): (() => void) | undefined {
    for (let step = 1; step <= lanes.length; step += 1) {
      const index = (lastLane + step) % lanes.length;
      const lane = lanes[index];
      const start = lane && nextIn(lane);
      if (start === undefined) continue;
      lastLane = index;
      return start;
    }
    for (const lane of idleLanes) {
      const start = nextIn(lane);
      if (start !== undefined) return start;
    }
    return undefined;
  }

  function wait(
    lane: ReturnType<typeof laneOf>,
    { payer, signals = [] }: QueuePlace<Lane>,
  ): Promise<void> {
    const own = lane.waiting.countOf(payer);
    if (own >= lane.shareMax) throw new ShareFullError();
    if (lane.waiting.size >= options.waitingMax) throw new TooManyWaitingError();
    if (own === 0) lane.fresh.add(payer);
    return new Promise((resolve, reject) => {
      const forget = () => {
        for (const signal of signals) signal.removeEventListener('abort', leave);
      };
      const start = () => {
        forget();
        lane.fresh.delete(payer);
        resolve();
      };
      function leave(): void {
        forget();
        lane.waiting.remove(payer, start);
        if (lane.waiting.countOf(payer) === 0) lane.fresh.delete(payer);
        reject(new LeftQueueError());
      }
      lane.waiting.push(payer, start);
      for (const signal of signals) signal.addEventListener('abort', leave);
    });
  }

  return {
    async run(place, task) {
      if (place.signals?.some(({ aborted }) => aborted)) throw new LeftQueueError();
      const lane = byName.get(place.lane);
      if (lane === undefined) throw new Error(`there is no lane ${place.lane}`);
      if (running >= options.parallelMax || lane.running >= lane.parallelMax) {
        await wait(lane, place);
      } else {
        running += 1;
        lane.running += 1;
        lastLane = Math.max(0, options.lanes.indexOf(place.lane));
      }
      try {
        return await task();
      } finally {
        lane.running -= 1;
        // The place is handed on without being given up in between.
        const start = next();
        if (start === undefined) running -= 1;
        else start();
      }
    },
  };
}
