export interface LruCache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  readonly size: number;
}

/** What the entries of a cache may weigh together, in whatever `weigh` counts. */
export interface CacheWeight<Value> {
  readonly max: number;
  readonly weigh: (value: Value) => number;
}

/**
 * A map that holds at most `entriesMax` entries, of at most `weight.max` together, and forgets the
 * one used longest ago. A value that weighs more than half of that is not kept.
 */
export function createLruCache<Key, Value>(
  entriesMax: number,
  weight?: CacheWeight<Value>,
): LruCache<Key, Value> {
  // Two generations: cheaper than moving an entry on every read, and as well bounded.
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  /** What came into the young generation: more than it holds, where keys were set anew. */
  let youngWeight = 0;
  const generationMax = Math.max(1, Math.ceil(entriesMax / 2));
  const weightMax = (weight?.max ?? Number.POSITIVE_INFINITY) / 2;

  function keep(key: Key, value: Value): void {
    const added = weight?.weigh(value) ?? 0;
    if (added > weightMax) {
      young.delete(key);
      return;
    }
    if (youngWeight + added > weightMax) startGeneration();
    young.set(key, value);
    youngWeight += added;
    if (young.size >= generationMax) startGeneration();
  }

  function startGeneration(): void {
    old = young;
    young = new Map();
    youngWeight = 0;
  }

  return {
    get(key) {
      const recent = young.get(key);
      if (recent !== undefined) return recent;
      const rested = old.get(key);
      if (rested === undefined) return undefined;
      old.delete(key);
      keep(key, rested);
      return rested;
    },
    set(key, value) {
      old.delete(key);
      keep(key, value);
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    clear() {
      young = new Map();
      old = new Map();
      youngWeight = 0;
    },
    get size() {
      return young.size + old.size;
    },
  };
}
