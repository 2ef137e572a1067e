/** Lets a few tasks run at a time, and callers take turns. */
export interface FairSemaphore {
  /** Runs the task when a place is free and it is the lane's turn. */
  run<Result>(lane: string, task: () => Promise<Result>): Promise<Result>;
}

/**
 * At most `parallelMax` tasks at a time. Tasks of one lane keep their order; lanes take turns, so
 * whoever brings one task waits for one task of each other lane at most. How much may wait is for
 * the caller to bound.
 */
export function createFairSemaphore(parallelMax: number): FairSemaphore {
  const lanes = new Map<string, (() => void)[]>();
  let running = 0;

  /** Hands a place that became free to the lane whose turn it is. */
  function pass(): void {
    for (const [lane, waiting] of lanes) {
      const next = waiting.shift();
      lanes.delete(lane);
      if (waiting.length > 0) lanes.set(lane, waiting);
      if (next === undefined) continue;
      next();
      return;
    }
    running -= 1;
  }

  function enter(lane: string): Promise<void> {
    const waiting = lanes.get(lane) ?? [];
    lanes.set(lane, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }

  return {
    async run(lane, task) {
      if (running >= parallelMax) await enter(lane);
      else running += 1;
      try {
        return await task();
      } finally {
        pass();
      }
    },
  };
}
