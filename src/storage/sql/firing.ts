import type { NotificationId, SocialId, UserId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type {
  ClaimedDelivery,
  DeliveryProgress,
  DeliveryTarget,
  FiledDelivery,
  Firing,
  FiringOutcome,
  NewDelivery,
} from '../../domain/notifications/delivery.ts';
import type {
  DeviceState,
  Notification,
  TalliedNotification,
  Tally,
} from '../../domain/notifications/notification.ts';
import { outboxFull, type StateChange } from '../../domain/notifications/notification-store.ts';
import { isJsonObject, type JsonValue } from '../../lib/json.ts';
import { createHexId } from '../../lib/secret-token.ts';
import type { ChangeSession, Count, SqlSession, Value } from './session.ts';
import { areTexts, createTable, DamagedRowError, detailsFrom, type Row } from './table.ts';

/** The steps of notifications that differ by engine. */
export interface NotificationEngine {
  /** Saves states in this commit, each of its own rule and device; waits for none of them. */
  saveStates(session: ChangeSession, changes: readonly StateChange[]): void;
  /** Optional: engines that serve one process leave it out. */
  readonly cluster?: ClusterSteps;
}

/** The steps of one process of several that serve one database. */
export interface ClusterSteps {
  /** The number of this process, kept as `claimed_by` with the deliveries that it tries. */
  readonly member: number;
  /** Whether this process runs the evaluation of a firing: an expression with values from `$2`. */
  readonly isOurs: string;
  isOursValues(firing: Firing): readonly Value[];
  /** Records in this commit that the firing is stored. */
  noteFired(session: ChangeSession, firing: Firing): void;
}

const countOfNotification = `
  select count(*) as n from
    (select 1 from deliveries where notification = $1 and status = 'pending' limit $2) as waiting`;
const countOfPayer = `
  select count(*) as n from
    (select 1 from deliveries where nocase(payer) = nocase($1) and status = 'pending' limit $2)
    as waiting`;

/** The notification that a delivery is filed for, and the payer. */
interface Filed {
  readonly position: number;
  readonly owner: string;
}

/**
 * Numbers of deliveries that may still be filed as waiting, of each notification and of each payer.
 * Counted once for all firings of a commit: to count thousands takes longer than to file one.
 */
function createDeliveryQuotas() {
  const ofNotification = new Map<number, number>();
  const ofPayer = new Map<string, number>();
  return {
    /** Counts the deliveries that wait, unless they were counted before. */
    async count(session: SqlSession, { position, owner }: Filed): Promise<void> {
      const { deliveriesPendingMax: max, deliveriesPendingPerPayerMax: ofPayerMax } = limits;
      const payer = owner.toLowerCase();
      if (!ofNotification.has(position)) {
        const waiting = await session.first<Count>(countOfNotification, position, max);
        ofNotification.set(position, max - (waiting?.n ?? 0));
      }
      if (!ofPayer.has(payer)) {
        const waiting = await session.first<Count>(countOfPayer, owner, ofPayerMax);
        ofPayer.set(payer, ofPayerMax - (waiting?.n ?? 0));
      }
    },
    /** Takes one delivery of what was counted; answers false when the quota is used up. */
    take({ position, owner }: Filed): boolean {
      const payer = owner.toLowerCase();
      const own = ofNotification.get(position) ?? 0;
      const all = ofPayer.get(payer) ?? 0;
      if (own <= 0 || all <= 0) return false;
      ofNotification.set(position, own - 1);
      ofPayer.set(payer, all - 1);
      return true;
    },
  };
}

const recordFiring = `
  update notifications set times_sent = times_sent + $2,
    last_fired_at = case when last_fired_at > $3 then last_fired_at else $3 end,
    last_failure_at = coalesce($4, last_failure_at),
    last_failure_reason = coalesce($5, last_failure_reason)
  where position = $1`;
const trimDeliveries = `
  delete from deliveries where notification = $1 and status not in ('pending', 'damaged')
    and position <=
    (select position from deliveries where notification = $1
     order by position desc limit 1 offset $2)`;

interface Window {
  readonly position: number;
  readonly owner: string;
  readonly is_active: number;
  readonly last_fired_at: number | null;
  readonly is_ours: number | boolean;
}

/** Claims the windows of firings, files their deliveries, and saves states of those that fired. */
export function createFireNotifications(options: NotificationEngine) {
  const { saveStates, cluster } = options;
  const selectWindow = `
    select position, owner, is_active, last_fired_at, ${cluster?.isOurs ?? '1'} as is_ours
    from notifications where id = $1`;
  const insertDelivery = `
    insert into deliveries (notification, payer, channel, status, attempts, created_at, due_at,
      sent_at, token, details${cluster === undefined ? '' : ', claimed_by'})
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10${cluster === undefined ? '' : ', $11'})
    returning position`;

  async function file(
    session: SqlSession,
    { position, owner }: Window,
    { delivery, at }: { readonly delivery: NewDelivery; readonly at: number },
  ): Promise<string> {
    const { status, dueAt, sentAt, reason } = progressToRow(delivery.progress);
    const { channel, isUnderWay } = delivery;
    const text = deliveryDetails({ ...delivery, reason });
    const attempts = Number(isUnderWay === true);
    const token = createHexId();
    const made = await session.first<{ position: number }>(
      insertDelivery,
      ...[position, owner, channel, status, attempts, at, dueAt, sentAt, token, text],
      ...(cluster === undefined ? [] : [isUnderWay === true ? cluster.member : null]),
    );
    return deliveryId(token, made?.position ?? 0);
  }

  async function fire(
    session: ChangeSession,
    firing: Firing,
    quotas: ReturnType<typeof createDeliveryQuotas>,
  ): Promise<FiringOutcome> {
    const { notificationId, at, throttlingMs, deliveries } = firing;
    const asked = [notificationId, ...(cluster?.isOursValues(firing) ?? [])];
    const found = await session.first<Window>(selectWindow, ...asked);
    if (found === undefined) return { kind: 'gone' };
    if (!found.is_ours) return { kind: 'taken' };
    if (found.is_active === 0) return { kind: 'inactive' };
    const { position, last_fired_at: last } = found;
    if (throttlingMs > 0 && last !== null && at < last + throttlingMs) {
      return { kind: 'throttled', lastFiredAt: last };
    }
    await quotas.count(session, found);
    let failure: string | undefined;
    const deliveryIds: string[] = [];
    for (const delivery of deliveries) {
      const isWaiting = delivery.progress.status === 'pending';
      const filed: NewDelivery =
        isWaiting && !quotas.take(found)
          ? { ...delivery, progress: { status: 'failed', reason: outboxFull } }
          : delivery;
      if (filed.progress.status === 'failed') failure = filed.progress.reason;
      deliveryIds.push(await file(session, found, { delivery: filed, at }));
    }
    const failedAt = failure === undefined ? null : at;
    const reason = failure === undefined ? null : JSON.stringify(failure);
    session.send(recordFiring, position, deliveries.length, at, failedAt, reason);
    session.send(trimDeliveries, position, limits.deliveriesPerNotificationMax);
    saveStates(session, [firing]);
    cluster?.noteFired(session, firing);
    return { kind: 'fired', deliveryIds };
  }

  return async (session: ChangeSession, firings: readonly Firing[]) => {
    const outcomes: FiringOutcome[] = [];
    const quotas = createDeliveryQuotas();
    for (const firing of firings) outcomes.push(await fire(session, firing, quotas));
    return outcomes;
  };
}

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
  const { condition, action } = detailsFrom<JsonObject>(text);
  const isSound =
    isJsonObject(condition) &&
    areTexts(condition['devices']) &&
    areTexts(condition['sensors']) &&
    typeof condition['expression'] === 'string' &&
    areAll(condition['bound'], isDevice) &&
    isJsonObject(action) &&
    (action['kind'] === 'message'
      ? areTexts(action['usernames']) &&
        areTexts(action['channels']) &&
        areAll(action['accounts'], isAccount) &&
        typeof action['message'] === 'string'
      : typeof action['deviceId'] === 'string' && typeof action['actuatorId'] === 'string');
  if (!isSound) throw new DamagedRowError('the condition or the action is incomplete');
}

type JsonObject = { readonly [key: string]: JsonValue };

/** Whether a list has such objects alone; absent where an earlier version saved it. */
const areAll = (value: JsonValue | undefined, isOne: (one: JsonObject) => boolean): boolean =>
  value === undefined ||
  (Array.isArray(value) && value.every((one) => isJsonObject(one) && isOne(one)));

/** A name with the id of its account. */
const isAccount = ({ username = null, id = null }: JsonObject): boolean => areTexts([username, id]);

/** The id of a device with when it was made. */
const isDevice = ({ id = null, createdAt }: JsonObject): boolean =>
  areTexts([id]) && Number.isFinite(createdAt);

/** The state that a notification keeps of a device; throws where it is not what it must be. */
export function stateFromText(text: string): DeviceState {
  const state = detailsFrom<JsonObject>(text);
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
function progressToRow(progress: DeliveryProgress) {
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
        : { kind: 'social', id: row.social as SocialId },
    username,
    ...(accountId !== undefined && { accountId }),
    channel: row.channel as DeliveryTarget,
    message,
    createdAt: row.created_at,
    attempts: row.attempts,
    ...(row.unpaid !== undefined && { unpaid: row.unpaid }),
  };
}
