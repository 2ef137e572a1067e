import { type CacheWeight, createLruCache } from './lru-cache.ts';

/** Callers that ask for the same key while it is read get the result of one read. */
export function createReadThroughCache<Key extends {}, Value>(options: {
  readonly entriesMax: number;
  readonly weight?: CacheWeight<Value>;
  /** Whether a cached value may still be answered; absent: until it is forgotten. */
  readonly isCurrent?: (value: Value) => boolean;
}) {
  const kept = createLruCache<Key, Value>(options.entriesMax, options.weight);
  const reading = new Map<Key, Promise<Value>>();

  function peek(key: Key): Value | undefined {
    const value = kept.get(key);
    return value === undefined || options.isCurrent?.(value) === false ? undefined : value;
  }

  async function readAndKeep(key: Key, read: () => Promise<Value>): Promise<Value> {
    const own = read();
    reading.set(key, own);
    try {
      const value = await own;
      // Unless the key was forgotten meanwhile: then the value may be the one before a change.
      if (reading.get(key) === own && value !== undefined) kept.set(key, value);
      return value;
    } finally {
      if (reading.get(key) === own) reading.delete(key);
    }
  }

  return {
    /** Answers the cached value; undefined: the source has to be asked. */
    peek,
    /** Answers the cached value, or that of `read`; undefined is answered and not kept. */
    async get(key: Key, read: () => Promise<Value>): Promise<Value> {
      return peek(key) ?? reading.get(key) ?? readAndKeep(key, read);
    },
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
