import { type BudgetRefusal, isGuestPayer, type Payer } from '../../domain/budgets/budget.ts';
import type { Budgets } from '../../domain/budgets/budgets.ts';
import { limits } from '../../domain/limits.ts';
import {
  formerGuestIdentity,
  identityOfGuest,
  payerOfIdentity,
} from '../../domain/messaging/identity.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type { StoredSession, Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { createFairSlices } from '../../lib/scheduling/fair-slices.ts';
import { countLevels } from '../../lib/topic-filter.ts';
import type { PublishOutcome } from '../broker.ts';
import { mqttLimits } from '../limits.ts';
import { createAbsentSessions } from './absent-sessions.ts';
import type { Journal } from './journal.ts';
import type { MessageQueue } from './message-queue.ts';
import { Session } from './session.ts';
import type { SubscriptionTree } from './subscription-tree.ts';
import type { Claimed } from './talk.ts';

export interface OpenedSession {
  readonly session: Session;
  readonly isPresent: boolean;
  /** Sessions that ended to free quota for it. */
  readonly evicted: readonly Session[];
}

/** The session that a client asks for. */
export interface OpenRequest extends Claimed {
  readonly payer: Payer;
  readonly expirySeconds: number;
}

/** More sessions than this do not end for one: their filters took no more quota than its own. */
const evictedMax = 10;
/** Filters of a session that ended which are forgotten at once, and in each slice. */
const filtersAtOnce = 64;
/** How many are forgotten for a new one, which is longer: a packet has up to 1,000. */
const filtersForOneMax = 8;
export type SessionRegistry = ReturnType<typeof createSessionRegistry>;

