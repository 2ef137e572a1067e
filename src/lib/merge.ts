/** Where the merge is in one stream. */
interface Cursor<Item> {
  readonly place: number;
  readonly steps: AsyncIterator<readonly Item[]>;
  step: readonly Item[];
  at: number;
  item: Item;
  key: number;
}

/** The least key comes first; of equal ones that of the stream that was added first. */
export function createMerge<Item>(keyOf: (item: Item) => number) {
  /** A binary heap, the cursor to read next on top. */
  const heap: Cursor<Item>[] = [];
  let added = 0;

  function isBefore(one: number, other: number): boolean {
    const [a, b] = [heap[one], heap[other]];
    if (a === undefined || b === undefined) return false;
    return a.key < b.key || (a.key === b.key && a.place < b.place);
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
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = isBefore(left, at) ? left : at;
      if (isBefore(right, least)) least = right;
      if (least === at) return;
      swap(at, least);
      at = least;
    }
  }

  function rise(start: number): void {
    for (let at = start; at > 0; ) {
      const parent = (at - 1) >> 1;
      if (!isBefore(at, parent)) return;
      swap(at, parent);
      at = parent;
    }
  }

  function dropTop(): void {
    swap(0, heap.length - 1);
    heap.pop();
    sink(0);
  }

  async function fetch(cursor: Cursor<Item>): Promise<void> {
    const step = await nextStep(cursor.steps);
    if (step === undefined) return dropTop();
    cursor.step = step;
    look(cursor, 0);
    sink(0);
  }

  function look(cursor: Cursor<Item>, at: number): void {
    cursor.at = at;
    cursor.item = cursor.step[at] as Item;
    cursor.key = keyOf(cursor.item);
  }

  return {
    /** Adds a stream and fetches its first step, which is answered; undefined when it has none. */
    async add(steps: AsyncIterator<readonly Item[]>): Promise<readonly Item[] | undefined> {
      const place = added;
      added += 1;
      const step = await nextStep(steps);
      if (step === undefined) return undefined;
      const item = step[0] as Item;
      rise(heap.push({ place, steps, step, at: 0, item, key: keyOf(item) }) - 1);
      return step;
    },
    /** The next item, and the place of its stream among those added; undefined at the end. */
    top: (): { readonly place: number; readonly item: Item } | undefined => heap[0],
    /** Goes on behind the top; answers a promise when its stream must be asked for more. */
    next(): Promise<void> | undefined {
      const cursor = heap[0];
      if (cursor === undefined) return undefined;
      if (cursor.at + 1 === cursor.step.length) return fetch(cursor);
      look(cursor, cursor.at + 1);
      sink(0);
      return undefined;
    },
  };
}

/** The next step that holds anything. */
async function nextStep<Item>(
  steps: AsyncIterator<readonly Item[]>,
): Promise<readonly Item[] | undefined> {
  for (let next = await steps.next(); next.done !== true; next = await steps.next()) {
    if (next.value.length > 0) return next.value;
  }
  return undefined;
}
