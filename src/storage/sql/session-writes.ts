import type { SessionKey } from '../../domain/messaging/message.ts';
import type { SessionChange, SessionRecord, Share } from '../../domain/messaging/session-store.ts';
import { insertRow, type SqlSession, type Value } from './session.ts';
import {
  messageColumns,
  messageValues,
  queueColumns,
  retainedColumns,
  sessionTable,
  subscriptionTable,
} from './session-row.ts';
import { putWill, settleWill } from './wills.ts';

/** How the tables of sessions differ by engine. */
export interface SessionTables {
  /** The key of a session in the table of wills, and who has them; 0: a process that is alone. */
  willKey(key: SessionKey): string;
  readonly willOwner: number;
  /** The condition for a session, and its values. */
  readonly isSession: string;
  sessionKey(key: SessionKey): readonly string[];
  /** The unique columns of subscriptions and of retained messages, and their values. */
  readonly filterKey: string;
  readonly topicKey: string;
  textKey(text: string): string;
  /** Columns of its own, of a new session and of a new subscription. */
  ownColumns(record: SessionRecord): Readonly<Record<string, Value>>;
  readonly computed: Readonly<Record<string, string>>;
  /** Removes a session with all that is kept for it. */
  drop(session: SqlSession, key: SessionKey): Promise<void>;
  /** Whether the database itself removes messages that no session waits for. */
  readonly hasTriggers: boolean;
}

/** The steps of a process beside others, each of which has sessions of its own. */
export interface SessionCluster {
  readonly own: number;
  /** Settles the claim of a message that is queued; gives it back where its session is gone. */
  settleShare(session: SqlSession, share: Share, isQueued: boolean): Promise<void>;
  /** Keeps up to where messages of a process are in the queue of a session. */
  noteHeard(session: SqlSession, number: number, origin: Origin): Promise<void>;
}

type Origin = NonNullable<Change<'queued'>['message']['origin']>;

/** The result of changes at a process beside others. */
interface Applied {
  /** Sessions of another process: they stay as they are. */
  readonly refused: readonly SessionKey[];
  /** Whether messages for groups were given back: of those sessions, or of one that is gone. */
  readonly isGivenBack: boolean;
}

const onSubscription = (key: string): string => `
  on conflict (session, ${key}) do update set
    qos = excluded.qos, no_local = excluded.no_local,
    retain_as_published = excluded.retain_as_published,
    retain_handling = excluded.retain_handling, identifier = excluded.identifier`;
const onRetained = (key: string): string => `
  on conflict (${key}) do update set
    payload = excluded.payload, qos = excluded.qos, properties = excluded.properties,
    expires_at = excluded.expires_at, publisher = excluded.publisher, payer = excluded.payer`;
const updateSession = `
  update mqtt_sessions set expiry_seconds = $1, left_at = $2, payer = coalesce($3, payer)
  where session = $4`;
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
const deleteReceived = `delete from mqtt_received where ${isEntry}`;

type Change<Kind extends SessionChange['kind']> = Extract<SessionChange, { readonly kind: Kind }>;
type ChangeOfSession = Extract<SessionChange, { readonly key: SessionKey }>;

/** Inserts a session that is not there. */
export async function insertSession(
  session: SqlSession,
  { ownColumns }: SessionTables,
  record: SessionRecord,
): Promise<void> {
  await insertRow(session, 'mqtt_sessions', {
    ...sessionTable.toRow(record),
    ...ownColumns(record),
  });
}

/** The statements that name keys. */
function statementsOf({ isSession, filterKey, topicKey }: SessionTables, isOwned: boolean) {
  const isTopic = topicKey === 'topic';
  return {
    selectSession: `
      select session, ${isOwned ? 'owner' : 'null as owner'} from mqtt_sessions where ${isSession}`,
    onSubscription: onSubscription(filterKey),
    deleteSubscription: `
      delete from mqtt_subscriptions where session = $1 and ${filterKey} = $2`,
    upsertRetained: `
      insert into mqtt_retained (${retainedColumns}${isTopic ? '' : `, ${topicKey}`})
      values ($1, $2, $3, $4, $5, $6, $7${isTopic ? '' : ', $8'}) ${onRetained(topicKey)}`,
    deleteRetained: `
      delete from mqtt_retained
      where ${topicKey} = $1 and (cast($2 as bigint) is null or expires_at <= $2)`,
  };
}

/** A commit of changes. */
interface Applying {
  readonly session: SqlSession;
  /** Rows of sessions that were found; undefined: none that may be changed. */
  readonly numbers: Map<SessionKey, number | undefined>;
  readonly refused: Set<SessionKey>;
  isGivenBack: boolean;
}

