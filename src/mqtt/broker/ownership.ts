import { setTimeout as wait } from 'node:timers/promises';
import type { Peers } from '../../domain/datapoints/peers.ts';
import { memberLimits } from '../../domain/members/member-limits.ts';
import { formerGuestIdentity, identityOfGuest } from '../../domain/messaging/identity.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type {
  Claim,
  ClaimedSession,
  KnownHere,
  StoredWill,
} from '../../domain/messaging/session-store.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import { createKeyedSequence } from '../../lib/scheduling/payer-queues.ts';
import { reason } from '../packets/packet.ts';
import { type CatchUpOptions, complete, holdBack, type TakenSession } from './catch-up.ts';
import { retryPause } from './journal.ts';
import type { Session } from './session.ts';
import type { OpenRequest, SessionRegistry } from './session-registry.ts';
import { type Claimed, type Talk, writeTalk } from './talk.ts';
import { payerOfWill, type Will, type Wills } from './wills.ts';

/** A client that is let in. */
interface Taking extends OpenRequest {
  readonly will: Will | undefined;
}

/** A session that is being taken. */
interface TakingState {
  /** The last term in which another process took it. */
  elsewhere: number;
  /** Terms of the claim, of each attempt to commit it. */
  readonly terms: number[];
}

interface OwnershipOptions extends CatchUpOptions {
  readonly peers: Peers;
  readonly registry: SessionRegistry;
  readonly wills: Wills;
}

/**
 * Which sessions are this process's, where several serve: each is of the process that had its
 * client last, and of another one when that has ended.
 */
