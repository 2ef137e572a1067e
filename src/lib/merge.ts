/** Where the merge is in one stream. */
interface Cursor<Step> {
  readonly place: number;
  readonly steps: AsyncIterator<Step>;
  step: Step;
  keys: ArrayLike<number>;
  at: number;
  key: number;
}

/** Items of one step that come before those of all other streams. */
export interface MergeRun<Step> {
  /** The place of the stream among those added. */
  readonly place: number;
  readonly step: Step;
  readonly from: number;
  readonly to: number;
}

/**
 * Merges streams of steps, each with its items in order. `keysOf` answers the keys of the items of
 * a step: the least comes first, or the greatest where `order` is desc; of equal ones that of the
 * stream that was added first.
 */
export function createMerge<Step>(
  keysOf: (step: Step) => ArrayLike<number>,
  order: 'asc' | 'desc' = 'asc',
) {
  /** A binary heap, the cursor to read next on top. */
  const heap: Cursor<Step>[] = [];
  const sign = order === 'asc' ? 1 : -1;
  let added = 0;

  const precedes = (a: Cursor<Step>, b: Cursor<Step>): boolean =>
    a.key < b.key || (a.key === b.key && a.place < b.place);

  /** The place of the one that comes first of two in the heap; the other one may be missing. */
  function firstOf(one: number, other: number): number {
    const [a, b] = [heap[one], heap[other]];
    return a !== undefined && b !== undefined && precedes(b, a) ? other : one;
  }

  function swap(one: number, other: number): void {
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return;
    heap[one] = b;
    heap[other] = a;
  }

  function sink(start: number): void {
    let at = start;
    while (true) {
      const least = firstOf(firstOf(at, 2 * at + 1), 2 * at + 2);
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  }

  function rise(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (firstOf(parent, at) === parent) return;
      swap(at, parent);
      at = parent;
    }
  }

  function move(cursor: Cursor<Step>, at: number): void {
    cursor.at = at;
    cursor.key = sign * (cursor.keys[at] ?? 0);
    sink(0);
  }

  async function fetch(cursor: Cursor<Step>): Promise<void> {
    const next = await nextStep(cursor.steps);
    if (next === undefined) {
      swap(0, heap.length - 1);
      heap.pop();
      return sink(0);
    }
    Object.assign(cursor, next);
    move(cursor, 0);
  }

  /** The next step that holds anything, with its keys. */
  async function nextStep(steps: AsyncIterator<Step>) {
    for (let next = await steps.next(); next.done !== true; next = await steps.next()) {
      const keys = keysOf(next.value);
      if (keys.length > 0) return { step: next.value, keys };
    }
    return undefined;
  }

  return {
    /** Adds a stream and fetches its first step, which is answered; undefined when it has none. */
    async add(steps: AsyncIterator<Step>): Promise<Step | undefined> {
      const place = added;
      added += 1;
      const next = await nextStep(steps);
      if (next === undefined) return undefined;
      rise(heap.push({ place, steps, ...next, at: 0, key: sign * (next.keys[0] ?? 0) }) - 1);
      return next.step;
    },
    /** The next items, `max` at most; undefined at the end. */
    run(max: number): MergeRun<Step> | undefined {
      const top = heap[0];
      if (top === undefined) return undefined;
      const { place, step, keys, at } = top;
      const other = heap[firstOf(1, 2)];
      const end = Math.min(keys.length, at + max);
      let to = at + 1;
      if (other === undefined) return { place, step, from: at, to: end };
      const isFirst = place < other.place;
      for (; to < end; to += 1) {
        const key = sign * (keys[to] ?? 0);
        if (key > other.key || (key === other.key && !isFirst)) break;
      }
      return { place, step, from: at, to };
    },
    /** Goes on behind so many of these; answers a promise when their stream is asked for more. */
    pass(count: number): Promise<void> | undefined {
      const cursor = heap[0];
      if (cursor === undefined) return undefined;
      const at = cursor.at + count;
      if (at >= cursor.keys.length) return fetch(cursor);
      move(cursor, at);
      return undefined;
    },
  };
}
