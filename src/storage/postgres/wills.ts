import type { SessionKey } from '../../domain/messaging/message.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { StoredWill } from '../../domain/messaging/session-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import type { SqlSession } from '../sql/session.ts';
import {
  keyParts,
  messageValues,
  type RetainedRow,
  retainedColumns,
  retainedFromRow,
} from '../sql/session-row.ts';
import { sessionIndexKey } from './own-tables.ts';

interface WillRow extends RetainedRow {
  readonly identity: string;
  readonly clientId: string;
  readonly turn: number;
  readonly delayMs: number;
  readonly expirySeconds: number | null;
  readonly retain: number;
}

const willColumns = `
  identity, client_id as "clientId", turn, delay_ms as "delayMs", expiry_seconds as "expirySeconds",
  retain, ${retainedColumns}`;
const ended = `owner not in (select member from members where state = 'serving')`;
const put = `
  insert into mqtt_wills (key, owner, turn, identity, client_id, delay_ms, expiry_seconds, retain,
    payer, topic, payload, qos, properties, expires_at, publisher)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;
/** Wills stay until they were published: the process that takes them may end before. */
const take = `
  update mqtt_wills set owner = $2, is_begun = false
  where key = $1 and owner <> $2 and (($3 and not is_begun) or ${ended})
  returning ${willColumns}`;
const adopt = `
  update mqtt_wills set owner = $1, is_begun = false where (key, turn) in (
    select key, turn from mqtt_wills where ${ended} order by key, turn limit $2)
  returning ${willColumns}`;
const begin = `
  update mqtt_wills set is_begun = true where key = $1 and owner = $2 and turn = $3`;
const settle = 'delete from mqtt_wills where key = $1 and owner = $2 and turn = $3';

/** Keeps the will of a client that connects, beside one of before that was not published yet. */
export async function putWill(
  session: SqlSession,
  owner: number,
  { key, message, delayMs, expirySeconds, turn }: StoredWill,
): Promise<void> {
  const [identity, clientId] = keyParts(key);
  const about = [sessionIndexKey(key), owner, turn, identity, clientId, delayMs] as const;
  const how = [expirySeconds ?? null, Number(message.retain), message.payer ?? null] as const;
  await session.run(put, ...about, ...how, ...messageValues(message));
}

/** Takes the wills that a process has that ended, or that is not asked any more. */
export async function takeWills(
  session: SqlSession,
  key: SessionKey,
  { own, isForced, damaged }: { own: number; isForced: boolean; damaged: DamagedRows },
): Promise<readonly StoredWill[]> {
  const rows = await session.all<WillRow>(take, sessionIndexKey(key), own, isForced);
  return rows.flatMap((row) => willFrom(row, damaged) ?? []);
}

/** Makes some wills of processes that ended this one's. */
export async function adoptWills(
  session: SqlSession,
  { own, most, damaged }: { own: number; most: number; damaged: DamagedRows },
): Promise<readonly StoredWill[]> {
  const rows = await session.all<WillRow>(adopt, own, most);
  return rows.flatMap((row) => willFrom(row, damaged) ?? []);
}

/** Keeps the will from other processes that serve; false: one of them has taken it. */
export async function beginWill(
  session: SqlSession,
  { key, owner, turn }: { key: SessionKey; owner: number; turn: number },
): Promise<boolean> {
  return (await session.run(begin, sessionIndexKey(key), owner, turn)) > 0;
}

/** Removes the will of this term, published or not to be; one that another process took stays. */
export async function settleWill(
  session: SqlSession,
  { key, owner, turn }: { key: SessionKey; owner: number; turn: number },
): Promise<void> {
  await session.run(settle, sessionIndexKey(key), owner, turn);
}

function willFrom(row: WillRow, damaged: DamagedRows): StoredWill | undefined {
  const { identity, clientId, turn, delayMs, expirySeconds } = row;
  const key = sessionKey(identity, clientId);
  return damaged.read('mqtt_wills', key, () => ({
    ...{ key, turn, delayMs, message: { ...retainedFromRow(row), retain: row.retain === 1 } },
    ...(expirySeconds !== null && { expirySeconds }),
  }));
}
