import { isGuestPayer, type Payer } from '../../domain/budgets/payer.ts';
import { payerOfIdentity } from '../../domain/messaging/identity.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import type { StoredSession, Subscription } from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import { mqttLimits } from '../limits.ts';
import { createAbsentSessions } from './absent-sessions.ts';
import type { Journal } from './journal.ts';
import type { MessageQueue } from './message-queue.ts';
import { Session } from './session.ts';
import type { SessionQuotas } from './session-quotas.ts';
import type { SubscriptionTree } from './subscription-tree.ts';

/** All sessions, with and without a connection; what outlives one is kept in the store. */
export interface SessionRegistry {
  find(key: SessionKey): Session | undefined;
  /** Resumes or creates; undefined: there are too many. */
  open(request: OpenRequest): OpenedSession | undefined;
  /** Ends a session whose connection is gone, or keeps it for the next one. */
  leave(session: Session): void;
  /** Nothing is left of it. */
  end(session: Session): void;
  /** Releases a session that is another process's: it ends here, and stays in the store. */
  release(session: Session): void;
  /** Adds or replaces; answers what was there, or 'full'. */
  subscribe(session: Session, subscription: Subscription): 'new' | 'replaced' | 'full';
  unsubscribe(session: Session, filter: string): boolean;
  ofIdentities(isWanted: (identity: string) => boolean): readonly Session[];
  /** Ends expired sessions, a bounded number of them. */
  expire(now: Instant): readonly Session[];
  restore(stored: StoredSession): void;
  readonly size: number;
}

export interface OpenedSession {
  readonly session: Session;
  readonly isPresent: boolean;
  /** Sessions that ended to free quota for it. */
  readonly evicted: readonly Session[];
}

export interface OpenRequest {
  readonly identity: string;
  readonly payer: Payer;
  readonly clientId: string;
  readonly cleanStart: boolean;
  readonly expirySeconds: number;
}

/** More sessions than this do not end for one: their filters took no more quota than its own. */
const evictedMax = 10;

export function createSessionRegistry(options: {
  readonly tree: SubscriptionTree;
  readonly room: SessionQuotas;
  readonly queue: MessageQueue;
  readonly journal: Journal;
  readonly clock: Clock;
}): SessionRegistry {
  const { tree, room, queue, journal, clock } = options;
  const sessions = new Map<SessionKey, Session>();
  const absent = createAbsentSessions();

  function end(session: Session): void {
    if (release(session) && session.isDurable)
      journal.add({ kind: 'ended', key: session.key }, session.payer);
  }

  function release(session: Session): boolean {
    if (sessions.get(session.key) !== session) return false;
    sessions.delete(session.key);
    absent.remove(session);
    room.leave(session);
    for (const filter of session.subscriptions?.keys() ?? []) tree.remove(session, filter);
    session.subscriptions = undefined;
    session.backlog = undefined;
    queue.forget(session);
    return true;
  }

  function open(request: OpenRequest): OpenedSession | undefined {
    const { identity, payer, clientId, cleanStart, expirySeconds } = request;
    const key = sessionKey(identity, clientId);
    const known = sessions.get(key);
    // A session that ends with its connection has ended before another one begins.
    const isResumed = known?.isDurable === true && !cleanStart && known.expiresAt > clock.now();
    if (known !== undefined && isResumed) {
      absent.remove(known);
      known.expirySeconds = expirySeconds;
      move(known, payer);
      journal.add({ kind: 'moved', key, expirySeconds, payer: known.payer }, known.payer);
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
      const refusal = room.enter(session);
      if (refusal === undefined) return evicted;
      if (!isGuestPayer(session.payer) || evicted.length === evictedMax) return undefined;
      const oldest =
        refusal.scope === 'own' ? absent.oldestOf(session.payer) : absent.oldestOfGuests();
      if (oldest === undefined) return undefined;
      end(oldest);
      evicted.push(oldest);
    }
  }

  /** A guest comes back from another address: groups and quotas go by the payer. */
  function move(session: Session, payer: Payer): void {
    if (payer === session.payer) return;
    const subscriptions = session.subscriptions ?? new Map<string, Subscription>();
    for (const filter of subscriptions.keys()) tree.remove(session, filter);
    room.move(session, payer);
    for (const subscription of subscriptions.values()) tree.add(session, subscription);
  }

  function leave(session: Session): void {
    session.link = undefined;
    session.backlog = undefined;
    if (session.expirySeconds === 0) {
      end(session);
      return;
    }
    const { key, expirySeconds } = session;
    const leftAt = clock.now();
    absent.add(session, leftAt);
    journal.add({ kind: 'moved', key, expirySeconds, leftAt }, session.payer);
  }

  function subscribe(session: Session, subscription: Subscription): 'new' | 'replaced' | 'full' {
    const { filter } = subscription;
    session.subscriptions ??= new Map();
    const isKnown = session.subscriptions.has(filter);
    if (!isKnown) {
      const isFull = session.subscriptions.size >= mqttLimits.subscriptionsPerSessionMax;
      if (isFull || room.subscribe(session, filter) !== undefined) return 'full';
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
    room.unsubscribe(session, filter);
    const { key, payer } = session;
    if (session.isDurable) journal.add({ kind: 'unsubscribed', key, filter }, payer);
    return true;
  }

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
    room.restore(session);
    queue.restore(session, stored.queue);
    if (stored.received.length === 0) return;
    session.received = new Map(stored.received.map((id) => [id, undefined]));
  }

  return {
    find: (key) => sessions.get(key),
    open,
    leave,
    end,
    release: (session) => void release(session),
    subscribe,
    unsubscribe,
    ofIdentities: (isWanted) => [...sessions.values()].filter(({ identity }) => isWanted(identity)),
    expire,
    restore,
    get size() {
      return sessions.size;
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
