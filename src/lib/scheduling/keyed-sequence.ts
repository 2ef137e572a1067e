/** Runs tasks of one key one after the other, in their order; those of other keys run beside. */
export interface KeyedSequence {
  /** Begins the task before it returns when none of its key runs. */
  <Result>(key: string, task: () => Promise<Result>): Promise<Result>;
  /** Resolves when no task runs or waits. */
  drain(): Promise<void>;
}

/** A sequence for each key, kept while something runs in it. */
export function createKeyedSequence(): KeyedSequence {
  const last = new Map<string, Promise<void>>();
  const run = <Result>(key: string, task: () => Promise<Result>): Promise<Result> => {
    const running = last.get(key)?.then(task) ?? task();
    const leave = (): void => {
      if (last.get(key) === over) last.delete(key);
    };
    const over = running.then(leave, leave);
    last.set(key, over);
    return running;
  };
  return Object.assign(run, {
    async drain(): Promise<void> {
      while (last.size > 0) await Promise.all(last.values());
    },
  });
}
