import { DomainError } from '../../domain/errors.ts';
import type { Writer, WriteSession } from './writer.ts';

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
