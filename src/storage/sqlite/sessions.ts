import type { DatabaseSync } from 'node:sqlite';
import type { Message } from '../../domain/messaging/message.ts';
import type {
  SessionStore,
  StoredEntry,
  StoredSession,
  StoredSessions,
} from '../../domain/messaging/session-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  entryFromRow,
  type MessageRow,
  messageColumns,
  messageFromRow,
  packChanges,
  type QueueRow,
  queueColumns,
  type RetainedRow,
  retainedColumns,
  retainedFromRow,
  type SessionRow,
  type SubscriptionRow,
  sessionColumns,
  sessionFromRow,
  subscriptionColumns,
  subscriptionFromRow,
} from '../sql/session-row.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import type { StoreContext } from './store-context.ts';

type KeptMessage = MessageRow & { readonly message: number; readonly retain: number };

const selectSessions = `select ${sessionColumns} from mqtt_sessions order by session`;
const selectSubscriptions = `
  select ${subscriptionColumns} from mqtt_subscriptions order by position`;
const selectQueue = `select ${queueColumns} from mqtt_queue order by position`;
const selectMessages = `select message, retain, ${messageColumns} from mqtt_messages`;
const selectReceived = `
  select session, packet_id from mqtt_received where handed_on = 1 order by session, packet_id`;
const selectRetained = `select ${retainedColumns} from mqtt_retained order by topic`;

/** MQTT sessions in SQLite: read once, at start, and from then on written only. */
export function createSessionStore({ reader, writer, damaged }: StoreContext): SessionStore {
  return {
    load: () => readSafely(() => inSnapshot(reader, () => load(reader, damaged))),
    apply(changes) {
      const packed = packChanges(changes);
      const { buffer } = packed.bytes;
      return writer.callTransfer('applySessionChanges', [buffer], packed.changes, packed.bytes);
    },
  };
}

function load(reader: DatabaseSync, damaged: DamagedRows): StoredSessions {
  const all = <Row>(sql: string) => createSelection<Row>(reader, sql).all();
  const messages = new Map<number, Message>();
  for (const row of all<KeptMessage>(selectMessages)) {
    const read = () => messageFromRow(row, row.retain === 1);
    const message = damaged.read('mqtt_messages', row.message, read);
    if (message !== undefined) messages.set(row.message, message);
  }
  const subscriptions = bySession(all<SubscriptionRow>(selectSubscriptions));
  const queues = bySession(all<QueueRow>(selectQueue));
  const received = bySession(all<{ session: number; packet_id: number }>(selectReceived));

  function entryOf(row: QueueRow): StoredEntry | undefined {
    const message = row.message === null ? undefined : messages.get(row.message);
    // Without its message it would look like one that was released.
    if (row.message !== null && message === undefined) return undefined;
    const key = `${row.session} ${row.packet_id}`;
    return damaged.read('mqtt_queue', key, () => entryFromRow(row, message));
  }

  const sessions = all<SessionRow>(selectSessions).map(
    (row): StoredSession => ({
      ...sessionFromRow(row),
      subscriptions: (subscriptions.get(row.session) ?? []).flatMap((one) => {
        const key = `${one.session} ${one.filter}`;
        return damaged.read('mqtt_subscriptions', key, () => subscriptionFromRow(one)) ?? [];
      }),
      queue: (queues.get(row.session) ?? []).flatMap((one) => entryOf(one) ?? []),
      received: (received.get(row.session) ?? []).map(({ packet_id }) => packet_id),
    }),
  );
  const retained = all<RetainedRow>(selectRetained).flatMap(
    (row) => damaged.read('mqtt_retained', row.topic, () => retainedFromRow(row)) ?? [],
  );
  return { sessions, retained };
}

function bySession<Row extends { readonly session: number }>(
  rows: readonly Row[],
): ReadonlyMap<number, readonly Row[]> {
  return Map.groupBy(rows, ({ session }) => session);
}
