import { DomainError } from '../../domain/errors.ts';
import type { Writer, WriteSession } from './writer.ts';

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

/** Carries out the items of several callers at once, as one change. */
type JoinedWork<Item, Answer> = (
  tx: WriteSession,
  items: readonly Item[],
) => Promise<readonly Answer[]>;

interface Asking<Item, Answer> extends PromiseWithResolvers<Answer> {
  readonly item: Item;
}

/**
 * Joins changes that come before the commit of the first of them begins, `itemsMax` at most: the
 * work has all of them at once, and answers what became of each. Throws as the writer does; what
 * fails for one of them is tried again for each alone.
 */
export function createJoinedCalls<Item, Answer>(
  writer: Pick<Writer, 'call'>,
  work: JoinedWork<Item, Answer>,
  itemsMax: number,
): (item: Item) => Promise<Answer> {
  let gathering: Asking<Item, Answer>[] | undefined;

  async function carryOut(asked: readonly Asking<Item, Answer>[]): Promise<void> {
    try {
      const answers = await writer.call((tx) => {
        // Callers from now on belong to the next change.
        if (gathering === asked) gathering = undefined;
        return work(
          tx,
          asked.map(({ item }) => item),
        );
      });
      asked.forEach(({ resolve }, at) => {
        // The work answers one for each.
        resolve(answers[at] as Answer);
      });
    } catch (error) {
      if (gathering === asked) gathering = undefined;
      // A database that is away, or full, would refuse each alone in the same way.
      if (asked.length > 1 && !(error instanceof DomainError)) {
        await Promise.all(asked.map((one) => carryOut([one])));
      } else {
        for (const { reject } of asked) reject(error);
      }
    }
  }

  return (item) => {
    const asking = { item, ...Promise.withResolvers<Answer>() };
    if (gathering === undefined || gathering.length >= itemsMax) {
      const begun = [asking];
      gathering = begun;
      void carryOut(begun);
    } else {
      gathering.push(asking);
    }
    return asking.promise;
  };
}
