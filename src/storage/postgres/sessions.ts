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
import type { Session } from './connection.ts';
import { applySessionChanges } from './session-writes.ts';
import type { StoreContext } from './store-context.ts';

type KeptMessage = MessageRow & { readonly message: number; readonly retain: number };

const selectSessions = `select ${sessionColumns} from mqtt_sessions order by session`;
const selectSubscriptions = `
  select ${subscriptionColumns} from mqtt_subscriptions order by position`;
const selectQueue = `select ${queueColumns} from mqtt_queue order by position`;
const selectMessages = `select message, retain, ${messageColumns} from mqtt_messages`;
const selectReceived = 'select session, packet_id from mqtt_received order by session, packet_id';
const selectRetained = `
  select ${retainedColumns} from mqtt_retained order by topic collate "C"`;

/** MQTT sessions in PostgreSQL: read once, at start, and from then on written only. */
export function createSessionStore({ reader, writer, damaged }: StoreContext): SessionStore {
  return {
    load: () => reader.inSnapshot((session) => load(session, damaged)),
    apply: (changes) => writer.call((tx) => applySessionChanges(tx, changes)),
  };
}

async function load(session: Session, damaged: DamagedRows): Promise<StoredSessions> {
  const messages = new Map<number, Message>();
  for (const row of await session.all<KeptMessage>(selectMessages)) {
    const read = () => messageFromRow(row, row.retain === 1);
    const message = damaged.read('mqtt_messages', row.message, read);
    if (message !== undefined) messages.set(row.message, message);
  }
  const subscriptions = bySession(await session.all<SubscriptionRow>(selectSubscriptions));
  const queues = bySession(await session.all<QueueRow>(selectQueue));
  const received = bySession(
    await session.all<{ session: number; packet_id: number }>(selectReceived),
  );

  function entryOf(row: QueueRow): StoredEntry | undefined {
    const message = row.message === null ? undefined : messages.get(row.message);
    // Without its message it would look like one that was released.
    if (row.message !== null && message === undefined) return undefined;
    const key = `${row.session} ${row.packet_id}`;
    return damaged.read('mqtt_queue', key, () => entryFromRow(row, message));
  }

  const sessions = (await session.all<SessionRow>(selectSessions)).map(
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
  const retained = (await session.all<RetainedRow>(selectRetained)).flatMap(
    (row) => damaged.read('mqtt_retained', row.topic, () => retainedFromRow(row)) ?? [],
  );
  return { sessions, retained };
}

function bySession<Row extends { readonly session: number }>(
  rows: readonly Row[],
): ReadonlyMap<number, readonly Row[]> {
  return Map.groupBy(rows, ({ session }) => session);
}
