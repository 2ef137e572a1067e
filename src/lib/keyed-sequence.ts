/** Runs a task after those of the same key that came before; those of other keys run beside it. */
export type KeyedSequence = <Result>(key: string, task: () => Promise<Result>) => Promise<Result>;

/** A sequence for each key, kept while something runs in it. */
export function createKeyedSequence(): KeyedSequence {
  const last = new Map<string, Promise<void>>();
  return (key, task) => {
    const running = last.get(key)?.then(task) ?? task();
    const leave = (): void => {
      if (last.get(key) === over) last.delete(key);
    };
    const over = running.then(leave, leave);
    last.set(key, over);
    return running;
  };
}