export function createOwnership(options: OwnershipOptions) {
  const { shared, peers, registry, journal, wills, log } = options;
  const { disconnect, endFormerOf, endIfReplaced } = createEnding(options);
  const inTurn = createKeyedSequence();
  const taking = new Map<SessionKey, TakingState>();
  const behind = new Map<Promise<void>, readonly SessionKey[]>();
  /** Claims that were refused, by their terms: their clients were not let in, and have no wills. */
  const refused = new Map<number, SessionKey>();
  /** Whether a claim or adoption was refused that may have been made all the same. */
  let isInDoubt = false;
  const givingAway = new Set<Promise<void>>();
  let adopting: Promise<void> | undefined;
  let isClosed = false;
  shared.onFenced((keys) => {
    for (const key of keys) lose(registry.find(key));
  });

  /** Lets go of a session that is another process's: nothing of it is changed here any more. */
  function lose(session: Session | undefined): void {
    if (session === undefined) return;
    session.link?.end(reason.takenOver, 'the client connected again');
    wills.cancel(session.key);
    registry.release(session);
  }

  /**
   * Makes the session of a client this process's, and then calls `open` at once. What another
   * process has of it is in the store by then. Rejects when it cannot be, for now.
   */
  function take(client: Taking, open: (turn: number) => boolean): Promise<void> {
    const key = sessionKey(client.identity, client.clientId);
    return inTurn(key, async () => {
      const state: TakingState = { elsewhere: 0, terms: [] };
      taking.set(key, state);
      try {
        const { turn, session, wills: left } = await claim(key, client, state.terms);
        const isContinued = session !== undefined && !client.cleanStart;
        for (const will of left) {
          // A client that reconnects in time cancels its will.
          if (isContinued && will.delayMs > 0) wills.settle(key, will.turn, client.payer);
          else wills.inherit({ ...will, delayMs: 0 });
        }
        if (state.elsewhere > turn) {
          wills.settle(key, turn, client.payer);
          throw new Error('the client connected elsewhere');
        }
        if (session !== undefined) restore([session], isContinued);
        if (!open(turn) && client.will !== undefined) wills.settle(key, turn, client.payer);
      } finally {
        taking.delete(key);
      }
    });
  }

  async function claim(key: SessionKey, client: Taking, terms: number[]): Promise<Claim> {
    const { identity, clientId, cleanStart, payer, expirySeconds } = client;
    const who = { identity, clientId, cleanStart };
    const ask = (isForced: boolean) =>
      shared
        .claim({
          ...{ key, identity, clientId, payer, expirySeconds, isForced },
          will: storedWill(key, client),
          isKnown: registry.find(key) !== undefined,
          note(turn) {
            terms.push(turn);
            return peers.entryOf(writeTalk({ kind: 'opened', turn, ...who }));
          },
        })
        .catch((error: unknown) => {
          for (const turn of terms) refused.set(turn, key);
          isInDoubt ||= terms.length > 0;
          throw error;
        });
    // Earlier changes are written before the claim, or refused.
    await journal.synced();
    const claimed = await ask(false);
    if (!('owner' in claimed)) return claimed;
    lose(registry.find(key));
    await peers.ask(writeTalk({ kind: 'wanted', ...who }), claimed.owner);
    const forced = await ask(true);
    if ('owner' in forced) throw new Error('a session that is forced is elsewhere');
    return forced;
  }

  /** Takes sessions up as they were kept, with what the log has for them. */
  function restore(claimed: readonly ClaimedSession[], isContinued: boolean): void {
    const taken: TakenSession[] = [];
    // One that is being taken up already is not complete before that is over.
    const isComing = (key: SessionKey) => registry.find(key)?.catchUp?.waiting !== undefined;
    const others = claimed.filter(({ key }) => !isComing(key));
    for (const one of claimed) {
      if (registry.find(one.key) !== undefined) continue;
      try {
        registry.restore(one);
      } catch (error) {
        log.error({ clientId: one.clientId, err: error }, 'a kept session cannot be taken up');
      }
      const session = registry.find(one.key);
      if (session === undefined || endIfReplaced(session)) continue;
      if (isContinued) holdBack(session, one);
      taken.push({ session, claimed: one });
    }
    const running = complete(options, taken, others, () => isClosed).finally(() =>
      behind.delete(running),
    );
    behind.set(
      running,
      claimed.map(({ key }) => key),
    );
  }

  /** Takes over what ended processes left, and what a refused commit made this process's. */
  async function adoptAll(): Promise<void> {
    const leftOut = new Set<SessionKey>();
    const known = isInDoubt ? knownHere(leftOut) : undefined;
    isInDoubt = false;
    const refusedBefore = [...refused];
    try {
      const adoptWills = () => shared.adoptWills(known);
      for (let left = await adoptWills(); left.length > 0; left = await adoptWills()) {
        for (const will of left) adoptWill(will, known !== undefined);
      }
      for (const [turn, key] of known === undefined ? [] : refusedBefore) {
        if (leftOut.has(key)) isInDoubt = true;
        else refused.delete(turn);
      }
      const adopt = () => shared.adopt(known);
      for (let adopted = await adopt(); adopted.length > 0; adopted = await adopt()) {
        restore(adopted, true);
        if (isClosed) return;
      }
    } catch (error) {
      isInDoubt = true;
      throw error;
    }
  }

  /** `leftOut`: sessions whose rows are looked for again when they are taken up. */
  function knownHere(leftOut: Set<SessionKey>): KnownHere {
    return {
      keys() {
        const keys = [...taking.keys(), ...[...behind.values()].flat()];
        for (const key of keys) leftOut.add(key);
        return keys;
      },
      terms: () => [...wills.terms, ...[...taking.values()].flatMap(({ terms }) => terms)],
    };
  }

  function adoptWill(will: StoredWill, mayBeOwn: boolean): void {
    const { key, turn, delayMs } = will;
    // A client that is back in time cancels its will.
    const isBack = mayBeOwn && delayMs > 0 && registry.find(key)?.link !== undefined;
    if (isBack || refused.has(turn)) wills.settle(key, turn, payerOfWill(will));
    else wills.inherit(will);
  }

  /** Entries behind that which asks for it are acted on meanwhile. */
  function giveAway(key: SessionKey, cleanStart: boolean): void {
    const giving = giveAwayStored(key, cleanStart)
      .catch((err: unknown) => log.warn({ err }, 'a session could not be given away'))
      .finally(() => givingAway.delete(giving));
    givingAway.add(giving);
  }

  async function giveAwayStored(key: SessionKey, cleanStart: boolean): Promise<void> {
    const session = registry.find(key);
    if (session === undefined) return;
    disconnect(session, cleanStart);
    const received = Promise.allSettled(session.received?.values() ?? []);
    // Stored values may wait for entries of others: no longer than the other process waits.
    await Promise.race([received, wait(memberLimits.barrierMs, undefined, { ref: false })]);
    // The session stays here until another process has it: it may never come.
    await journal.settled();
  }

  return {
    take,
    /** Resolves when what other processes retained before is known here. */
    async heard(): Promise<void> {
      while (!isClosed && !(await peers.heard())) await retryPause();
    },
    /** Takes over what processes left that ended. */
    adopt(): Promise<void> {
      adopting ??= adoptAll()
        .catch((error: unknown) => log.warn({ err: error }, 'no session could be adopted'))
        .finally(() => {
          adopting = undefined;
        });
      return adopting;
    },
    /** Resolves when sessions that others asked for until now are given away. */
    async givenAway(): Promise<void> {
      await Promise.all(givingAway);
    },
    /** Acts on a message of another broker. */
    told(talk: Extract<Talk, Claimed>): void {
      const key = sessionKey(talk.identity, talk.clientId);
      if (talk.kind === 'wanted') {
        giveAway(key, talk.cleanStart);
        return;
      }
      const { turn } = talk;
      endFormerOf(talk);
      shared.wanted.isElsewhere(key);
      const state = taking.get(key);
      if (state !== undefined) state.elsewhere = turn;
      if ((registry.find(key)?.claimedAt ?? turn) < turn) lose(registry.find(key));
    },
    /** Resolves when nothing is under way. */
    async close(): Promise<void> {
      isClosed = true;
      await adopting;
      await Promise.all(behind.keys());
      // Changes that follow from wills published a moment ago are in the journal then.
      await yieldToEventLoop();
    },
  };
}

/** Ends sessions whose clients have others by now. */
function createEnding({ registry, wills }: Pick<OwnershipOptions, 'registry' | 'wills'>) {
  function disconnect({ key, link }: Session, cleanStart: boolean): void {
    link?.end(reason.takenOver, 'the client connected again');
    // A client that reconnects cancels its will; a session that ends publishes it.
    if (cleanStart) wills.publishNow(key);
    else wills.cancel(key);
  }

  return {
    disconnect,
    /** What a version before 0.2 kept of a guest, who begins another session elsewhere. */
    endFormerOf({ identity, clientId, cleanStart }: Claimed): void {
      const former = registry.findFormer({ identity }, clientId);
      if (former === undefined) return;
      disconnect(former, cleanStart);
      registry.end(former);
    },
    /** The same where that other session is here; answers whether it is. */
    endIfReplaced(session: Session): boolean {
      const { identity, payer, clientId } = session;
      if (identity !== formerGuestIdentity) return false;
      if (registry.find(sessionKey(identityOfGuest(payer), clientId)) === undefined) return false;
      disconnect(session, false);
      registry.end(session);
      return true;
    },
  };
}

/** The will for other processes: the session may end before the delay does [MQTT-3.1.3.2.2]. */
const storedWill = (key: SessionKey, { will, expirySeconds }: Taking) =>
  will && { ...will, key, delayMs: Math.min(will.delayMs, expirySeconds * 1_000) };