/** All sessions, with and without a connection; what outlives one is kept in the store. */
export function createSessionRegistry(options: {
  readonly tree: SubscriptionTree;
  readonly budgets: Budgets;
  readonly queue: Pick<MessageQueue, 'forget' | 'restore'>;
  readonly journal: Journal;
  readonly clock: Clock;
}) {
  const { tree, queue, journal, clock } = options;
  const quotas = createSessionQuotas(options.budgets);
  const sessions = new Map<SessionKey, Session>();
  const absent = createAbsentSessions();
  const removal = createFilterRemoval(tree, quotas);

  /** Nothing is left of it. */
  function end(session: Session): void {
    if (sessions.get(session.key) !== session) return;
    release(session);
    if (session.isDurable) journal.add({ kind: 'ended', key: session.key }, session.payer);
  }

  /** Releases a session that is another process's: it ends here, and stays in the store. */
  function release(session: Session): void {
    if (sessions.get(session.key) !== session) return;
    sessions.delete(session.key);
    absent.remove(session);
    quotas.leave(session);
    removal.begin(session);
    session.subscriptions = undefined;
    session.backlog = undefined;
    queue.forget(session);
  }

  /** Resumes or creates; undefined: there are too many. */
  function open(request: OpenRequest): OpenedSession | undefined {
    const { identity, payer, clientId, cleanStart, expirySeconds } = request;
    const key = sessionKey(identity, clientId);
    const known = sessions.get(key);
    // A session that ends with its connection has ended before another one begins.
    const isResumed = known?.isDurable === true && !cleanStart && known.expiresAt > clock.now();
    if (known !== undefined && isResumed) {
      absent.remove(known);
      known.expirySeconds = expirySeconds;
      journal.add({ kind: 'moved', key, expirySeconds, payer }, payer);
      return { session: known, isPresent: true, evicted: [] };
    }
    if (known !== undefined) end(known);
    const session = new Session({ key, identity, clientId, payer, expirySeconds });
    const evicted = makeRoom(session);
    if (evicted === undefined) return undefined;
    sessions.set(key, session);
    if (session.isDurable) addOpened(session, journal);
    return { session, isPresent: false, evicted };
  }

  /** Takes quota for the session; sessions of absent guests end for a connected guest. */
  function makeRoom(session: Session): readonly Session[] | undefined {
    const evicted: Session[] = [];
    for (;;) {
      const refusal = quotas.enter(session);
      if (refusal === undefined) return evicted;
      if (!isGuestPayer(session.payer) || evicted.length === evictedMax) return undefined;
      const oldest =
        refusal.scope === 'own' ? absent.oldestOf(session.payer) : absent.oldestOfGuests();
      if (oldest === undefined) return undefined;
      end(oldest);
      // Its filters are forgotten soon; whoever comes in need not wait for that.
      quotas.leaveFilters(oldest);
      evicted.push(oldest);
    }
  }

  /** Ends a session whose connection is gone, or keeps it for the next one. */
  function leave(session: Session) {
    session.link = undefined;
    session.backlog = undefined;
    if (session.expirySeconds === 0) return end(session);
    const { key, expirySeconds } = session;
    const leftAt = clock.now();
    absent.add(session, leftAt);
    journal.add({ kind: 'moved', key, expirySeconds, leftAt }, session.payer);
  }

  /** Adds or replaces; answers what was there, or 'full'. */
  function subscribe(session: Session, subscription: Subscription): 'new' | 'replaced' | 'full' {
    const { filter } = subscription;
    session.subscriptions ??= new Map();
    const isKnown = session.subscriptions.has(filter);
    if (!isKnown) {
      if (session.subscriptions.size >= mqttLimits.subscriptionsPerSessionMax) return 'full';
      const size = sizeOfFilter(filter);
      removal.makeRoom(session, size);
      if (quotas.grow(session, size) !== undefined) return 'full';
    }
    session.subscriptions.set(filter, subscription);
    tree.add(session, subscription);
    const { key, payer } = session;
    if (session.isDurable) journal.add({ kind: 'subscribed', key, subscription }, payer);
    return isKnown ? 'replaced' : 'new';
  }

  function unsubscribe(session: Session, filter: string): boolean {
    if (session.subscriptions?.delete(filter) !== true) return false;
    tree.remove(session, filter);
    quotas.shrink(session, sizeOfFilter(filter));
    const { key, payer } = session;
    if (session.isDurable) journal.add({ kind: 'unsubscribed', key, filter }, payer);
    return true;
  }

  /** Ends expired sessions, a bounded number of them. */
  function expire(now: Instant): readonly Session[] {
    const ended: Session[] = [];
    let freed = 0;
    for (const session of absent.expired(now)) {
      if (freed >= mqttLimits.expiredPerSweepMax) break;
      freed += 1 + (session.subscriptions?.size ?? 0);
      end(session);
      ended.push(session);
    }
    return ended;
  }

  function restore(stored: StoredSession): void {
    const { identity, payer = payerOfIdentity(identity) } = stored;
    const session = new Session({ ...stored, payer });
    // Clients connected when the process ended left at that moment, or a little before now.
    absent.add(session, stored.leftAt ?? clock.now());
    sessions.set(session.key, session);
    session.subscriptions = new Map(stored.subscriptions.map((one) => [one.filter, one]));
    for (const subscription of stored.subscriptions) tree.add(session, subscription);
    if (stored.received.length > 0) {
      session.received = new Map(stored.received.map((id) => [id, undefined]));
    }
    quotas.restore(session);
    queue.restore(session, stored.queue);
  }

  return {
    find: (key: SessionKey): Session | undefined => sessions.get(key),
    /** The session that a version before 0.2 kept of this guest, who had no other identity. */
    findFormer({ identity }: { readonly identity: string }, clientId: string): Session | undefined {
      const former = sessions.get(sessionKey(formerGuestIdentity, clientId));
      if (former === undefined || identity !== identityOfGuest(former.payer)) return undefined;
      return former;
    },
    ofIdentities: (isWanted: (identity: string) => boolean): readonly Session[] =>
      [...sessions.values()].filter(({ identity }) => isWanted(identity)),
    get size() {
      return sessions.size;
    },
    ...{ open, leave, end, release, subscribe, unsubscribe, expire, restore },
    ...createReceivedIds(quotas),
  };
}

/** Forgets filters of sessions that end: a few at once, others in slices or when room is needed. */
function createFilterRemoval(tree: SubscriptionTree, quotas: Quotas) {
  const slices = createFairSlices({ turnMs: limits.turnMs });
  /** Sessions whose filters take room, with those that are left. */
  const left = new Map<Payer, Map<Session, Iterator<string>>>();

  function settle(session: Session): void {
    quotas.leaveFilters(session);
    const own = left.get(session.payer);
    if (own?.delete(session) === true && own.size === 0) left.delete(session.payer);
  }

  /** Answers whether there was one more. */
  function forgetNext(session: Session, filters: Iterator<string>): boolean {
    const { done, value } = filters.next();
    if (done === true) settle(session);
    else {
      tree.remove(session, value);
      quotas.shrink(session, Math.min(sizeOfFilter(value), session.roomBytes));
    }
    return done !== true;
  }

  return {
    begin(session: Session): void {
      const filters = session.subscriptions?.keys() ?? [].values();
      const piece = (): boolean => {
        let count = 0;
        while (count < filtersAtOnce && forgetNext(session, filters)) count += 1;
        return count === filtersAtOnce;
      };
      if (!piece()) return;
      left.set(session.payer, (left.get(session.payer) ?? new Map()).set(session, filters));
      slices.run(session.payer, piece);
    },
    /** Forgets at once what took so many bytes, when they are missing. */
    makeRoom(newcomer: Session, size: number): void {
      if (quotas.hasRoom(newcomer, size)) return;
      let wanted = size;
      for (const [session, filters] of left.get(newcomer.payer) ?? []) {
        while (session.roomBytes > 0) {
          if (wanted <= 0) return;
          const before = session.roomBytes;
          forgetNext(session, filters);
          wanted -= Math.max(size / filtersForOneMax, before - session.roomBytes);
        }
        settle(session);
      }
    },
  };
}

