import { limits } from '../../domain/limits.ts';
import type { StateChange } from '../../domain/notifications/notification-store.ts';
import {
  type NotificationRow,
  notificationColumns,
  type TallyRow,
} from '../sql/notification-row.ts';
import { applyPatch, type Patch } from '../sql/patch.ts';
import type { SqlSession } from '../sql/session.ts';
import { bucketOf } from './bucket.ts';
import type { Sender } from './connection.ts';

const addNotification = `
  insert into notifications (${notificationColumns})
  select $1, $2, $3, $4, $5, $6
  where exists (select 1 from users where nocase(username) = nocase($2::text))`;
const setTally = `
  update notifications set times_sent = $1, last_fired_at = $2, last_success_at = $3,
    last_success_code = $4, last_failure_at = $5, last_failure_reason = $6
  where id = $7`;
const countOwned = 'select count(*) as n from notifications where nocase(owner) = nocase($1)';
const selectDetails = 'select details from notifications where id = $1';
const changeNotification = `
  update notifications set details = $1, is_active = $2, modified_at = $3 where id = $4`;
const upsertStates = `
  insert into notification_states (notification, bucket, device_id, state)
  select position, given.bucket, given.device_id, given.state
  from unnest($1::text[], $2::smallint[], $3::text[], $4::text[])
    as given (id, bucket, device_id, state)
  join notifications using (id)
  on conflict (notification, device_id)
    do update set state = excluded.state, revision = notification_states.revision + 1`;
const deleteStates = `
  delete from notification_states
  where notification = (select position from notifications where id = $1)`;

export async function insertNotification(
  session: SqlSession,
  row: NotificationRow,
  tally: TallyRow | undefined,
): Promise<'inserted' | 'missing' | 'too_many'> {
  const owned = (await session.first<{ n: number }>(countOwned, row.owner))?.n ?? 0;
  if (owned >= limits.notificationsPerUserMax) return 'too_many';
  const { id, owner, is_active, created_at, modified_at, details } = row;
  const values = [id, owner, is_active, created_at, modified_at, details] as const;
  if ((await session.run(addNotification, ...values)) === 0) return 'missing';
  if (tally !== undefined) {
    const { times_sent, last_fired_at, last_success_at, last_success_code } = tally;
    const successes = [times_sent, last_fired_at, last_success_at, last_success_code] as const;
    await session.run(setTally, ...successes, tally.last_failure_at, tally.last_failure_reason, id);
  }
  return 'inserted';
}

export async function updateNotification(
  session: SqlSession,
  id: string,
  patch: Patch,
  { at, isWatchedAnew }: { readonly at: number; readonly isWatchedAnew: boolean },
): Promise<'updated' | 'missing'> {
  const stored = await session.first<{ details: string }>(selectDetails, id);
  if (stored === undefined) return 'missing';
  const text = applyPatch(stored.details, patch);
  const { status } = JSON.parse(text) as { status: string };
  await session.run(changeNotification, text, Number(status === 'active'), at, id);
  if (isWatchedAnew) await session.run(deleteStates, id);
  return 'updated';
}

/** Keeps states in this commit, each of its own rule and device, and waits for none of them. */
export function sendNotificationStates(
  { send }: Pick<Sender, 'send'>,
  changes: readonly StateChange[],
): void {
  if (changes.length === 0) return;
  send(
    upsertStates,
    changes.map(({ notificationId }) => notificationId),
    changes.map(({ deviceId }) => bucketOf(deviceId)),
    changes.map(({ deviceId }) => deviceId),
    changes.map(({ state }) => JSON.stringify(state)),
  );
}
