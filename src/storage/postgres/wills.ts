import type { SessionKey } from '../../domain/messaging/message.ts';
import { sessionKey } from '../../domain/messaging/message.ts';
import type { StoredWill } from '../../domain/messaging/session-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  keyParts,
  type RetainedRow,
  retainedColumns,
  retainedFromRow,
} from '../sql/session-row.ts';
import type { Session } from './connection.ts';
import { messageValues } from './message-values.ts';
import { indexKey } from './text.ts';

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
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
  on conflict (key) do update set
    owner = excluded.owner, turn = excluded.turn, is_begun = false, delay_ms = excluded.delay_ms,
    expiry_seconds = excluded.expiry_seconds, retain = excluded.retain, payer = excluded.payer,
    topic = excluded.topic, payload = excluded.payload, qos = excluded.qos,
    properties = excluded.properties, expires_at = excluded.expires_at,
    publisher = excluded.publisher`;
const take = `
  delete from mqtt_wills where key = $1 and owner <> $2 and (($3 and not is_begun) or ${ended})
  returning ${willColumns}`;
const adopt = `
  update mqtt_wills set owner = $1 where key in (
    select key from mqtt_wills where ${ended} order by key limit $2)
  returning ${willColumns}`;
/** The client may have come back to this process since, with another will. */
const begin = `
  update mqtt_wills set is_begun = is_begun or turn = $3 where key = $1 and owner = $2`;
const settle = 'delete from mqtt_wills where key = $1 and turn = $2';

const keyOf = (key: SessionKey): string => indexKey(JSON.stringify(keyParts(key)));

/** Keeps the will of a client that connects, instead of one before. */
export async function putWill(
  session: Session,
  owner: number,
  { key, message, delayMs, expirySeconds, turn }: StoredWill,
): Promise<void> {
  const [identity, clientId] = keyParts(key);
  const about = [keyOf(key), owner, turn, identity, clientId, delayMs] as const;
  const how = [expirySeconds ?? null, Number(message.retain), message.payer ?? null] as const;
  await session.run(put, ...about, ...how, ...messageValues(message));
}

/** Takes the will that a process has that ended, or that is not asked any more. */
export async function takeWill(
  session: Session,
  key: SessionKey,
  { own, isForced, damaged }: { own: number; isForced: boolean; damaged: DamagedRows },
): Promise<StoredWill | undefined> {
  const rows = await session.all<WillRow>(take, keyOf(key), own, isForced);
  return rows.flatMap((row) => willFrom(row, damaged) ?? []).at(0);
}

/** Makes some wills of processes that ended this one's. */
export async function adoptWills(
  session: Session,
  { own, most, damaged }: { own: number; most: number; damaged: DamagedRows },
): Promise<readonly StoredWill[]> {
  const rows = await session.all<WillRow>(adopt, own, most);
  return rows.flatMap((row) => willFrom(row, damaged) ?? []);
}

/** Keeps it from others that serve; false: one of them has taken it. */
export async function beginWill(
  session: Session,
  { key, owner, turn }: { key: SessionKey; owner: number; turn: number },
): Promise<boolean> {
  return (await session.run(begin, keyOf(key), owner, turn)) > 0;
}

/** The will of this turn was published, or is not to be. */
export async function settleWill(session: Session, key: SessionKey, turn: number): Promise<void> {
  await session.run(settle, keyOf(key), turn);
}

function willFrom(row: WillRow, damaged: DamagedRows): StoredWill | undefined {
  const { identity, clientId, turn, delayMs, expirySeconds } = row;
  const key = sessionKey(identity, clientId);
  return damaged.read('mqtt_wills', key, () => ({
    ...{ key, turn, delayMs, message: { ...retainedFromRow(row), retain: row.retain === 1 } },
    ...(expirySeconds !== null && { expirySeconds }),
  }));
}
