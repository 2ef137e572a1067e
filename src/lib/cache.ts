import { LRUCache } from 'lru-cache';

/** The weight that the entries of a cache may have together, in the unit of `weigh`. */
interface CacheWeight<Value> {
  readonly max: number;
  readonly weigh: (value: Value) => number;
  /**
   * Of new entries of a full cache, one of about so many is kept; absent: each. Who walks round
   * more than the cache holds then finds a part of it each time, instead of nothing.
   */
  readonly keptOf?: number;
}

/** Most caches of a small service have fewer. */
const entriesAtFirst = 32;

/**
 * A map that holds at most `entriesMax` entries, of at most `weight.max` together, and forgets the
 * one used longest ago. A value that weighs more than half of that is not kept. The package
 * allocates the memory of all entries at once, so a cache begins without any, then has that of
 * some, and of all as soon as there are more.
 */
export function createLruCache<Key extends {}, Value>(
  entriesMax: number,
  weight?: CacheWeight<Value>,
) {
  let cache: LRUCache<Key, Value & {}> | undefined;
  const open = (entries: number) =>
    new LRUCache<Key, Value & {}>({
      max: entries,
      ...(weight && {
        maxSize: weight.max,
        maxEntrySize: Math.floor(weight.max / 2),
        sizeCalculation: (value) => Math.max(1, Math.ceil(weight.weigh(value))),
      }),
    });
  /** The cache with a place for this key. */
  function withPlaceFor(key: Key) {
    cache ??= open(Math.min(entriesMax, entriesAtFirst));
    if (cache.size < cache.max || cache.max === entriesMax || cache.has(key)) return cache;
    const larger = open(entriesMax);
    // Each of its keys has a value.
    for (const kept of cache.rkeys()) larger.set(kept, cache.peek(kept) as Value & {});
    cache = larger;
    return cache;
  }

  // Many ask for the same entry one after the other: it is the one used last already.
  let latestKey: Key | undefined;
  let latest: Value | undefined;
  const forgetLatest = (): void => {
    latestKey = undefined;
    latest = undefined;
  };
  const isTurnedAway = (key: Key, value: Value & {}): boolean => {
    if (weight?.keptOf === undefined || cache === undefined || cache.has(key)) return false;
    if (cache.calculatedSize + weight.weigh(value) <= weight.max) return false;
    // By chance: what is asked for in a rhythm must not be turned away each time.
    return Math.random() * weight.keptOf >= 1;
  };

  return {
    get(key: Key): Value | undefined {
      if (latest !== undefined && key === latestKey) return latest;
      latest = cache?.get(key);
      latestKey = key;
      return latest;
    },
    set(key: Key, value: Value): void {
      // Also where it pushes that entry out.
      forgetLatest();
      // An undefined value is not kept: `get` answers undefined for absent keys.
      const known = value as Value & {};
      if (!isTurnedAway(key, known)) withPlaceFor(key).set(key, known);
    },
    delete(key: Key): void {
      forgetLatest();
      cache?.delete(key);
    },
    clear() {
      forgetLatest();
      if (cache !== undefined && cache.size > 0) cache.clear();
    },
    get size() {
      return cache?.size ?? 0;
    },
  };
}

/** Callers that ask for the same key while it is read get the result of one read. */
export function createReadThroughCache<Key extends {}, Value>(options: {
  readonly entriesMax: number;
  readonly weight?: CacheWeight<Value>;
  /**
   * Whether a value may still be answered that was asked for at `readAt` (performance.now), and
   * without a value whether a read that began then may be joined; absent: until it is forgotten.
   */
  readonly isCurrent?: (readAt: number, value?: Value) => boolean;
}) {
  const { weight } = options;
  const kept = createLruCache<Key, { readonly value: Value; readonly readAt: number }>(
    options.entriesMax,
    weight && { ...weight, weigh: ({ value }) => weight.weigh(value) },
  );
  const reading = new Map<Key, { readonly own: Promise<Value>; readonly readAt: number }>();

  function peek(key: Key): Value | undefined {
    const known = kept.get(key);
    if (known === undefined) return undefined;
    const { value, readAt } = known;
    return options.isCurrent?.(readAt, value) === false ? undefined : value;
  }

  async function readAndKeep(key: Key, read: () => Promise<Value>): Promise<Value> {
    const readAt = performance.now();
    const own = read();
    reading.set(key, { own, readAt });
    try {
      const value = await own;
      // Unless the key was forgotten meanwhile: then the value may be the one before a change.
      if (reading.get(key)?.own === own && value !== undefined) kept.set(key, { value, readAt });
      return value;
    } finally {
      if (reading.get(key)?.own === own) reading.delete(key);
    }
  }

  return {
    /** Answers the cached value; undefined: the source has to be asked. */
    peek,
    /** Answers the cached value, or that of `read`; undefined is answered and not kept. */
    async get(key: Key, read: () => Promise<Value>): Promise<Value> {
      const known = peek(key);
      if (known !== undefined) return known;
      const begun = reading.get(key);
      const mayJoin = begun !== undefined && options.isCurrent?.(begun.readAt) !== false;
      return mayJoin ? begun.own : readAndKeep(key, read);
    },
    /** Keeps a value that was read beside other ones, which were asked for at `readAt`. */
    keep: (key: Key, value: Value, readAt: number): void => kept.set(key, { value, readAt }),
    /** The value may have changed: what is being read at the moment is answered, and not kept. */
    forget(key: Key): void {
      kept.delete(key);
      reading.delete(key);
    },
    /** As `forget`, for all keys. */
    clear() {
      kept.clear();
      reading.clear();
    },
  };
}
