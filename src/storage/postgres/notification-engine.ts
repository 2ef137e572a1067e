import type { StateChange } from '../../domain/notifications/notification-store.ts';
import { bucketOf } from '../sql/device-row.ts';
import type { ClusterSteps, NotificationEngine } from '../sql/firing.ts';
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

/** The member with the first evaluation in the device's queue makes it, and those behind it. */
const isOurs = `
  ($2::text is null or coalesce(
    (select (select member from looks as line where line.device_id = own.device_id
      order by place limit 1) = $3 from looks as own where id = $2), $4))`;
const markFired = `update looks set fired = fired || $2::text || ' ' where id = $1`;

/** The steps of notifications in PostgreSQL, at the process of this number if it serves. */
export const createNotificationEngine = (member: number | undefined): NotificationEngine => ({
  saveStates: saveNotificationStates,
  ...(member !== undefined && { cluster: createClusterSteps(member) }),
});

const createClusterSteps = (member: number): ClusterSteps => ({
  ...{ member, isOurs },
  isOursValues: ({ evaluationId = null, evaluation }) => [
    evaluationId,
    member,
    evaluation?.isEnded === true,
  ],
  noteFired({ send }, { evaluationId, notificationId }) {
    if (evaluationId !== undefined) send(markFired, evaluationId, notificationId);
  },
});
