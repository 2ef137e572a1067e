import type { SessionKey } from '../../domain/messaging/message.ts';
import type { SessionChange, SessionRecord } from '../../domain/messaging/session-store.ts';
import type { SqlSession } from '../sql/session.ts';
import {
  keyParts,
  messageColumns,
  queueColumns,
  retainedColumns,
  subscriptionColumns,
} from '../sql/session-row.ts';
import { messageValues } from './message-values.ts';
import { giveSharesBack, settleShares } from './shares.ts';
import { indexKey } from './text.ts';
import { settleWill } from './wills.ts';

const insertSession = `
  insert into mqtt_sessions (key, identity, client_id, expiry_seconds, left_at, payer, owner)
  values ($1, $2, $3, $4, $5, $6, $7)`;
const selectSession = 'select session, owner from mqtt_sessions where key = $1';
/** Messages that no other session waits for go with the session that waited for them. */
const deleteSession = `
  with gone as (delete from mqtt_queue where session =
      (select session from mqtt_sessions where key = $1) returning position, message),
    unused as (select message from gone where message is not null and not exists
      (select 1 from mqtt_queue where mqtt_queue.message = gone.message
        and position not in (select position from gone)))
  select message from unused`;
const dropSession = 'delete from mqtt_sessions where key = $1';
const dropMessages = 'delete from mqtt_messages where message = any($1::bigint[])';
const updateSession = `
  update mqtt_sessions set expiry_seconds = $1, left_at = $2, payer = coalesce($3, payer)
  where session = $4`;
const upsertSubscription = `
  insert into mqtt_subscriptions (${subscriptionColumns}, key, since)
  values ($1, $2, $3, $4, $5, $6, $7, $8,
    coalesce(pg_sequence_last_value(pg_get_serial_sequence('feed_log', 'place')), 0))
  on conflict (session, key) do update set
    qos = excluded.qos, no_local = excluded.no_local,
    retain_as_published = excluded.retain_as_published,
    retain_handling = excluded.retain_handling, identifier = excluded.identifier`;
const deleteSubscription = 'delete from mqtt_subscriptions where session = $1 and key = $2';
const insertMessage = `
  insert into mqtt_messages (${messageColumns}, retain) values ($1, $2, $3, $4, $5, $6, $7)
  returning message`;
const insertEntry = `
  insert into mqtt_queue (${queueColumns}) values ($1, $2, $3, $4, $5, $6)
  on conflict (session, packet_id) do nothing`;
const isEntry = 'session = $1 and packet_id = $2';
const selectMessage = `select message from mqtt_queue where ${isEntry}`;
const releaseEntry = `update mqtt_queue set message = null where ${isEntry}`;
const deleteEntry = `delete from mqtt_queue where ${isEntry}`;
const dropUnused = `
  delete from mqtt_messages where message = $1
    and not exists (select 1 from mqtt_queue where message = $1)`;
const insertReceived = `
  insert into mqtt_received (session, packet_id) values ($1, $2)
  on conflict (session, packet_id) do update set handed_on = 1`;
const deleteReceived = 'delete from mqtt_received where session = $1 and packet_id = $2';
const upsertHeard = `
  insert into mqtt_heard (session, writer, at) values ($1, $2, $3)
  on conflict (session, writer) do update set at = greatest(mqtt_heard.at, excluded.at)`;
const upsertRetained = `
  insert into mqtt_retained (${retainedColumns}, key) values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (key) do update set
    payload = excluded.payload, qos = excluded.qos, properties = excluded.properties,
    expires_at = excluded.expires_at, publisher = excluded.publisher, payer = excluded.payer`;
const deleteRetained = `
  delete from mqtt_retained where key = $1 and ($2::bigint is null or expires_at <= $2)`;

type Change<Kind extends SessionChange['kind']> = Extract<SessionChange, { readonly kind: Kind }>;
type ChangeOfSession = Extract<SessionChange, { readonly key: SessionKey }>;

/**
 * Applies the changes in their order. `own`: the process, where several have sessions; then answers
 * the sessions that are of another one, which stay as they are, and whether messages for groups
 * were given back: of those sessions, or of one that is gone.
 */
export async function applySessionChanges(
  session: SqlSession,
  changes: readonly SessionChange[],
  own?: number,
): Promise<{ readonly refused: readonly SessionKey[]; readonly isGivenBack: boolean }> {
  const applying = { session, own, refused: new Set<SessionKey>(), isGivenBack: false };
  for (const change of changes) await apply(applying, change);
  return { refused: [...applying.refused], isGivenBack: applying.isGivenBack };
}

/** A commit of changes. */
interface Applying {
  readonly session: SqlSession;
  readonly own: number | undefined;
  /** Sessions of another process. */
  readonly refused: Set<SessionKey>;
  isGivenBack: boolean;
}

