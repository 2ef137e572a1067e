export interface LruCache<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
  readonly size: number;
}

/** A map that holds at most `entriesMax` entries and forgets the one used longest ago. */
export function createLruCache<Key, Value>(entriesMax: number): LruCache<Key, Value> {
  // Two generations: cheaper than moving an entry on every read, and as well bounded.
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  const generationMax = Math.max(1, Math.ceil(entriesMax / 2));

  function keep(key: Key, value: Value): void {
    young.set(key, value);
    if (young.size >= generationMax) {
      old = young;
      young = new Map();
    }
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
    },
    get size() {
      return young.size + old.size;
    },
  };
}
