import { PayerQueues } from './payer-queues.ts';

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
