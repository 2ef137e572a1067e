import type { Peers } from '../../domain/datapoints/peers.ts';
import type { SessionKey } from '../../domain/messaging/message.ts';
import type {
  ClaimedSession,
  KnownHere,
  SharedSessions,
  StoredWill,
} from '../../domain/messaging/session-store.ts';
import type { Log } from '../../lib/log.ts';
import type { SessionRegistry } from './session-registry.ts';
import { payerOfWill, type Wills } from './wills.ts';

/**
 * Takes over sessions and wills of processes that ended, and those that a commit made this
 * process's which counts as refused, as its answer was lost.
 */
export function createAdoption(options: {
  readonly shared: Pick<SharedSessions, 'adopt' | 'adoptWills'>;
  readonly peers: Pick<Peers, 'heard'>;
  readonly registry: Pick<SessionRegistry, 'find' | 'size'>;
  readonly wills: Pick<Wills, 'inherit' | 'settle'>;
  readonly log: Log;
  readonly known: KnownHere;
  readonly restore: (adopted: readonly ClaimedSession[]) => void;
  readonly isClosed: () => boolean;
}) {
  const { shared, peers, registry, wills, log, known, restore, isClosed } = options;
  /** Claims that were refused, by their terms: their clients were not let in, and have no wills. */
  const refused = new Map<number, SessionKey>();
  /** Whether a claim or adoption was refused that may have been made all the same. */
  let isInDoubt = false;
  let adopting: Promise<void> | undefined;

  async function adoptAll(): Promise<void> {
    // Sessions that ended processes took from this one are known then, and its changes stored.
    if (registry.size > 0 && !(await peers.heard())) return;
    const leftOut = new Set<SessionKey>();
    const knownHere = isInDoubt ? knowing(leftOut) : undefined;
    isInDoubt = false;
    const refusedBefore = [...refused];
    try {
      const adoptWills = () => shared.adoptWills(knownHere);
      for (let left = await adoptWills(); left.length > 0; left = await adoptWills()) {
        for (const will of left) adoptWill(will, knownHere !== undefined);
      }
      // Rows of sessions that are being taken up were left out: they are looked for again.
      isInDoubt ||= leftOut.size > 0;
      for (const [turn, key] of knownHere === undefined ? [] : refusedBefore) {
        if (!leftOut.has(key)) refused.delete(turn);
      }
      const adopt = () => shared.adopt(knownHere);
      for (let adopted = await adopt(); adopted.length > 0; adopted = await adopt()) {
        restore(adopted);
        if (isClosed()) return;
      }
      isInDoubt ||= leftOut.size > 0;
    } catch (error) {
      isInDoubt = true;
      throw error;
    }
  }

  /** What is known here; the sessions that are left out for it are added to `leftOut`. */
  const knowing = (leftOut: Set<SessionKey>): KnownHere => ({
    keys() {
      const keys = known.keys();
      for (const key of keys) leftOut.add(key);
      return keys;
    },
    terms: known.terms,
  });

  function adoptWill(will: StoredWill, mayBeOwn: boolean): void {
    const { key, turn, delayMs } = will;
    // A client that is back in time cancels its will.
    const isBack = mayBeOwn && delayMs > 0 && registry.find(key)?.link !== undefined;
    if (isBack || refused.has(turn)) wills.settle(key, turn, payerOfWill(will));
    else wills.inherit(will);
  }

  return {
    /** Records that a claim in these terms was refused. */
    refused(key: SessionKey, terms: readonly number[]): void {
      for (const turn of terms) refused.set(turn, key);
      isInDoubt ||= terms.length > 0;
    },
    /** Never rejects; what cannot be adopted now is with the next call. */
    adopt(): Promise<void> {
      adopting ??= adoptAll()
        .catch((error: unknown) => log.warn({ err: error }, 'no session could be adopted'))
        .finally(() => {
          adopting = undefined;
        });
      return adopting;
    },
    over: async (): Promise<void> => adopting,
  };
}
