import { sessionKey } from '../../domain/messaging/message.ts';
import type { StoredWill } from '../../domain/messaging/session-store.ts';
import type { DamagedRows } from '../faults.ts';
import type { SqlSession } from './session.ts';
import {
  keyParts,
  messageValues,
  type RetainedRow,
  retainedColumns,
  retainedFromRow,
} from './session-row.ts';

/** The row of a last will. */
export interface WillRow extends RetainedRow {
  readonly identity: string;
  readonly clientId: string;
  readonly turn: number;
  readonly delayMs: number;
  readonly expirySeconds: number | null;
  readonly retain: number;
  /** When its session was left; missing where wills are taken from other processes. */
  readonly leftAt?: number | null;
}

/** A last will by its connection: the key of its session in the table, and its term. */
export interface WillPlace {
  readonly key: string;
  /** The process that has the client; 0: one that serves alone. */
  readonly owner: number;
  readonly turn: number;
}

export const willColumns = `
  identity, client_id as "clientId", turn, delay_ms as "delayMs", expiry_seconds as "expirySeconds",
  retain, ${retainedColumns}`;
const put = `
  insert into mqtt_wills (key, owner, turn, identity, client_id, delay_ms, expiry_seconds, retain,
    payer, topic, payload, qos, properties, expires_at, publisher)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
  on conflict (key, turn) do nothing`;
/** The delay of a will whose value is stored, and was not handed on to all. */
const stored = -1;
export const willIsStored = `delay_ms = ${stored}`;
/** Marks a will in the commit that stores its value: whoever publishes it again stores nothing. */
export const markStored = `update mqtt_wills set ${willIsStored}`;
const settle = `
  delete from mqtt_wills where key = $1 and turn = $3 and (owner = $2 or $2 = 0)`;
const ofOwner = 'where key = $1 and turn = $3 and owner = $2';
const markTold = `${markStored} ${ofOwner}`;
const find = `select ${willIsStored} as "isTold" from mqtt_wills ${ofOwner}`;
const selectAll = `
  select ${willColumns}, left_at as "leftAt" from mqtt_wills
  left join (select identity as whose, client_id as name, left_at from mqtt_sessions) as sessions
    on whose = identity and name = client_id
  order by turn`;

/** Keeps the will of a client that connects, beside one of before that was not published yet. */
export async function putWill(
  session: SqlSession,
  { key, owner, turn }: WillPlace,
  { key: sessionOf, message, delayMs, expirySeconds }: StoredWill,
): Promise<void> {
  const about = [key, owner, turn, ...keyParts(sessionOf), delayMs] as const;
  const how = [expirySeconds ?? null, Number(message.retain), message.payer ?? null] as const;
  await session.run(put, ...about, ...how, ...messageValues(message));
}

/**
 * Removes the will of this term, published or not to be; one that another process took stays.
 * Answers how many there were.
 */
export const settleWill = (session: SqlSession, { key, owner, turn }: WillPlace) =>
  session.run(settle, key, owner, turn);

/**
 * Ends the will of this term in the commit that tells it to others, where there are any; one that
 * is retained is marked, so that who takes it up then retains it, and tells nobody.
 */
export async function tellWill(
  session: SqlSession,
  { key, owner, turn, isRetained }: WillPlace & { readonly isRetained?: boolean },
  isAlone: boolean,
): Promise<'told' | 'known' | 'gone'> {
  const place = [key, owner, turn] as const;
  const row = await session.first<{ readonly isTold: boolean }>(find, ...place);
  if (row?.isTold === true) return 'known';
  if (isAlone) return 'told';
  if (row === undefined) return 'gone';
  await session.run(isRetained === true ? markTold : settle, ...place);
  return 'told';
}

/** Loads all wills, those of earlier connections first. */
export async function loadWills(
  session: Pick<SqlSession, 'all'>,
  damaged: DamagedRows,
): Promise<readonly StoredWill[]> {
  return willsFrom(await session.all<WillRow>(selectAll), damaged);
}

/** The wills of these rows, without those that cannot be understood. */
export const willsFrom = (rows: readonly WillRow[], damaged: DamagedRows): readonly StoredWill[] =>
  rows.flatMap((row) => willFrom(row, damaged) ?? []);

function willFrom(row: WillRow, damaged: DamagedRows): StoredWill | undefined {
  const { identity, clientId, turn, delayMs, expirySeconds, leftAt = null } = row;
  const key = sessionKey(identity, clientId);
  return damaged.read('mqtt_wills', key, () => ({
    ...{ key, turn, delayMs, message: { ...retainedFromRow(row), retain: row.retain === 1 } },
    ...(expirySeconds !== null && { expirySeconds }),
    ...(leftAt !== null && { leftAt }),
  }));
}
