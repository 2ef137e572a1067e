import type { SessionKey } from '../../domain/messaging/message.ts';
import type { SharedSessions } from '../../domain/messaging/session-store.ts';
import type { Journal } from './journal.ts';
import type { SessionRegistry } from './session-registry.ts';
import { payerOfWill, type Wills } from './wills.ts';

/**
 * Wills that are this process's in the store, and that it does not know of: of claims and adoptions
 * that were refused, as the store could not be reached, and were made all the same.
 */
export function createStrayWills(options: {
  readonly shared: Pick<SharedSessions, 'ownWills'>;
  readonly journal: Pick<Journal, 'synced'>;
  readonly registry: Pick<SessionRegistry, 'find'>;
  readonly wills: Pick<Wills, 'terms' | 'inherit' | 'settle'>;
  /** Sessions that are being claimed: what the store has of them is not known here yet. */
  readonly claiming: ReadonlyMap<SessionKey, unknown>;
}) {
  const { shared, journal, registry, wills, claiming } = options;
  /** How many claims of the session had a will of their own when they were refused. */
  let refused = new Map<SessionKey, number>();
  let mayBeAny = false;

  return {
    /** The claim or adoption, of which a refusal is recorded; `key`: of a client with a will. */
    async watch<Answer>(asked: Promise<Answer>, key?: SessionKey): Promise<Answer> {
      try {
        return await asked;
      } catch (error) {
        mayBeAny = true;
        if (key !== undefined) refused.set(key, (refused.get(key) ?? 0) + 1);
        throw error;
      }
    },
    /** Takes up what there is. Throws DomainError unavailable when the store is away. */
    async adopt(): Promise<void> {
      if (!mayBeAny) return;
      // What ended here is not in the store any more.
      await journal.synced();
      const [known, busy, without] = [wills.terms(), new Set(claiming.keys()), refused];
      const own = await shared.ownWills();
      refused = new Map();
      mayBeAny = false;
      const strays = own.filter(({ turn }) => !known.has(turn));
      for (const [key, ofSession] of Map.groupBy(strays, (will) => will.key)) {
        const count = without.get(key) ?? 0;
        if (busy.has(key)) {
          mayBeAny = true;
          refused.set(key, count);
          continue;
        }
        const isBack = registry.find(key)?.link !== undefined;
        for (const [at, will] of ofSession.entries()) {
          // The last ones are of clients that were not let in; who is back cancels a delayed one.
          const isVoid = at >= ofSession.length - count || (isBack && will.delayMs > 0);
          if (isVoid) wills.settle(key, will.turn, payerOfWill(will));
          else wills.inherit(will);
        }
      }
    },
  };
}
