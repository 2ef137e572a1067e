import type { NotificationId, Username } from '../../domain/ids.ts';
import type {
  ClaimedDelivery,
  Delivery,
  DeliveryProgress,
  DeliveryWay,
} from '../../domain/notifications/delivery.ts';
import type {
  Notification,
  NotificationDraft,
  TalliedNotification,
} from '../../domain/notifications/notification.ts';
import { parseJson } from '../../lib/json.ts';

/** A row of the table notifications, without its tally. */
export interface NotificationRow {
  readonly id: string;
  readonly owner: string;
  readonly is_active: number;
  readonly created_at: number;
  readonly modified_at: number;
  readonly details: string;
}

/** The columns of NotificationRow. */
export const notificationColumns = 'id, owner, is_active, created_at, modified_at, details';

export interface TallyRow {
  readonly times_sent: number;
  readonly last_fired_at: number | null;
  readonly last_success_at: number | null;
  readonly last_success_code: number | null;
  readonly last_failure_at: number | null;
  readonly last_failure_reason: string | null;
}

/** The columns of TallyRow. */
export const tallyColumns =
  'times_sent, last_fired_at, last_success_at, last_success_code, last_failure_at, ' +
  'last_failure_reason';

export function notificationToRow(notification: Notification): NotificationRow {
  const { id, owner, createdAt, modifiedAt, ...details } = notification;
  return {
    id,
    owner,
    is_active: Number(notification.status === 'active'),
    created_at: createdAt,
    modified_at: modifiedAt,
    details: JSON.stringify(details satisfies NotificationDraft),
  };
}

export function notificationFromRow(row: NotificationRow & TallyRow): TalliedNotification {
  const { last_fired_at, last_success_at, last_success_code } = row;
  const { last_failure_at, last_failure_reason } = row;
  return {
    notification: {
      ...(parseJson(row.details) as unknown as NotificationDraft),
      // Rows hold what parsed ids were written from.
      id: row.id as NotificationId,
      owner: row.owner as Username,
      createdAt: row.created_at,
      modifiedAt: row.modified_at,
    },
    tally: {
      timesSent: row.times_sent,
      ...(last_fired_at !== null && { lastFiredAt: last_fired_at }),
      ...(last_success_at !== null && { lastSuccessAt: last_success_at }),
      ...(last_success_code !== null && { lastSuccessCode: last_success_code }),
      ...(last_failure_at !== null && { lastFailureAt: last_failure_at }),
      // Kept as JSON: a reason may hold what SQLite's text cannot.
      ...(last_failure_reason !== null && {
        lastFailureReason: parseJson(last_failure_reason) as string,
      }),
    },
  };
}

/** What of a delivery is text. */
export interface DeliveryDetails {
  readonly username: string;
  readonly message: string;
  readonly reason?: string;
}

export interface DeliveryRow {
  readonly channel: string;
  readonly status: string;
  readonly attempts: number;
  readonly created_at: number;
  readonly due_at: number | null;
  readonly sent_at: number | null;
  readonly details: string;
}

/** The columns of DeliveryRow. */
export const deliveryColumns = 'channel, status, attempts, created_at, due_at, sent_at, details';

/** The columns that say how far a delivery came. */
export function progressToRow(progress: DeliveryProgress) {
  return {
    status: progress.status,
    dueAt: progress.status === 'pending' ? progress.dueAt : null,
    sentAt: progress.status === 'sent' ? progress.sentAt : null,
    reason: progress.status === 'sent' ? undefined : progress.reason,
  };
}

export function deliveryDetails(details: {
  readonly username: string;
  readonly message: string;
  readonly reason: string | undefined;
}): string {
  return JSON.stringify(details);
}

export function deliveryFromRow(row: DeliveryRow): Delivery {
  const { username, message, reason } = parseJson(row.details) as unknown as DeliveryDetails;
  return {
    username,
    channel: row.channel as DeliveryWay,
    message,
    attempts: row.attempts,
    createdAt: row.created_at,
    progress: progressFromRow(row, reason),
  };
}

function progressFromRow(row: DeliveryRow, reason: string | undefined): DeliveryProgress {
  if (row.status === 'sent') return { status: 'sent', sentAt: row.sent_at ?? row.created_at };
  if (row.status === 'failed') return { status: 'failed', reason: reason ?? '' };
  const dueAt = row.due_at ?? row.created_at;
  return { status: 'pending', dueAt, ...(reason !== undefined && { reason }) };
}

/** A delivery on its way out of the writer thread. */
export interface ClaimedRow {
  readonly position: number;
  readonly notification_id: string | null;
  readonly social: string | null;
  readonly channel: string;
  readonly attempts: number;
  readonly created_at: number;
  readonly details: string;
  readonly is_unpaid: boolean;
}

export function claimedFromRow(row: ClaimedRow): ClaimedDelivery {
  const { username, message } = parseJson(row.details) as unknown as DeliveryDetails;
  return {
    id: String(row.position),
    source:
      row.social === null
        ? { kind: 'notification', id: row.notification_id as NotificationId }
        : {
            kind: 'social',
            id: row.social as (ClaimedDelivery['source'] & { kind: 'social' })['id'],
          },
    username,
    channel: row.channel as DeliveryWay,
    message,
    createdAt: row.created_at,
    attempts: row.attempts,
    ...(row.is_unpaid && { isUnpaid: true as const }),
  };
}
