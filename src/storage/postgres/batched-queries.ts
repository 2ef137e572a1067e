/** How many queries run at once, and for how many keys each asks. */
interface BatchedQueryLimits {
  readonly keysMax: number;
  readonly underWayMax: number;
}

/**
 * Batches callers that ask for one key each: while queries are under way others wait, and go
 * together in the next one. A query begins after every caller in it asked, so no answer is from
 * before. Its error reaches all callers in it.
 */
export function createBatchedQueries<Key, Found>(
  look: (keys: readonly Key[]) => Promise<ReadonlyMap<Key, Found>>,
  { keysMax, underWayMax }: BatchedQueryLimits,
): (key: Key) => Promise<Found | undefined> {
  type Asking = PromiseWithResolvers<Found | undefined>;
  let waiting = new Map<Key, Asking>();
  let underWay = 0;

  function begin(): void {
    while (waiting.size > 0 && underWay < underWayMax) {
      const taken = [...waiting].slice(0, keysMax);
      if (taken.length === waiting.size) waiting = new Map();
      else for (const [key] of taken) waiting.delete(key);
      void answer(taken);
    }
  }

  async function answer(asked: readonly (readonly [Key, Asking])[]): Promise<void> {
    underWay += 1;
    try {
      const found = await look(asked.map(([key]) => key));
      for (const [key, { resolve }] of asked) resolve(found.get(key));
    } catch (error) {
      for (const [, { reject }] of asked) reject(error);
    }
    underWay -= 1;
    begin();
  }

  return (key) => {
    const asking = waiting.get(key) ?? Promise.withResolvers<Found | undefined>();
    waiting.set(key, asking);
    begin();
    return asking.promise;
  };
}