async function apply(applying: Applying, change: SessionChange): Promise<void> {
  const { session } = applying;
  switch (change.kind) {
    case 'opened':
      await open(applying, change.session);
      return;
    case 'ended':
      if ((await find(applying, change.key)) !== undefined) await drop(session, keyOf(change.key));
      return;
    case 'queued':
      await queue(applying, change);
      return;
    case 'retained':
      await session.run(
        upsertRetained,
        ...messageValues(change.message),
        change.message.payer ?? null,
        indexKey(change.message.topic),
      );
      return;
    case 'unretained':
      await session.run(deleteRetained, indexKey(change.topic), change.expiredAt ?? null);
      return;
    case 'will_settled':
      if (applying.own !== undefined) {
        await settleWill(session, { key: change.key, owner: applying.own, turn: change.turn });
      }
      return;
    default: {
      const number = await find(applying, change.key);
      if (number !== undefined) await applyToSession(session, number, change);
    }
  }
}

const keyOf = (key: SessionKey): string => indexKey(JSON.stringify(keyParts(key)));

/** The row of a session that this process may change. */
async function find(
  { session, own, refused }: Applying,
  key: SessionKey,
): Promise<number | undefined> {
  const row = await session.first<SessionOwner>(selectSession, keyOf(key));
  if (row === undefined || own === undefined || row.owner === own) return row?.session;
  refused.add(key);
  return undefined;
}

interface SessionOwner {
  readonly session: number;
  readonly owner: number | null;
}

async function drop(session: SqlSession, key: string): Promise<void> {
  const unused = await session.all<{ message: number }>(deleteSession, key);
  if (unused.length > 0) {
    await session.run(
      dropMessages,
      unused.map(({ message }) => message),
    );
  }
  await session.run(dropSession, key);
}

async function open(applying: Applying, record: SessionRecord): Promise<void> {
  const { session, own, refused } = applying;
  await find(applying, record.key);
  if (refused.has(record.key)) return;
  await drop(session, keyOf(record.key));
  await insertRecord(session, record, own);
}

/** A new row for a session that has none; `owner`: its process. */
export async function insertRecord(
  session: SqlSession,
  { identity, clientId, expirySeconds, leftAt, payer }: SessionRecord,
  owner: number | undefined,
): Promise<void> {
  const key = indexKey(JSON.stringify([identity, clientId]));
  const times = [expirySeconds, leftAt ?? null] as const;
  await session.run(
    ...[insertSession, key, identity, clientId, ...times, payer ?? null, owner ?? null],
  );
}

async function applyToSession(
  session: SqlSession,
  number: number,
  change: Exclude<ChangeOfSession, Change<'ended' | 'will_settled'>>,
): Promise<void> {
  switch (change.kind) {
    case 'moved': {
      const { expirySeconds, leftAt, payer } = change;
      await session.run(updateSession, expirySeconds, leftAt ?? null, payer ?? null, number);
      return;
    }
    case 'subscribed': {
      const { filter, qos, retainHandling, identifier, ...flags } = change.subscription;
      const numbers = [Number(flags.noLocal), Number(flags.retainAsPublished)] as const;
      const values = [number, filter, qos, ...numbers, retainHandling, identifier] as const;
      await session.run(upsertSubscription, ...values, indexKey(filter));
      return;
    }
    case 'unsubscribed':
      await session.run(deleteSubscription, number, indexKey(change.filter));
      return;
    case 'released':
      await letGo(session, releaseEntry, number, change.packetId);
      return;
    case 'settled':
      await letGo(session, deleteEntry, number, change.packetId);
      return;
    case 'received':
      await session.run(insertReceived, number, change.packetId);
      return;
    case 'completed':
      await session.run(deleteReceived, number, change.packetId);
      return;
  }
}

/** Changes an entry that no longer needs its message; the message goes when no entry does. */
async function letGo(
  session: SqlSession,
  sql: string,
  number: number,
  packetId: number,
): Promise<void> {
  const row = await session.first<{ message: number | null }>(selectMessage, number, packetId);
  if (row === undefined) return;
  await session.run(sql, number, packetId);
  if (row.message !== null) await session.run(dropUnused, row.message);
}

async function queue(applying: Applying, { message, entries }: Change<'queued'>): Promise<void> {
  const { session, own } = applying;
  const { origin } = message;
  let id: number | undefined;
  for (const { key, packetId, qos, retain, identifiers, share } of entries) {
    const number = await find(applying, key);
    if (own !== undefined && share !== undefined) {
      await (number === undefined ? giveSharesBack : settleShares)(session, own, [share]);
      applying.isGivenBack ||= number === undefined;
    }
    if (number === undefined) continue;
    // A group message is found by its claim.
    if (own !== undefined && origin !== undefined && share === undefined) {
      await session.run(upsertHeard, number, origin.writer, origin.at);
    }
    if (id === undefined) {
      const values = [...messageValues(message), Number(message.retain)];
      id = (await session.first<{ message: number }>(insertMessage, ...values))?.message;
    }
    const flags = [qos, Number(retain), JSON.stringify(identifiers)] as const;
    await session.run(insertEntry, number, packetId, id ?? null, ...flags);
  }
  // All of its entries may have been there before.
  if (id !== undefined) await session.run(dropUnused, id);
}
