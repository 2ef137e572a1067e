import { TooManyWaitingError } from './semaphore.ts';

/** What `run` throws when the payer's own share of the line is full. */
export class ShareFullError extends TooManyWaitingError {
  constructor() {
    super();
    this.name = 'ShareFullError';
  }
}

export interface FairQueue<Lane extends string> {
  /**
   * Runs the task when it is its turn: lanes take turns, and in a lane its payers do. Throws
   * TooManyWaitingError when the lane is full, ShareFullError when the payer has half of it.
   */
  run<Result>(place: { lane: Lane; payer: string }, task: () => Promise<Result>): Promise<Result>;
}

/** The tasks of one payer that wait, oldest first. */
type Waiting = (() => void)[];

/** At most `parallelMax` tasks at a time, and at most `waitingMax` in line in each lane. */
export function createFairQueue<Lane extends string>(options: {
  readonly lanes: readonly Lane[];
  readonly parallelMax: number;
  readonly waitingMax: number;
}): FairQueue<Lane> {
  // By payer, in the order of their turns.
  const lanes = options.lanes.map((name) => ({
    name,
    waiting: 0,
    payers: new Map<string, Waiting>(),
  }));
  let running = 0;
  let lastLane = 0;

  function next(): (() => void) | undefined {
    for (let step = 1; step <= lanes.length; step += 1) {
      const index = (lastLane + step) % lanes.length;
      const lane = lanes[index];
      const first = lane?.payers.entries().next().value;
      if (lane === undefined || first === undefined) continue;
      const [payer, tasks] = first;
      lane.payers.delete(payer);
      const start = tasks.shift();
      // To the end of the turns.
      if (tasks.length > 0) lane.payers.set(payer, tasks);
      lane.waiting -= 1;
      lastLane = index;
      return start;
    }
    return undefined;
  }

  function wait(place: { lane: Lane; payer: string }): Promise<void> {
    const lane = lanes.find(({ name }) => name === place.lane);
    if (lane === undefined) throw new Error(`there is no lane ${place.lane}`);
    const own = lane.payers.get(place.payer) ?? [];
    if (own.length >= Math.ceil(options.waitingMax / 2)) throw new ShareFullError();
    if (lane.waiting >= options.waitingMax) throw new TooManyWaitingError();
    lane.payers.set(place.payer, own);
    lane.waiting += 1;
    return new Promise((resolve) => own.push(resolve));
  }

  return {
    async run(place, task) {
      if (running >= options.parallelMax) {
        await wait(place);
      } else {
        running += 1;
        lastLane = options.lanes.indexOf(place.lane);
      }
      try {
        return await task();
      } finally {
        // The place is handed on without being given up in between.
        const start = next();
        if (start === undefined) running -= 1;
        else start();
      }
    },
  };
}
