import type { Message } from '../../domain/messaging/message.ts';
import type {
  StoredEntry,
  StoredSession,
  StoredSessions,
} from '../../domain/messaging/session-store.ts';
import type { DamagedRows } from '../faults.ts';
import type { SqlReader, SqlSession } from './session.ts';
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
  sessionFromRow,
  sessionTable,
  subscriptionFromRow,
  subscriptionTable,
} from './session-row.ts';
import type { Row } from './table.ts';
import { loadWills } from './wills.ts';

type KeptMessage = MessageRow & { readonly message: number; readonly retain: number };

const selectsWhere = (isWanted: string) => ({
  sessions: `
    select session, ${sessionTable.columns} from mqtt_sessions where ${isWanted} order by session`,
  queue: `select ${queueColumns} from mqtt_queue where ${isWanted} order by position`,
  received: `
    select session, packet_id from mqtt_received
    where handed_on = 1 and ${isWanted} order by session, packet_id`,
});
const selectSubscriptions = (also: string, isWanted: string): string => `
  select session, ${subscriptionTable.columns}${also} from mqtt_subscriptions
  where ${isWanted} order by position`;
const isAny = 'true';
const isOneOf = 'session in (select cast(value as bigint) from each($1))';
const ofAll = selectsWhere(isAny);
const ofThese = selectsWhere(isOneOf);
const selectMessages = `select message, retain, ${messageColumns} from mqtt_messages`;
const selectTheirMessages = `
  ${selectMessages} where message in (select message from mqtt_queue where ${isOneOf})`;
const selectRetained = (isWanted: string): string => `
  select ${retainedColumns} from mqtt_retained where ${isWanted} order by topic collate "C"`;
const retainedOfAll = selectRetained('true');
const retainedOfThese = selectRetained('key in (select value from each($1))');

/** A session with the number of its row, and the rows of its subscriptions. */
interface LoadedSession {
  readonly row: number;
  readonly session: StoredSession;
  readonly subscribed: readonly RowOfSession[];
}

type RowOfSession = Row & { readonly session: number };

/** Loads sessions whole: those of these rows, or all; `also`: more columns of subscriptions. */
export async function loadSessions(
  session: SqlSession,
  damaged: DamagedRows,
  { rows, also = '' }: { rows?: readonly number[]; also?: string } = {},
): Promise<readonly LoadedSession[]> {
  const selects = rows === undefined ? ofAll : ofThese;
  const wanted = rows === undefined ? [] : [rows];
  const messages = new Map<number, Message>();
  const ofMessages = rows === undefined ? selectMessages : selectTheirMessages;
  for (const row of await session.all<KeptMessage>(ofMessages, ...wanted)) {
    const read = () => messageFromRow(row, row.retain === 1);
    const message = damaged.read('mqtt_messages', row.message, read);
    if (message !== undefined) messages.set(row.message, message);
  }
  const ofSubscriptions = selectSubscriptions(also, rows === undefined ? isAny : isOneOf);
  const subscriptions = bySession(await session.all<RowOfSession>(ofSubscriptions, ...wanted));
  const queues = bySession(await session.all<QueueRow>(selects.queue, ...wanted));
  const received = bySession(
    await session.all<{ session: number; packet_id: number }>(selects.received, ...wanted),
  );

  function entryOf(row: QueueRow): StoredEntry | undefined {
    const message = row.message === null ? undefined : messages.get(row.message);
    // Without its message it would look like one that was released.
    if (row.message !== null && message === undefined) return undefined;
    const key = `${row.session} ${row.packet_id}`;
    return damaged.read('mqtt_queue', key, () => entryFromRow(row, message));
  }

  const found = await session.all<RowOfSession>(selects.sessions, ...wanted);
  return found.map((row): LoadedSession => {
    const subscribed = subscriptions.get(row.session) ?? [];
    return {
      ...{ row: row.session, subscribed },
      session: {
        ...sessionFromRow(row),
        subscriptions: subscribed.flatMap((one) => {
          const key = `${one.session} ${one['filter']}`;
          return damaged.read('mqtt_subscriptions', key, () => subscriptionFromRow(one)) ?? [];
        }),
        queue: (queues.get(row.session) ?? []).flatMap((one) => entryOf(one) ?? []),
        received: (received.get(row.session) ?? []).map(({ packet_id }) => packet_id),
      },
    };
  });
}

/** Loads all sessions, retained messages and wills. */
export const loadAll = (reader: SqlReader, damaged: DamagedRows): Promise<StoredSessions> =>
  reader.inSnapshot(async (session) => ({
    sessions: (await loadSessions(session, damaged)).map(({ session: one }) => one),
    retained: await loadRetained(session, damaged),
    wills: await loadWills(session, damaged),
  }));

/** Loads retained messages: those of these keys, or all. */
export async function loadRetained(
  session: Pick<SqlSession, 'all'>,
  damaged: DamagedRows,
  keys?: readonly string[],
): Promise<readonly Message[]> {
  const rows =
    keys === undefined
      ? await session.all<RetainedRow>(retainedOfAll)
      : await session.all<RetainedRow>(retainedOfThese, keys);
  return rows.flatMap(
    (row) => damaged.read('mqtt_retained', row.topic, () => retainedFromRow(row)) ?? [],
  );
}

const bySession = <Row extends { readonly session: number }>(rows: readonly Row[]) =>
  Map.groupBy(rows, ({ session }) => session);
