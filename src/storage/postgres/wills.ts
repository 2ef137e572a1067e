import type { SessionKey } from '../../domain/messaging/message.ts';
import type { StoredWill } from '../../domain/messaging/session-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import type { SqlSession } from '../sql/session.ts';
import { type WillRow, willColumns, willsFrom } from '../sql/wills.ts';
import { sessionIndexKey } from './own-tables.ts';

const ended = `owner not in (select member from members where state = 'serving')`;
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

/** Takes the wills that a process has that ended, or that is not asked any more. */
export async function takeWills(
  session: SqlSession,
  key: SessionKey,
  { own, isForced, damaged }: { own: number; isForced: boolean; damaged: DamagedRows },
): Promise<readonly StoredWill[]> {
  return willsFrom(await session.all<WillRow>(take, sessionIndexKey(key), own, isForced), damaged);
}

/** Makes some wills of processes that ended this one's. */
export async function adoptWills(
  session: SqlSession,
  { own, most, damaged }: { own: number; most: number; damaged: DamagedRows },
): Promise<readonly StoredWill[]> {
  return willsFrom(await session.all<WillRow>(adopt, own, most), damaged);
}

/** Keeps the will from other processes that serve; false: one of them has taken it. */
export async function beginWill(
  session: SqlSession,
  { key, owner, turn }: { key: SessionKey; owner: number; turn: number },
): Promise<boolean> {
  return (await session.run(begin, sessionIndexKey(key), owner, turn)) > 0;
}
