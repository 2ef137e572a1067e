import type { ClusterSteps, NotificationEngine } from '../sql/notification-engine.ts';
import { saveNotificationStates } from './notification-states.ts';

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
  isOursValues: ({ evaluationId = null, isAfterEvaluation = false }) => [
    evaluationId,
    member,
    isAfterEvaluation,
  ],
  noteFired({ send }, { evaluationId, notificationId }) {
    if (evaluationId !== undefined) send(markFired, evaluationId, notificationId);
  },
});
