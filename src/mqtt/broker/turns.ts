import type { Payer } from '../../domain/budgets/payer.ts';

/** Work that is done in small pieces: payers alternate, and so do the pieces of each. */
export interface Slices<Item> {
  /** Queues an item; an item that waits already keeps its place. */
  add(payer: Payer, item: Item): void;
}

/** Length of a slice, for which other work waits. */
const turnMs = 5;

/** `work` does one piece, well below a millisecond, and answers whether there is another one. */
export function createSlices<Item>(work: (item: Item) => boolean): Slices<Item> {
  const waiting = new Map<Payer, Set<Item>>();
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || waiting.size === 0) return;
    isScheduled = true;
    setImmediate(run);
  }

  function run(): void {
    isScheduled = false;
    const end = performance.now() + turnMs;
    do takeOne();
    while (waiting.size > 0 && performance.now() < end);
    schedule();
  }

  function takeOne(): void {
    for (const [payer, items] of waiting) {
      // Behind the others, and before the work, which may add to them.
      waiting.delete(payer);
      waiting.set(payer, items);
      for (const item of items) {
        items.delete(item);
        if (work(item)) items.add(item);
        break;
      }
      if (items.size === 0) waiting.delete(payer);
      return;
    }
  }

  return {
    add(payer, item) {
      const items = waiting.get(payer);
      if (items === undefined) waiting.set(payer, new Set([item]));
      else items.add(item);
      schedule();
    },
  };
}
