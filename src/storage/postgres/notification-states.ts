import type { StateChange } from '../../domain/notifications/notification-store.ts';
import { bucketOf } from '../sql/device-row.ts';
import type { ChangeSession } from '../sql/session.ts';

const upsertStates = `
  insert into notification_states (notification, bucket, device_id, state)
  select position, given.bucket, given.device_id, given.state
  from unnest($1::text[], $2::smallint[], $3::text[], $4::text[])
    as given (id, bucket, device_id, state)
  join notifications using (id)
  on conflict (notification, device_id)
    do update set state = excluded.state, revision = notification_states.revision + 1`;

/** Saves states in this commit, each of its own rule and device; waits for none of them. */
export function saveNotificationStates(
  { send }: Pick<ChangeSession, 'send'>,
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
