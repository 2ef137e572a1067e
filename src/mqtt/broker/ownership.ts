import type { Payer } from '../../domain/budgets/payer.ts';
import type { Peers } from '../../domain/datapoints/peers.ts';
import { payerOfIdentity } from '../../domain/messaging/identity.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type {
  Claim,
  ClaimedSession,
  SharedSessions,
  StoredWill,
} from '../../domain/messaging/session-store.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Log } from '../../lib/log.ts';
import { createKeyedSequence } from '../../lib/scheduling/keyed-sequence.ts';
import { type BrokerHooks, unavailableOutcome } from '../broker-hooks.ts';
import { mqttLimits } from '../limits.ts';
import { reason } from '../packets/reason-codes.ts';
import { type CatchUpContext, complete, holdBack, type TakenSession } from './catch-up.ts';
import type { Will } from './login.ts';
import type { Session } from './session.ts';
import type { SessionRegistry } from './session-registry.ts';
import { type Claimed, type Talk, writeTalk } from './talk.ts';
import type { Heir, Wills } from './wills.ts';

/**
 * Which sessions are this process's, where several serve: each is of the process that had its
 * client last, and of another one when that has ended.
 */
export interface Ownership {
  /**
   * Makes the session of a client this process's, and then calls `open` at once. What another
   * process has of it is in the store by then. Rejects when it cannot be, for now.
   */
  take(client: Taking, open: (turn: number) => void): Promise<void>;
  /** Takes over what processes left that ended. */
  adopt(): Promise<void>;
  /** Resolves when what other processes retained before is known here. */
  heard(): Promise<void>;
  /** Acts on a message of another broker. */
  told(talk: Extract<Talk, Claimed>): Promise<void>;
  /** Resolves when nothing is under way. */
  close(): Promise<void>;
}

/** A client that is let in. */
export interface Taking extends Claimed {
  readonly payer: Payer;
  readonly expirySeconds: number;
  readonly will: Will | undefined;
}

export interface OwnershipOptions extends CatchUpContext {
  readonly shared: SharedSessions;
  readonly peers: Peers;
  readonly authority: Pick<BrokerHooks, 'publishFor'>;
  readonly registry: SessionRegistry;
  readonly wills: Wills;
  readonly log: Log;
}

