/** Lets a few tasks run at a time, and callers take turns. */
export interface FairSemaphore {
  /** Runs the task when a place is free and it is the payer's turn. */
  run<Result>(payer: string, task: () => Promise<Result>): Promise<Result>;
}

/**
 * At most `parallelMax` tasks at a time. Tasks of one payer keep their order; payers take turns, so
 * whoever brings one task waits for one task of each other payer at most. How much may wait is for
 * the caller to bound.
 */
export function createFairSemaphore(parallelMax: number): FairSemaphore {
  const lines = new Map<string, (() => void)[]>();
  let running = 0;

  /** Hands a place that became free to the payer whose turn it is. */
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
