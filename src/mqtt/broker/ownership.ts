import { setTimeout as wait } from 'node:timers/promises';
import type { FeedEvent } from '../../domain/datapoints/feed.ts';
import type { Peers } from '../../domain/datapoints/peers.ts';
import { memberLimits } from '../../domain/members/member-limits.ts';
import type { LogPosition } from '../../domain/members/member-store.ts';
import { formerGuestIdentity, identityOfGuest } from '../../domain/messaging/identity.ts';
import { type Message, type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type {
  Claim,
  ClaimedSession,
  LogPage,
  SharedSessions,
} from '../../domain/messaging/session-store.ts';
import type { Clock } from '../../lib/clock.ts';
import { yieldToEventLoop } from '../../lib/event-loop.ts';
import type { Log } from '../../lib/log.ts';
import { createKeyedSequence } from '../../lib/scheduling/payer-queues.ts';
import type { Broker, Reach } from '../broker.ts';
import { reason } from '../packets/packet.ts';
import type { Counters } from './counters.ts';
import type { Delivery } from './delivery.ts';
import type { Claims } from './group-routing.ts';
import { type Journal, retryPause, untilDone } from './journal.ts';
import type { Outbound } from './outbound.ts';
import { createRouter } from './router.ts';
import { type DeliveryTerms, isKnown, nameOfFound, type Session } from './session.ts';
import type { OpenRequest, SessionRegistry } from './session-registry.ts';
import { createHandOnShares } from './slices.ts';
import { createSubscriptionTree } from './subscription-tree.ts';
import { type Claimed, readTalk, type Talk, writeTalk } from './talk.ts';
import { createGiven } from './value-sources.ts';
import type { Will, Wills } from './wills.ts';

/** A client that is let in. */
interface Taking extends OpenRequest {
  readonly will: Will | undefined;
}

interface OwnershipOptions {
  readonly shared: SharedSessions;
  readonly peers: Peers;
  readonly deliverEvent: DeliverEvent;
  readonly outbound: Outbound;
  readonly journal: Journal;
  readonly counters: Counters;
  readonly claims: Claims;
  readonly clock: Clock;
  readonly log: Log;
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
  /** Sessions that are being taken, and the last term in which another process took them. */
  const taking = new Map<SessionKey, number>();
  const behind = new Set<Promise<void>>();
  let adopting: Promise<void> | undefined;
  let isClosed = false;
  const given = createGiven(shared.wanted);
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
      taking.set(key, 0);
      try {
        const { turn, session, wills: left } = await claim(key, client);
        const isContinued = session !== undefined && !client.cleanStart;
        for (const will of left) {
          // A client that reconnects in time cancels its will.
          if (isContinued && will.delayMs > 0) wills.settle(key, will.turn, client.payer);
          else wills.inherit({ ...will, delayMs: 0 });
        }
        if ((taking.get(key) ?? 0) > turn) throw new Error('the client connected elsewhere');
        if (session !== undefined) restore([session], isContinued);
        given(key);
        if (!open(turn) && client.will !== undefined) wills.settle(key, turn, client.payer);
      } finally {
        taking.delete(key);
      }
    });
  }

  async function claim(key: SessionKey, client: Taking): Promise<Claim> {
    const { identity, clientId, cleanStart, payer, expirySeconds } = client;
    const who = { identity, clientId, cleanStart };
    const ask = (isForced: boolean) =>
      shared.claim({
        ...{ key, identity, clientId, payer, expirySeconds, isForced },
        will: storedWill(key, client),
        isKnown: registry.find(key) !== undefined,
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
      if (session === undefined || endIfReplaced(session)) continue;
      if (isContinued) holdBack(session, one);
      taken.push({ session, claimed: one });
    }
    const running = complete(options, taken, claimed, () => isClosed).finally(() =>
      behind.delete(running),
    );
    behind.add(running);
  }

  async function adoptAll(): Promise<void> {
    for (let left = await shared.adoptWills(); left.length > 0; left = await shared.adoptWills()) {
      for (const will of left) wills.inherit(will);
    }
    for (let adopted = await shared.adopt(); adopted.length > 0; ) {
      restore(adopted, true);
      if (isClosed) return;
      adopted = await shared.adopt();
    }
  }

  async function giveAway(key: SessionKey, cleanStart: boolean): Promise<void> {
    const session = registry.find(key);
    if (session === undefined) return;
    disconnect(session, cleanStart);
    const received = Promise.allSettled(session.received?.values() ?? []);
    // Stored values may wait for entries behind this one: no longer than the other process waits.
    await Promise.race([received, wait(memberLimits.barrierMs, undefined, { ref: false })]);
    await journal.settled();
    if (registry.find(key) !== session || session.link !== undefined) return;
    given(key, session.subscriptions?.keys());
    registry.release(session);
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
    /** Acts on a message of another broker. */
    async told(talk: Extract<Talk, Claimed>): Promise<void> {
      const key = sessionKey(talk.identity, talk.clientId);
      if (talk.kind === 'wanted') return await giveAway(key, talk.cleanStart);
      const { turn } = talk;
      endFormerOf(talk);
      given(key);
      shared.wanted.isElsewhere(key);
      if (taking.has(key)) taking.set(key, turn);
      if ((registry.find(key)?.claimedAt ?? turn) < turn) lose(registry.find(key));
    },
    /** Resolves when nothing is under way. */
    async close(): Promise<void> {
      isClosed = true;
      await adopting;
      await Promise.all(behind);
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

/** Hands on what an event of the log says, as when it happened. */
export type DeliverEvent = (
  receivers: Pick<Broker, 'deliver' | 'hasSubscribers' | 'renewRetained'>,
  event: FeedEvent,
) => void;

/** A session of this process that was another one's, and what is kept of it. */
interface TakenSession {
  readonly session: Session;
  readonly claimed: ClaimedSession;
}

/** Defers what comes for the session until the log was read for it. */
function holdBack(session: Session, { heard }: Pick<ClaimedSession, 'heard'>): void {
  session.catchUp = { waiting: [], found: new Set(), heard };
}

/**
 * Reads the log for sessions with deferred deliveries, until that is done: then the deliveries go
 * on, and the store records it. Never rejects; a process that stops leaves it to the next one.
 * `claimed`: all of them, also those that could not be taken up.
 */
export async function complete(
  context: OwnershipOptions,
  taken: readonly TakenSession[],
  claimed: readonly ClaimedSession[],
  isOver: () => boolean,
): Promise<void> {
  const { shared, journal, log } = context;
  const until = async (work: () => Promise<void>, sentence: string): Promise<void> => {
    await untilDone(
      async () => (isOver() ? undefined : work()),
      (err) => {
        log.warn({ err }, sentence);
        return isOver();
      },
    );
  };
  const heldBack = taken.filter(({ session }) => session.catchUp !== undefined);
  if (heldBack.length > 0) {
    await until(
      () => readLog(context, createReplay(context, heldBack)),
      'the log could not be read for MQTT sessions',
    );
    for (const { session } of heldBack) letGo(session);
  }
  await until(async () => {
    await journal.settled();
    await shared.caughtUp(claimed.map(({ key }) => key));
  }, 'it could not be stored that MQTT sessions are complete');
}

function letGo({ catchUp: state }: Session): void {
  const waiting = state?.waiting ?? [];
  if (state !== undefined) state.waiting = undefined;
  for (const next of waiting) next();
}

interface LogSource {
  readonly shared: Pick<SharedSessions, 'missed'>;
  readonly peers: Pick<Peers, 'read'>;
  readonly deliverEvent: DeliverEvent;
}

interface LogReader extends Pick<Broker, 'hasSubscribers'> {
  readonly route: (message: Message, reach?: Reach) => void;
  /** Called with the position of each entry. */
  readonly before?: (position: LogPosition) => void;
}

/**
 * Hands on all that the log has, as when it happened; what is written meanwhile comes of itself.
 * Throws when the store cannot answer.
 */
export async function readLog(
  { shared, peers, deliverEvent }: LogSource,
  { route, hasSubscribers, before }: LogReader,
): Promise<void> {
  const receivers: Parameters<DeliverEvent>[0] = {
    deliver: (messages, reach) => {
      for (const message of messages) route(message, reach);
    },
    hasSubscribers,
    renewRetained: () => undefined,
  };
  let page: LogPage;
  let after = 0;
  do {
    page = await shared.missed(after);
    for (const { text, ...position } of page.entries) {
      after = position.place;
      before?.(position);
      const said = peers.read(text);
      if (typeof said === 'object') deliverEvent(receivers, said);
      const talk = typeof said === 'string' ? readTalk(said) : undefined;
      if (talk?.kind === 'message') route(talk.message);
    }
  } while (!page.isLast);
}

/**
 * Queues what the log has for sessions that another process had, and did not put into their queues:
 * each message once, behind those that are there. Rights are asked for at this moment.
 */
function createReplay(
  { outbound, journal, counters, clock, claims }: OwnershipOptions,
  taken: readonly TakenSession[],
): LogReader {
  const tree = createSubscriptionTree();
  const coming = taken.flatMap(({ session, claimed }) =>
    claimed.subscriptions.map((subscription) => ({
      ...{ session, subscription },
      since: claimed.since.get(subscription.filter) ?? (() => 0),
    })),
  );
  /** Subscriptions that no entry of the writer was for yet; the next ones last. */
  const comingBy = new Map<number, typeof coming>();

  function offer(session: Session, delivery: Delivery, terms: DeliveryTerms) {
    const { origin } = delivery.message;
    const { catchUp: state } = session;
    if (terms.qos === 0 || session.isEnded) return;
    if (terms.share !== undefined) return outbound.offerFound(session, delivery, terms);
    if (origin === undefined || state === undefined || isKnown(state, delivery.message)) return;
    state.found.add(nameOfFound(origin));
    outbound.offerFound(session, delivery, terms);
  }

  const router = createRouter({
    ...{ tree, journal, counters, clock, claims },
    outbound: { ...outbound, offer },
    shares: createHandOnShares(),
  });
  return {
    route: router.route,
    hasSubscribers: tree.hasSubscribers,
    /** Adds subscriptions made before this entry was committed: earlier ones are not for them. */
    before({ writer, place }) {
      const waiting =
        comingBy.get(writer) ??
        coming.toSorted((one, other) => other.since(writer) - one.since(writer));
      comingBy.set(writer, waiting);
      for (let next = waiting.at(-1); next !== undefined && next.since(writer) < place; ) {
        tree.add(next.session, next.subscription);
        waiting.pop();
        next = waiting.at(-1);
      }
    },
  };
}
