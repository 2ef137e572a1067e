import type { DatabaseSync } from 'node:sqlite';
import type { Message } from '../../domain/messaging/message.ts';
import type {
  SessionStore,
  StoredSession,
  StoredSessions,
} from '../../domain/messaging/session-store.ts';
import {
  entryFromRow,
  type MessageRow,
  messageColumns,
  messageFromRow,
  packChanges,
  type QueueRow,
  queueColumns,
  type SessionRow,
  type SubscriptionRow,
  sessionColumns,
  sessionFromRow,
  subscriptionColumns,
  subscriptionFromRow,
} from '../sql/session-row.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import type { Writer } from './writer.ts';

type KeptMessage = MessageRow & { readonly message: number; readonly retain: number };

const selectSessions = `select ${sessionColumns} from mqtt_sessions order by session`;
const selectSubscriptions = `
  select ${subscriptionColumns} from mqtt_subscriptions order by position`;
const selectQueue = `select ${queueColumns} from mqtt_queue order by position`;
const selectMessages = `select message, retain, ${messageColumns} from mqtt_messages`;
const selectReceived = 'select session, packet_id from mqtt_received order by session, packet_id';
const selectRetained = `select ${messageColumns} from mqtt_retained order by topic`;

/** MQTT sessions in SQLite: read once, at start, and from then on written only. */
export function createSessionStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
}): SessionStore {
  const { reader, writer } = options;
  return {
    load: () => readSafely(() => inSnapshot(reader, () => load(reader))),
    apply(changes) {
      const packed = packChanges(changes);
      const { buffer } = packed.bytes;
      return writer.callTransfer('applySessionChanges', [buffer], packed.changes, packed.bytes);
    },
  };
}

function load(reader: DatabaseSync): StoredSessions {
  const all = <Row>(sql: string) => createSelection<Row>(reader, sql).all();
  const messages = new Map<number, Message>();
  for (const row of all<KeptMessage>(selectMessages)) {
    messages.set(row.message, messageFromRow(row, row.retain === 1));
  }
  const subscriptions = bySession(all<SubscriptionRow>(selectSubscriptions));
  const queues = bySession(all<QueueRow>(selectQueue));
  const received = bySession(all<{ session: number; packet_id: number }>(selectReceived));
  const sessions = all<SessionRow>(selectSessions).map(
    (row): StoredSession => ({
      ...sessionFromRow(row),
      subscriptions: (subscriptions.get(row.session) ?? []).map(subscriptionFromRow),
      queue: (queues.get(row.session) ?? []).map((entry) =>
        entryFromRow(entry, entry.message === null ? undefined : messages.get(entry.message)),
      ),
      received: (received.get(row.session) ?? []).map(({ packet_id }) => packet_id),
    }),
  );
  const retained = all<MessageRow>(selectRetained).map((row) => messageFromRow(row, true));
  return { sessions, retained };
}

function bySession<Row extends { readonly session: number }>(
  rows: readonly Row[],
): ReadonlyMap<number, readonly Row[]> {
  return Map.groupBy(rows, ({ session }) => session);
}
