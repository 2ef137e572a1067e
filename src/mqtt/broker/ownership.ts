import { setTimeout as wait } from 'node:timers/promises';
import type { Peers } from '../../domain/datapoints/peers.ts';
import { memberLimits } from '../../domain/members/member-limits.ts';
import { formerGuestIdentity, identityOfGuest } from '../../domain/messaging/identity.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type { Claim, ClaimedSession } from '../../domain/messaging/session-store.ts';
import { createKeyedSequence, createSemaphore } from '../../lib/scheduling/payer-queues.ts';
import { mqttLimits } from '../limits.ts';
import { reason } from '../packets/packet.ts';
import { createAdoption } from './adoption.ts';
import { type CatchUpOptions, complete, holdBack, type TakenSession } from './catch-up.ts';
import { retryPause } from './journal.ts';
import type { Session } from './session.ts';
import type { OpenRequest, SessionRegistry } from './session-registry.ts';
import { type Claimed, type Talk, writeTalk } from './talk.ts';
import type { Will, Wills } from './wills.ts';

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
  const runs = createRuns();
  const { giveAway, givenAway, endFormerOf, endIfReplaced, lose } = createEnding(options, runs);
  const inTurn = createKeyedSequence();
  const turnsOf = createReplayTurns();
  const taking = new Map<SessionKey, TakingState>();
  let isClosed = false;
  const adoption = createAdoption({
    ...options,
    known: {
      keys: () => [...taking.keys(), ...runs.keys()],
      terms: () => [...wills.terms, ...[...taking.values()].flatMap(({ terms }) => terms)],
    },
    restore: (adopted) => restore(adopted, true),
    isClosed: () => isClosed,
  });
  shared.onFenced((keys) => {
    for (const key of keys) lose(registry.find(key));
  });

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
        const isContinued = !client.cleanStart && (session ?? registry.find(key)) !== undefined;
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
    const { identity, clientId, cleanStart, payer, expirySeconds, will } = client;
    const who = { identity, clientId, cleanStart };
    const ask = (isForced: boolean) =>
      shared
        .claim({
          ...{ key, identity, clientId, payer, expirySeconds, isForced },
          // The session may end before the delay does [MQTT-3.1.3.2.2].
          will: will && { ...will, key, delayMs: Math.min(will.delayMs, expirySeconds * 1_000) },
          isKnown: registry.find(key)?.isDurable === true,
          note(turn) {
            terms.push(turn);
            return peers.entryOf(writeTalk({ kind: 'opened', turn, ...who }));
          },
        })
        .catch((error: unknown) => {
          adoption.refused(key, terms);
          // The claim may have been made: the session is adopted then, and completed by that run.
          if (terms.length > 0 && registry.find(key) === undefined) runs.forget(key);
          throw error;
        });
    // Earlier changes are written before the claim, or refused.
    await journal.synced();
    const claimed = await ask(false);
    if (!('owner' in claimed)) return claimed;
    lose(registry.find(key));
    await peers.ask(writeTalk({ kind: 'wanted', ...who }), claimed.owner);
    await journal.synced();
    const forced = await ask(true);
    if ('owner' in forced) throw new Error('a session that is forced is elsewhere');
    return forced;
  }

  /** Takes sessions up as they were kept, with what the log has for them. */
  function restore(claimed: readonly ClaimedSession[], isContinued: boolean): void {
    const taken: TakenSession[] = [];
    for (const one of claimed) {
      const known = registry.find(one.key);
      // Taken up already, maybe by a claim behind an adoption that was long in coming.
      if (known !== undefined && (!one.wasElsewhere || known.takenAt > one.turn)) continue;
      lose(known);
      try {
        registry.restore(one);
      } catch (error) {
        log.error({ clientId: one.clientId, err: error }, 'a kept session cannot be taken up');
      }
      const session = registry.find(one.key);
      if (session === undefined || endIfReplaced(session)) continue;
      session.claimedAt = one.turn;
      session.takenAt = one.turn;
      if (isContinued) holdBack(session, one);
      taken.push({ session, claimed: one });
    }
    const own = new Set<ClaimedSession>(taken.map((one) => one.claimed));
    // A session that is being taken up already is not complete before that is over.
    const others = claimed.filter((one) => own.has(one) || !isBehind(registry.find(one.key)));
    /** Whether the session was taken again, or will be in a moment: that run completes it. */
    const isComing = (key: SessionKey): boolean =>
      !runs.isLast(key, running) || (registry.find(key) === undefined && taking.has(key));
    const how = { isOver: () => isClosed, isComing, turns: turnsOf(taken) };
    const running = complete(options, taken, others, how);
    runs.add(running, others);
  }

  return {
    take,
    /** Resolves when what other processes retained before is known here. */
    async heard(): Promise<void> {
      while (!isClosed && !(await peers.heard())) await retryPause();
    },
    /** Takes over what processes left that ended. */
    adopt: adoption.adopt,
    givenAway,
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
      const session = registry.find(key);
      // Of a session that another process has by now the will may be here.
      if (session === undefined) (talk.cleanStart ? wills.publishNow : wills.cancel)(key, turn);
      else if (session.claimedAt < turn) lose(session);
    },
    /** From now on the log is left to other processes. Resolves when nothing is under way. */
    async close(): Promise<void> {
      isClosed = true;
      await adoption.over();
      await runs.over();
    },
  };
}

