import type { SessionKey } from '../../domain/messaging/message.ts';
import type {
  QueueEntry,
  SessionChange,
  SessionRecord,
  SessionStore,
  StoredEntry,
  StoredSession,
} from '../../domain/messaging/session-store.ts';
import type { KeptSession, MemoryState } from './memory-state.ts';

/** MQTT sessions in memory. */
export function createSessionStore(state: MemoryState): SessionStore {
  const { mqttSessions: sessions, retained } = state;
  return {
    load: async () => ({
      sessions: [...sessions.values()].map(storedSession),
      retained: [...retained.values()],
    }),
    async apply(changes) {
      for (const change of changes) apply(state, change);
    },
  };
}

function storedSession({ record, subscriptions, queue, received }: KeptSession): StoredSession {
  return {
    ...record,
    subscriptions: [...subscriptions.values()],
    queue: [...queue.values()],
    received: [...received].sort((a, b) => a - b),
  };
}

function apply(state: MemoryState, change: SessionChange): void {
  switch (change.kind) {
    case 'opened':
      state.mqttSessions.delete(change.session.key);
      state.mqttSessions.set(change.session.key, kept(change.session));
      return;
    case 'ended':
      state.mqttSessions.delete(change.key);
      return;
    case 'queued':
      for (const { key, ...entry } of change.entries) {
        const queue = state.mqttSessions.get(key)?.queue;
        if (queue?.has(entry.packetId) === false) {
          queue.set(entry.packetId, { ...entry, message: change.message });
        }
      }
      return;
    case 'retained':
      state.retained.set(change.message.topic, change.message);
      return;
    case 'unretained':
      state.retained.delete(change.topic);
      return;
    default: {
      const session = state.mqttSessions.get(change.key);
      if (session !== undefined) applyToSession(session, change);
    }
  }
}

type OfSession = Exclude<
  Extract<SessionChange, { readonly key: SessionKey }>,
  { readonly kind: 'ended' }
>;

function applyToSession(session: KeptSession, change: OfSession): void {
  const { record, subscriptions, queue, received } = session;
  switch (change.kind) {
    case 'moved': {
      const { leftAt: _, ...others } = record;
      const { expirySeconds, leftAt, payer } = change;
      session.record = {
        ...others,
        expirySeconds,
        ...(leftAt !== undefined && { leftAt }),
        ...(payer !== undefined && { payer }),
      };
      break;
    }
    case 'subscribed':
      subscriptions.set(change.subscription.filter, change.subscription);
      break;
    case 'unsubscribed':
      subscriptions.delete(change.filter);
      break;
    case 'released':
      release(queue, change.packetId);
      break;
    case 'settled':
      queue.delete(change.packetId);
      break;
    case 'received':
      received.add(change.packetId);
      break;
    case 'completed':
      received.delete(change.packetId);
      session.stored.delete(change.packetId);
      break;
  }
}

function release(queue: Map<number, StoredEntry>, packetId: QueueEntry['packetId']): void {
  const entry = queue.get(packetId);
  if (entry === undefined) return;
  const { message: _, ...others } = entry;
  queue.set(packetId, others);
}

const kept = (record: SessionRecord): KeptSession => ({
  record,
  subscriptions: new Map(),
  queue: new Map(),
  received: new Set(),
  stored: new Set(),
});