/** Changes of MQTT sessions and retained messages in the tables of either engine. */
export function createSessionChanges(tables: SessionTables, cluster?: SessionCluster) {
  const { filterKey, textKey, hasTriggers } = tables;
  const sql = statementsOf(tables, cluster !== undefined);
  const willPlace = ({ key, turn }: { key: SessionKey; turn: number }) => ({
    ...{ key: tables.willKey(key), owner: tables.willOwner, turn },
  });

  /** The row of a session that this process may change. */
  async function find(
    { session, numbers, refused }: Applying,
    key: SessionKey,
  ): Promise<number | undefined> {
    if (numbers.has(key)) return numbers.get(key);
    const row = await session.first<{ readonly session: number; readonly owner: number | null }>(
      ...[sql.selectSession, ...tables.sessionKey(key)],
    );
    const isOurs = row === undefined || cluster === undefined || row.owner === cluster.own;
    if (!isOurs) refused.add(key);
    const number = isOurs ? row?.session : undefined;
    numbers.set(key, number);
    return number;
  }

  async function drop({ session, numbers }: Applying, key: SessionKey): Promise<void> {
    await tables.drop(session, key);
    numbers.delete(key);
  }

  async function apply(applying: Applying, change: SessionChange): Promise<void> {
    const { session } = applying;
    switch (change.kind) {
      case 'opened':
        await find(applying, change.session.key);
        if (applying.refused.has(change.session.key)) return;
        await drop(applying, change.session.key);
        return insertSession(session, tables, change.session);
      case 'ended':
        if ((await find(applying, change.key)) === undefined) return;
        return drop(applying, change.key);
      case 'queued':
        return queue(applying, change);
      case 'retained': {
        const { message } = change;
        const key = tables.topicKey === 'topic' ? [] : [textKey(message.topic)];
        const values = [...messageValues(message), message.payer ?? null, ...key];
        await session.run(sql.upsertRetained, ...values);
        return;
      }
      case 'unretained':
        await session.run(sql.deleteRetained, textKey(change.topic), change.expiredAt ?? null);
        return;
      case 'will_kept':
        return putWill(session, willPlace(change), change);
      case 'will_settled':
        return void (await settleWill(session, willPlace(change)));
      default: {
        const number = await find(applying, change.key);
        if (number !== undefined) await applyToSession(session, number, change);
      }
    }
  }

  async function applyToSession(
    session: SqlSession,
    number: number,
    change: Exclude<ChangeOfSession, Change<'ended' | 'will_kept' | 'will_settled'>>,
  ): Promise<unknown> {
    switch (change.kind) {
      case 'moved': {
        const { expirySeconds, leftAt = null, payer = null } = change;
        return session.run(updateSession, expirySeconds, leftAt, payer, number);
      }
      case 'subscribed': {
        const row = { session: number, ...subscriptionTable.toRow(change.subscription) };
        const key = { [filterKey]: textKey(change.subscription.filter) };
        return insertRow(
          ...([session, 'mqtt_subscriptions', { ...row, ...key }] as const),
          ...([sql.onSubscription, tables.computed] as const),
        );
      }
      case 'unsubscribed':
        return session.run(sql.deleteSubscription, number, textKey(change.filter));
      case 'released':
        return letGo(session, releaseEntry, number, change.packetId);
      case 'settled':
        return letGo(session, deleteEntry, number, change.packetId);
      case 'received':
        return session.run(insertReceived, number, change.packetId);
      case 'completed':
        return session.run(deleteReceived, number, change.packetId);
    }
  }

  /** Changes an entry that no longer needs its message; the message goes when no entry does. */
  async function letGo(
    session: SqlSession,
    step: string,
    ...entry: readonly [number: number, packetId: number]
  ): Promise<void> {
    const row = hasTriggers
      ? undefined
      : await session.first<{ message: number | null }>(selectMessage, ...entry);
    if (row === undefined && !hasTriggers) return;
    await session.run(step, ...entry);
    if (row !== undefined && row.message !== null) await session.run(dropUnused, row.message);
  }

  async function queue(applying: Applying, { message, entries }: Change<'queued'>): Promise<void> {
    const { session } = applying;
    const { origin } = message;
    let id: number | undefined;
    let added = 0;
    for (const { key, packetId, qos, retain, identifiers, share } of entries) {
      const number = await find(applying, key);
      if (cluster !== undefined && share !== undefined) {
        await cluster.settleShare(session, share, number !== undefined);
        applying.isGivenBack ||= number === undefined;
      }
      if (number === undefined) continue;
      // A group message is found by its claim.
      if (origin !== undefined && share === undefined) {
        await cluster?.noteHeard(session, number, origin);
      }
      if (id === undefined) {
        const values = [...messageValues(message), Number(message.retain)];
        id = (await session.first<{ message: number }>(insertMessage, ...values))?.message;
      }
      const flags = [qos, Number(retain), JSON.stringify(identifiers)] as const;
      added += await session.run(insertEntry, number, packetId, id ?? null, ...flags);
    }
    // All of its entries were there before.
    if (id !== undefined && added === 0) await session.run(dropUnused, id);
  }

  /** Applies the changes in their order. */
  return async (session: SqlSession, changes: readonly SessionChange[]): Promise<Applied> => {
    const applying: Applying = {
      ...{ session, numbers: new Map(), refused: new Set() },
      isGivenBack: false,
    };
    for (const change of changes) await apply(applying, change);
    return { refused: [...applying.refused], isGivenBack: applying.isGivenBack };
  };
}