/** The ids of QoS 2 publishes that sessions keep, each of which counts in a quota. */
function createReceivedIds(quotas: Quotas) {
  return {
    /** Keeps an id; `isFull`: for this, the oldest one is to be dropped. */
    addId(session: Session, packetId: number, outcome: Promise<PublishOutcome>) {
      session.received ??= new Map();
      const { received } = session;
      received.set(packetId, outcome);
      const isRefused = quotas.grow(session, receivedIdBytes) !== undefined;
      if (isRefused) quotas.add(session, receivedIdBytes);
      const [oldest = packetId] = received.keys();
      return { isFull: isRefused || received.size > mqttLimits.receivedIdsMax, oldest };
    },
    /** Answers whether it was kept. */
    dropId(session: Session, packetId: number): boolean {
      if (session.received?.delete(packetId) !== true) return false;
      if (!session.isEnded) quotas.shrink(session, receivedIdBytes);
      return true;
    },
  };
}

function addOpened(session: Session, journal: Journal): void {
  const { key, identity, clientId, payer, expirySeconds } = session;
  const record = { key, identity, clientId, payer, expirySeconds };
  journal.add({ kind: 'opened', session: record }, payer);
  session.opening = journal.synced()?.then(() => {
    session.opening = undefined;
  });
}

/** Memory of an idle session, its maps and keys included (measured: 0.7 KiB). */
const sessionBytes = 1_024;
/** A filter in the maps that hold it, and each of its levels in the tree (measured: 280 to 340). */
const filterBytes = 320;
const levelBytes = 320;
/** The id of a QoS 2 publish in its map. */
const receivedIdBytes = 64;
type Quotas = ReturnType<typeof createSessionQuotas>;

/** The quotas of sessions and their subscriptions, by payer. */
function createSessionQuotas(budgets: Budgets) {
  const entries = budgets.of('mqtt_sessions');
  const bytes = budgets.of('mqtt_session_bytes');

  /** Takes quota for a new session, or answers why none is left. */
  function enter(session: Session): BudgetRefusal | undefined {
    const { payer } = session;
    const size = sizeOfSession(session);
    const refusal = entries.take(payer, 1) ?? bytes.take(payer, size);
    if (refusal === undefined) session.roomBytes = size;
    else if (refusal.budget === bytes.name) entries.release(payer, 1);
    return refusal;
  }

  const hasRoom = ({ payer }: Session, size: number) => bytes.check(payer, size) === undefined;

  /** Takes quota for one more filter or id, or answers why none is left. */
  function grow(session: Session, size: number): BudgetRefusal | undefined {
    const refusal = bytes.take(session.payer, size);
    if (refusal === undefined) session.roomBytes += size;
    return refusal;
  }

  /** Gives everything back but what its filters take. */
  function leave(session: Session): void {
    entries.release(session.payer, 1);
    shrink(session, sizeOfSession(session));
  }

  function shrink(session: Session, size: number): void {
    session.roomBytes -= size;
    bytes.release(session.payer, size);
  }

  return {
    ...{ enter, hasRoom, grow, leave, shrink },
    /** Gives back what the filters of a session took that ended. */
    leaveFilters: (session: Session): void => shrink(session, session.roomBytes),
    /** Takes quota however full it is. */
    add(session: Session, size: number): void {
      session.roomBytes += size;
      bytes.add(session.payer, size);
    },
    /** Counts a session of before the start with its subscriptions, however full quotas are. */
    restore(session: Session): void {
      session.roomBytes = sizeOfSession(session) + receivedIdBytes * (session.received?.size ?? 0);
      for (const filter of session.subscriptions?.keys() ?? []) {
        session.roomBytes += sizeOfFilter(filter);
      }
      entries.add(session.payer, 1);
      bytes.add(session.payer, session.roomBytes);
    },
  };
}

const sizeOfSession = ({ key }: Session): number => sessionBytes + 2 * key.length;

/** The size of a filter, whose text is kept whole and by levels. */
const sizeOfFilter = (filter: string): number =>
  filterBytes + levelBytes * countLevels(filter) + 2 * Buffer.byteLength(filter);