export function createOwnership(options: OwnershipOptions): Ownership {
  const { shared, peers, registry, journal, wills, log } = options;
  const inTurn = createKeyedSequence();
  /** Sessions that are being taken, and the last term in which another process took them. */
  const taking = new Map<SessionKey, number>();
  const behind = new Set<Promise<void>>();
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

  function take(client: Taking, open: (turn: number) => void): Promise<void> {
    const key = sessionKey(client.identity, client.clientId);
    return inTurn(key, async () => {
      taking.set(key, 0);
      try {
        const { turn, session, wills: left } = await claim(key, client);
        const isContinued = session !== undefined && !client.cleanStart;
        for (const will of left) {
          // A client that reconnects in time cancels its will.
          if (isContinued && will.delayMs > 0) settle(key, will.turn, client.payer);
          else inherit(options, { ...will, delayMs: 0 });
        }
        if ((taking.get(key) ?? 0) > turn) throw new Error('the client connected elsewhere');
        if (session !== undefined) restore([session], isContinued);
        open(turn);
        const isOpen = registry.find(key)?.claimedAt === turn;
        if (client.will !== undefined && !isOpen) settle(key, turn, client.payer);
      } finally {
        taking.delete(key);
      }
    });
  }

  async function claim(key: SessionKey, client: Taking): Promise<Claim> {
    const { cleanStart, will: last, ...about } = client;
    const { identity, clientId, expirySeconds } = client;
    // The session may end before the delay does [MQTT-3.1.3.2.2].
    const delayMs = Math.min(last?.delayMs ?? 0, expirySeconds * 1_000);
    const will = last && storedWill(key, { ...last, delayMs });
    const who = { identity, clientId, cleanStart };
    const ask = (isForced: boolean) =>
      shared.claim({
        ...{ ...about, key, will, isForced, isKnown: registry.find(key) !== undefined },
        note: (turn) => peers.entryOf(writeTalk({ kind: 'opened', turn, ...who })),
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
    for (const one of claimed) {
      if (registry.find(one.key) !== undefined) continue;
      try {
        registry.restore(one);
      } catch (error) {
        log.error({ clientId: one.clientId, err: error }, 'a kept session cannot be taken up');
      }
      const session = registry.find(one.key);
      if (session === undefined) continue;
      if (isContinued) holdBack(session, one);
      taken.push({ session, claimed: one });
    }
    const keys = claimed.map(({ key }) => key);
    const running = complete(options, { taken, keys }, () => isClosed).finally(() =>
      behind.delete(running),
    );
    behind.add(running);
  }

  function settle(key: SessionKey, turn: number, payer: Payer): void {
    journal.add({ kind: 'will_settled', key, turn }, payer);
  }

  async function adoptAll(): Promise<void> {
    for (let left = await shared.adoptWills(); left.length > 0; ) {
      for (const will of left) inherit(options, will);
      left = await shared.adoptWills();
    }
    for (;;) {
      const adopted = await shared.adopt();
      if (adopted.length === 0) return;
      restore(adopted, true);
      if (isClosed) return;
    }
  }

  async function giveAway(key: SessionKey, cleanStart: boolean): Promise<void> {
    const session = registry.find(key);
    if (session === undefined) return;
    session.link?.end(reason.takenOver, 'the client connected again');
    // A client that reconnects cancels its will; a session that ends publishes it.
    if (cleanStart) wills.publishNow(key);
    else wills.cancel(key);
    await Promise.allSettled(session.received?.values() ?? []);
    await journal.settled();
    if (registry.find(key) === session && session.link === undefined) registry.release(session);
  }

  return {
    take,
    heard: () => untilHeard(peers, () => isClosed),
    adopt() {
      adopting ??= adoptAll()
        .catch((error: unknown) => log.warn({ err: error }, 'no session could be adopted'))
        .finally(() => {
          adopting = undefined;
        });
      return adopting;
    },
    async told(talk) {
      const key = sessionKey(talk.identity, talk.clientId);
      if (talk.kind === 'wanted') {
        await giveAway(key, talk.cleanStart);
        return;
      }
      const { turn } = talk;
      if (taking.has(key)) taking.set(key, turn);
      const session = registry.find(key);
      if (session !== undefined && session.claimedAt < turn) lose(session);
    },
    async close() {
      isClosed = true;
      await adopting;
      await Promise.all(behind);
      // Changes that follow from wills published a moment ago are in the journal then.
      await yieldToEventLoop();
    },
  };
}

async function untilHeard(peers: Pick<Peers, 'heard'>, isOver: () => boolean): Promise<void> {
  while (!isOver() && !(await peers.heard())) {
    await new Promise((resolve) => setTimeout(resolve, mqttLimits.storeRetryMs).unref());
  }
}

function storedWill(key: SessionKey, will: Will): Omit<StoredWill, 'turn'> {
  const { message, delayMs, expirySeconds } = will;
  return { key, message, delayMs, ...(expirySeconds !== undefined && { expirySeconds }) };
}

/** Publishes the will of a client that another process had, now or when it is due. */
function inherit(
  { authority, wills, journal, clock }: OwnershipOptions,
  { key, message, delayMs, expirySeconds, turn }: StoredWill,
): void {
  const [identity = ''] = key.split('\u0000', 1);
  const payer = message.payer ?? payerOfIdentity(identity);
  const client: Heir = {
    payer,
    publish: async (sent) => (await authority.publishFor?.(identity, sent)) ?? unavailableOutcome,
  };
  if (!wills.keep(client, message)) {
    if (turn > 0) journal.add({ kind: 'will_settled', key, turn }, payer);
    return;
  }
  const now = clock.now();
  wills.leave(key, { client, message, expirySeconds, turn, dueAt: now + delayMs }, now);
}
