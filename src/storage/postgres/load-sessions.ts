import type { Message } from '../../domain/messaging/message.ts';
import type { StoredEntry, StoredSession } from '../../domain/messaging/session-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import type { SqlSession } from '../sql/session.ts';
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
import { indexKey } from './text.ts';

type KeptMessage = MessageRow & { readonly message: number; readonly retain: number };

/** Of all sessions, or of these. */
const isWanted = '($1::bigint[] is null or session = any($1::bigint[]))';
const selectSessions = `
  select ${sessionColumns} from mqtt_sessions where ${isWanted} order by session`;
const selectSubscriptions = `
  select ${subscriptionColumns}, since from mqtt_subscriptions where ${isWanted} order by position`;
const selectQueue = `select ${queueColumns} from mqtt_queue where ${isWanted} order by position`;
const selectMessages = `
  select message, retain, ${messageColumns} from mqtt_messages
  where $1::bigint[] is null or message in
    (select message from mqtt_queue where session = any($1::bigint[]))`;
const selectReceived = `
  select session, packet_id from mqtt_received
  where handed_on = 1 and ${isWanted} order by session, packet_id`;
const selectRetained = `
  select ${retainedColumns} from mqtt_retained
  where $1::text[] is null or key = any($1::text[]) order by topic collate "C"`;

/** A session with the number of its row, and where the log was at each of its subscriptions. */
export interface LoadedSession {
  readonly row: number;
  readonly session: StoredSession;
  readonly since: ReadonlyMap<string, number>;
}

/** Sessions with all that is kept for them: those of these rows, or all. */
export async function loadSessions(
  session: SqlSession,
  damaged: DamagedRows,
  rows?: readonly number[],
): Promise<readonly LoadedSession[]> {
  const wanted = rows ?? null;
  const messages = new Map<number, Message>();
  for (const row of await session.all<KeptMessage>(selectMessages, wanted)) {
    const read = () => messageFromRow(row, row.retain === 1);
    const message = damaged.read('mqtt_messages', row.message, read);
    if (message !== undefined) messages.set(row.message, message);
  }
  const subscriptions = bySession(
    await session.all<SubscriptionRow & { since: number }>(selectSubscriptions, wanted),
  );
  const queues = bySession(await session.all<QueueRow>(selectQueue, wanted));
  const received = bySession(
    await session.all<{ session: number; packet_id: number }>(selectReceived, wanted),
  );

  function entryOf(row: QueueRow): StoredEntry | undefined {
    const message = row.message === null ? undefined : messages.get(row.message);
    // Without its message it would look like one that was released.
    if (row.message !== null && message === undefined) return undefined;
    const key = `${row.session} ${row.packet_id}`;
    return damaged.read('mqtt_queue', key, () => entryFromRow(row, message));
  }

  return (await session.all<SessionRow>(selectSessions, wanted)).map((row): LoadedSession => {
    const own = subscriptions.get(row.session) ?? [];
    return {
      row: row.session,
      since: new Map(own.map(({ filter, since }) => [filter, since])),
      session: {
        ...sessionFromRow(row),
        subscriptions: own.flatMap((one) => {
          const key = `${one.session} ${one.filter}`;
          return damaged.read('mqtt_subscriptions', key, () => subscriptionFromRow(one)) ?? [];
        }),
        queue: (queues.get(row.session) ?? []).flatMap((one) => entryOf(one) ?? []),
        received: (received.get(row.session) ?? []).map(({ packet_id }) => packet_id),
      },
    };
  });
}

/** Retained messages: those of these topics, or all. */
export async function loadRetained(
  session: Pick<SqlSession, 'all'>,
  damaged: DamagedRows,
  topics?: readonly string[],
): Promise<readonly Message[]> {
  const wanted = topics?.map(indexKey) ?? null;
  return (await session.all<RetainedRow>(selectRetained, wanted)).flatMap(
    (row) => damaged.read('mqtt_retained', row.topic, () => retainedFromRow(row)) ?? [],
  );
}

function bySession<Row extends { readonly session: number }>(
  rows: readonly Row[],
): ReadonlyMap<number, readonly Row[]> {
  return Map.groupBy(rows, ({ session }) => session);
}