/** Runs that complete sessions that were taken: of each session the last run does. */
function createRuns() {
  const runs = new Set<Promise<void>>();
  const lastOf = new Map<SessionKey, Promise<void>>();
  return {
    add(run: Promise<void>, sessions: readonly ClaimedSession[]): void {
      runs.add(run);
      for (const { key } of sessions) lastOf.set(key, run);
      void run.finally(() => {
        runs.delete(run);
        for (const { key } of sessions) if (lastOf.get(key) === run) lastOf.delete(key);
      });
    },
    isLast: (key: SessionKey, run: Promise<void>): boolean => lastOf.get(key) === run,
    /** No run under way completes this session. */
    forget: (key: SessionKey): boolean => lastOf.delete(key),
    keys: (): readonly SessionKey[] => [...lastOf.keys()],
    over: (): Promise<unknown> => Promise.all(runs),
  };
}

/** Readings of the log for sessions that were taken, and their ends: a few at once, by payer. */
function createReplayTurns() {
  const reading = createSemaphore({ parallelMax: mqttLimits.replaysMax });
  const storing = createSemaphore({ parallelMax: 16 * mqttLimits.replaysMax });
  return ([first, ...more]: readonly TakenSession[]) => {
    const payer = (more.length === 0 && first?.session.payer) || '';
    return {
      read: (work: () => Promise<void>) => reading.run(payer, work),
      store: (work: () => Promise<void>) => storing.run(payer, work),
    };
  };
}

/** Ends sessions whose clients have others by now. */
function createEnding(
  { registry, wills, journal, log }: OwnershipOptions,
  runs: Pick<ReturnType<typeof createRuns>, 'forget'>,
) {
  const givingAway = new Set<Promise<void>>();

  function disconnect({ key, link }: Session, cleanStart: boolean): void {
    link?.end(reason.takenOver, 'the client connected again');
    // A client that reconnects cancels its will; a session that ends publishes it.
    if (cleanStart) wills.publishNow(key);
    else wills.cancel(key);
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

  /** Lets go of a session that is another process's: nothing of it is changed here any more. */
  function lose(session: Session | undefined): void {
    if (session === undefined) return;
    runs.forget(session.key);
    session.link?.end(reason.takenOver, 'the client connected again');
    wills.cancel(session.key);
    registry.release(session);
  }

  return {
    lose,
    /** Another process asks for it. Entries behind that question are acted on meanwhile. */
    giveAway(key: SessionKey, cleanStart: boolean): void {
      const giving = giveAwayStored(key, cleanStart)
        .catch((err: unknown) => log.warn({ err }, 'a session could not be given away'))
        .finally(() => givingAway.delete(giving));
      givingAway.add(giving);
    },
    /** Resolves when sessions that others asked for until now are given away. */
    givenAway: (): Promise<unknown> => Promise.all(givingAway),
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

/** Whether deliveries wait until the log was read for it. */
const isBehind = (session: Session | undefined) => session?.catchUp?.waiting !== undefined;
