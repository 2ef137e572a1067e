/** Lets a few tasks run at a time, round robin over payers. */
export interface FairSemaphore {
  /** Runs the task when a place is free and its payer is next in the queue. */
  run<Result>(payer: string, task: () => Promise<Result>): Promise<Result>;
}

/**
 * At most `parallelMax` tasks at a time. Tasks of one payer keep their order; payers follow round
 * robin, so a single task waits for one task of each other payer at most. The caller bounds how
 * much may wait.
 */
export function createFairSemaphore(parallelMax: number): FairSemaphore {
  const lines = new Map<string, (() => void)[]>();
  let running = 0;

  /** Hands a place that became free to the payer that is next in the queue. */
  function pass(): void {
    for (const [payer, waiting] of lines) {
      const next = waiting.shift();
      lines.delete(payer);
      if (waiting.length > 0) lines.set(payer, waiting);
      if (next === undefined) continue;
      next();
      return;
    }
    running -= 1;
  }

  function enter(payer: string): Promise<void> {
    const waiting = lines.get(payer) ?? [];
    lines.set(payer, waiting);
    return new Promise((resolve) => waiting.push(resolve));
  }

  return {
    async run(payer, task) {
      if (running >= parallelMax) await enter(payer);
      else running += 1;
      try {
        return await task();
      } finally {
        pass();
      }
    },
  };
}
