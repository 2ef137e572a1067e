/** The error that `run` throws when too many tasks wait already. */
export class TooManyWaitingError extends Error {
  constructor() {
    super('too many tasks wait');
    this.name = 'TooManyWaitingError';
  }
}

export interface Semaphore {
  /** Runs the task when one of the places is free; the order of arrival is kept. */
  run<Result>(task: () => Promise<Result>): Promise<Result>;
}

/** At most `parallelMax` tasks at a time, at most `waitingMax` in the queue. */
export function createSemaphore(options: {
  readonly parallelMax: number;
  readonly waitingMax: number;
}): Semaphore {
  let running = 0;
  const waiting: (() => void)[] = [];

  return {
    async run(task) {
      if (running >= options.parallelMax) {
        if (waiting.length >= options.waitingMax) throw new TooManyWaitingError();
        await new Promise<void>((resolve) => waiting.push(resolve));
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
