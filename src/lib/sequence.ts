/** Runs tasks one after the other, in the order in which they came. */
export interface Sequence {
  /** A task that comes while none runs is begun before this returns. */
  run<Result>(task: () => Promise<Result>): Promise<Result>;
  /** Resolves when no task runs or waits. */
  drain(): Promise<void>;
}

/** A sequence that nothing runs in yet. */
export function createSequence(): Sequence {
  let last: Promise<unknown> = Promise.resolve();
  let count = 0;

  return {
    run(task) {
      const running = count === 0 ? task() : last.then(task);
      count += 1;
      const over = () => {
        count -= 1;
      };
      last = running.then(over, over);
      return running;
    },
    async drain() {
      while (count > 0) await last;
    },
  };
}
