import type { NotificationId, UserId } from '../../domain/ids.ts';
import type {
  ClaimedDelivery,
  DeliveryProgress,
  DeliveryTarget,
  FiledDelivery,
} from '../../domain/notifications/delivery.ts';
import type {
  DeviceState,
  Notification,
  TalliedNotification,
  Tally,
} from '../../domain/notifications/notification.ts';
import { isJsonObject, type JsonValue } from '../../lib/json.ts';
import { areTexts, createTable, DamagedRowError, detailsFrom, type Row } from './table.ts';

const notificationTable = createTable<Notification>('notifications', {
  plain: ['id', 'owner', 'createdAt', 'modifiedAt'],
});

/** Kept as JSON, a reason may hold what the text of a database cannot. */
const tallyTable = createTable<Tally>('notifications', {
  plain: ['timesSent', 'lastFiredAt', 'lastSuccessAt', 'lastSuccessCode', 'lastFailureAt'],
  json: ['lastFailureReason'],
  hasDetails: false,
});

/** A row of the table notifications. */
export interface NotificationRow extends Row {
  readonly id: string;
  readonly owner: string;
  readonly details: string;
}

/** The columns that a notification is read from; beside them is `is_active`. */
export const notificationColumns = `${notificationTable.columns}, ${tallyTable.columns}`;

export function notificationToRow(notification: Notification, tally: Tally): NotificationRow {
  return {
    ...notificationTable.toRow(notification),
    ...tallyTable.toRow(tally),
    is_active: Number(notification.status === 'active'),
  } as Row as NotificationRow;
}

export function notificationFromRow(row: NotificationRow): TalliedNotification {
  requireDraft(row.details);
  return { notification: notificationTable.fromRow(row), tally: tallyTable.fromRow(row) };
}

/** Throws where a part of the draft that a client sent is missing or not what it must be. */
function requireDraft(text: string): void {
  const { condition, action } = detailsFrom<{ readonly [key: string]: JsonValue }>(text);
  const isSound =
    isJsonObject(condition) &&
    areTexts(condition['devices']) &&
    areTexts(condition['sensors']) &&
    typeof condition['expression'] === 'string' &&
    areDevices(condition['bound']) &&
    isJsonObject(action) &&
    (action['kind'] === 'message'
      ? areTexts(action['usernames']) &&
        areTexts(action['channels']) &&
        areAccounts(action['accounts']) &&
        typeof action['message'] === 'string'
      : typeof action['deviceId'] === 'string' && typeof action['actuatorId'] === 'string');
  if (!isSound) throw new DamagedRowError('the condition or the action is incomplete');
}

/** Names with the ids of their accounts; absent where an earlier version saved them. */
const areAccounts = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  (Array.isArray(value) &&
    value.every(
      (one) => isJsonObject(one) && areTexts([one['username'] ?? null, one['id'] ?? null]),
    ));

/** Ids of devices with when they were made; absent where an earlier version saved them. */
const areDevices = (value: JsonValue | undefined): boolean =>
  value === undefined ||
  (Array.isArray(value) &&
    value.every(
      (one) =>
        isJsonObject(one) && areTexts([one['id'] ?? null]) && Number.isFinite(one['createdAt']),
    ));

/** The state that a notification keeps of a device; throws where it is not what it must be. */
export function stateFromText(text: string): DeviceState {
  const state = detailsFrom<{ readonly [key: string]: JsonValue }>(text);
  const { holdsSince, silencesTold, silenceToldAt, firedFor, firedKeys } = state;
  const instants = [silencesTold, firedFor].flatMap(valuesOf);
  const isSound =
    [holdsSince, silenceToldAt, ...instants].every(isInstantOrAbsent) &&
    valuesOf(firedKeys).every(areTexts);
  if (!isSound) throw new DamagedRowError('the state is malformed');
  return state as DeviceState;
}

const isInstantOrAbsent = (value: JsonValue | undefined): boolean =>
  value === undefined || typeof value === 'number';

/** The values of an object that may be absent; anything else is no such object. */
function valuesOf(value: JsonValue | undefined): readonly JsonValue[] {
  if (value === undefined) return [];
  if (!isJsonObject(value)) throw new DamagedRowError('the state is malformed');
  return Object.values(value);
}

/** The texts of a delivery. */
export interface DeliveryDetails {
  readonly username: string;
  readonly accountId?: UserId | undefined;
  readonly message: string;
  readonly reason?: string | undefined;
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

export const deliveryDetails = ({ username, accountId, message, reason }: DeliveryDetails) =>
  JSON.stringify({ username, accountId, message, reason });

function deliveryDetailsFrom(text: string): DeliveryDetails {
  const details = detailsFrom<DeliveryDetails>(text);
  if (typeof details.username === 'string' && typeof details.message === 'string') return details;
  throw new DamagedRowError('a delivery lacks whom it reaches or what it says');
}

export function deliveryFromRow(row: DeliveryRow): FiledDelivery {
  const { username, message, reason } = deliveryDetailsFrom(row.details);
  return {
    username,
    channel: row.channel as DeliveryTarget,
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

/** A random part, so that no two databases have the same ids, and where the row is. */
export const deliveryId = (token: string, position: number): string => `${token}-${position}`;

/** Where the delivery of an id is. */
export const positionOf = (id: string): number => Number(id.slice(id.lastIndexOf('-') + 1));

/** A delivery on its way out of the writer thread. */
export interface ClaimedRow {
  readonly position: number;
  readonly notification_id: string | null;
  readonly social: string | null;
  readonly channel: string;
  readonly attempts: number;
  readonly created_at: number;
  readonly details: string;
  readonly payer: string;
  readonly token: string;
  readonly unpaid: ClaimedDelivery['unpaid'];
}

export function claimedFromRow(row: ClaimedRow): ClaimedDelivery {
  const { username, accountId, message } = deliveryDetailsFrom(row.details);
  return {
    id: deliveryId(row.token, row.position),
    payer: row.payer,
    source:
      row.social === null
        ? { kind: 'notification', id: row.notification_id as NotificationId }
        : {
            kind: 'social',
            id: row.social as (ClaimedDelivery['source'] & { kind: 'social' })['id'],
          },
    username,
    ...(accountId !== undefined && { accountId }),
    channel: row.channel as DeliveryTarget,
    message,
    createdAt: row.created_at,
    attempts: row.attempts,
    ...(row.unpaid !== undefined && { unpaid: row.unpaid }),
  };
}
