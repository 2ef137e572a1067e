import { limits } from '../../domain/limits.ts';
import { type SessionKey, sessionKey } from '../../domain/messaging/message.ts';
import {
  neverExpires,
  type StoredSession,
  type Subscription,
} from '../../domain/messaging/session-store.ts';
import type { Clock, Instant } from '../../lib/clock.ts';
import type { Counters } from './counters.ts';
import type { Journal } from './journal.ts';
import type { MessageQueue } from './message-queue.ts';
import { type Entry, Session } from './session.ts';
import type { SubscriptionTree } from './subscription-tree.ts';

/** All sessions, with and without a connection; what outlives one is kept in the store. */
export interface SessionRegistry {
  find(key: SessionKey): Session | undefined;
  /** Resumes or creates; undefined: there are too many. */
  open(
    request: OpenRequest,
  ): { readonly session: Session; readonly isPresent: boolean } | undefined;
  /** Its connection is gone: it ends, or waits for the next one. */
  leave(session: Session): void;
  /** Nothing is left of it. */
  end(session: Session): void;
  /** Adds or replaces; answers what was there, or 'full'. */
  subscribe(session: Session, subscription: Subscription): 'new' | 'replaced' | 'full';
  unsubscribe(session: Session, filter: string): boolean;
  ofIdentity(identity: string): readonly Session[];
  /** Ends those that nobody came back to. */
  expire(now: Instant): readonly Session[];
  restore(stored: StoredSession): void;
  readonly size: number;
}

export interface OpenRequest {
  readonly identity: string;
  readonly clientId: string;
  readonly cleanStart: boolean;
  readonly expirySeconds: number;
}

export function createSessionRegistry(options: {
  readonly tree: SubscriptionTree;
  readonly queue: MessageQueue;
  readonly journal: Journal;
  readonly counters: Counters;
  readonly clock: Clock;
}): SessionRegistry {
  const { tree, queue, journal, counters, clock } = options;
  const sessions = new Map<SessionKey, Session>();
  const counts = new Map<string, number>();

  function insert(session: Session): void {
    sessions.set(session.key, session);
    counts.set(session.identity, (counts.get(session.identity) ?? 0) + 1);
  }

  function end(session: Session): void {
    if (sessions.get(session.key) !== session) return;
    sessions.delete(session.key);
    const count = (counts.get(session.identity) ?? 1) - 1;
    if (count === 0) counts.delete(session.identity);
    else counts.set(session.identity, count);
    for (const filter of session.subscriptions?.keys() ?? []) tree.remove(session, filter);
    session.subscriptions = undefined;
    session.backlog = undefined;
    queue.forget(session);
    if (session.isDurable) journal.add({ kind: 'ended', key: session.key });
  }

  function open({ identity, clientId, cleanStart, expirySeconds }: OpenRequest) {
    const key = sessionKey(identity, clientId);
    const known = sessions.get(key);
    // One that ends with its connection has ended before another one begins.
    const isResumed = known?.isDurable === true && !cleanStart;
    if (known !== undefined && isResumed) {
      known.expirySeconds = expirySeconds;
      known.leftAt = undefined;
      journal.add({ kind: 'moved', key, expirySeconds });
      return { session: known, isPresent: true };
    }
    if (known !== undefined) end(known);
    const isFull =
      sessions.size >= limits.mqttSessionsMax ||
      (counts.get(identity) ?? 0) >= limits.mqttSessionsPerIdentityMax;
    if (isFull) return undefined;
    const session = new Session({ key, identity, clientId, expirySeconds });
    insert(session);
    if (session.isDurable) {
      journal.add({ kind: 'opened', session: { key, identity, clientId, expirySeconds } });
    }
    return { session, isPresent: false };
  }

  function leave(session: Session): void {
    session.link = undefined;
    session.backlog = undefined;
    if (session.expirySeconds === 0) {
      end(session);
      return;
    }
    const { key, expirySeconds } = session;
    session.leftAt = clock.now();
    journal.add({ kind: 'moved', key, expirySeconds, leftAt: session.leftAt });
  }

  function subscribe(session: Session, subscription: Subscription): 'new' | 'replaced' | 'full' {
    const { filter } = subscription;
    session.subscriptions ??= new Map();
    const isKnown = session.subscriptions.has(filter);
    if (!isKnown && session.subscriptions.size >= limits.mqttSubscriptionsPerSessionMax) {
      return 'full';
    }
    session.subscriptions.set(filter, subscription);
    tree.add(session, subscription);
    if (session.isDurable) journal.add({ kind: 'subscribed', key: session.key, subscription });
    return isKnown ? 'replaced' : 'new';
  }

  function unsubscribe(session: Session, filter: string): boolean {
    if (session.subscriptions?.delete(filter) !== true) return false;
    tree.remove(session, filter);
    if (session.isDurable) journal.add({ kind: 'unsubscribed', key: session.key, filter });
    return true;
  }

  function expire(now: Instant): readonly Session[] {
    const ended: Session[] = [];
    for (const session of sessions.values()) {
      const { leftAt, expirySeconds, link } = session;
      if (leftAt === undefined || link !== undefined || expirySeconds >= neverExpires) continue;
      if (leftAt + expirySeconds * 1_000 <= now) ended.push(session);
    }
    for (const session of ended) end(session);
    return ended;
  }

  function restore(stored: StoredSession): void {
    const session = new Session(stored);
    // Whoever was connected when the process ended left at that moment, or a little before now.
    session.leftAt = stored.leftAt ?? clock.now();
    insert(session);
    session.subscriptions = new Map(stored.subscriptions.map((one) => [one.filter, one]));
    for (const subscription of stored.subscriptions) tree.add(session, subscription);
    restoreQueue(session, stored, counters);
    if (stored.received.length > 0) {
      session.received = new Map(stored.received.map((id) => [id, undefined]));
    }
  }

  return {
    find: (key) => sessions.get(key),
    open,
    leave,
    end,
    subscribe,
    unsubscribe,
    ofIdentity: (identity) => [...sessions.values()].filter((one) => one.identity === identity),
    expire,
    restore,
    get size() {
      return sessions.size;
    },
  };
}

function restoreQueue(session: Session, stored: StoredSession, counters: Counters): void {
  if (stored.queue.length === 0) return;
  session.entries = new Map();
  for (const [index, { message, ...terms }] of stored.queue.entries()) {
    const entry: Entry = {
      ...terms,
      message,
      // Which of them had left is not known; those that may have are marked as repeated.
      wasSent: index < limits.mqttInFlightMax,
      isInFlight: false,
      isOnDisk: true,
    };
    session.entries.set(entry.packetId, entry);
    session.queuedBytes += message?.payload.length ?? 0;
    session.continueFrom(entry.packetId);
  }
  counters.queuedMessages += session.entries.size;
  counters.queuedBytes += session.queuedBytes;
}
