import { limits } from '../../domain/limits.ts';
import type { Firing, FiringOutcome, NewDelivery } from '../../domain/notifications/delivery.ts';
import { outboxFull } from '../../domain/notifications/notification-store.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { createDeliveryRooms, type DeliveryRooms } from '../sql/delivery-rooms.ts';
import { deliveryDetails, deliveryId, progressToRow } from '../sql/notification-row.ts';
import type { SqlSession } from '../sql/session.ts';
import { noteFired } from './looks.ts';
import { sendNotificationStates } from './notification-writes.ts';
import type { WriteSession } from './writer.ts';

/** The member with the first evaluation in the device's queue makes it, and those behind it. */
const selectWindow = `
  select position, owner, is_active, last_fired_at,
    $2::text is null or coalesce(
      (select (select member from looks as line where line.device_id = own.device_id
        order by place limit 1) = $3 from looks as own where id = $2), $4) as is_in_turn
  from notifications where id = $1`;
const countWaiting = `
  select count(*) as n from
    (select 1 from deliveries where notification = $1 and status = 'pending' limit $2) as waiting`;
const countWaitingOf = `
  select count(*) as n from
    (select 1 from deliveries where nocase(payer) = nocase($1) and status = 'pending' limit $2)
    as waiting`;
const insertDelivery = `
  insert into deliveries (notification, payer, channel, status, attempts, created_at, due_at,
    sent_at, token, details,
    claimed_by)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) returning position`;
const recordFiring = `
  update notifications set times_sent = times_sent + $2,
    last_fired_at = greatest($3::bigint, last_fired_at),
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
  readonly is_in_turn: boolean;
}

interface Count {
  readonly n: number;
}

/** The quotas of waiting deliveries within one commit, and the member that files them. */
interface Filing {
  readonly rooms: DeliveryRooms;
  readonly member: number;
}

/** Claims the windows, files the deliveries, and keeps the states of those that fired. */
export async function fireNotifications(
  session: WriteSession,
  firings: readonly Firing[],
  member: number,
): Promise<readonly FiringOutcome[]> {
  const outcomes: FiringOutcome[] = [];
  const from: Filing = { rooms: createDeliveryRooms(), member };
  for (const firing of firings) {
    const outcome = await fire(session, firing, from);
    if (outcome.kind === 'fired') {
      sendNotificationStates(session, [firing]);
      const { lookId, notificationId } = firing;
      if (lookId !== undefined) noteFired(session, lookId, notificationId);
    }
    outcomes.push(outcome);
  }
  return outcomes;
}

async function fire(
  session: WriteSession,
  firing: Firing,
  { rooms, member }: Filing,
): Promise<FiringOutcome> {
  const { notificationId, at, throttlingMs, deliveries, lookId = null } = firing;
  const isAfterLook = firing.isAfterLook === true;
  const asked = [notificationId, lookId, member, isAfterLook] as const;
  const found = await session.first<Window>(selectWindow, ...asked);
  if (found === undefined) return { kind: 'gone' };
  if (!found.is_in_turn) return { kind: 'taken' };
  if (found.is_active === 0) return { kind: 'inactive' };
  const { position, last_fired_at: last } = found;
  if (throttlingMs > 0 && last !== null && at < last + throttlingMs) {
    return { kind: 'throttled', lastFiredAt: last };
  }
  await countWaitingIn(session, found, rooms);
  let failure: string | undefined;
  const deliveryIds: string[] = [];
  for (const delivery of deliveries) {
    const isWaiting = delivery.progress.status === 'pending';
    const filed: NewDelivery =
      isWaiting && !rooms.take(found)
        ? { ...delivery, progress: { status: 'failed', reason: outboxFull } }
        : delivery;
    if (filed.progress.status === 'failed') failure = filed.progress.reason;
    deliveryIds.push(await file(session, { at, found, member }, filed));
  }
  const failedAt = failure === undefined ? null : at;
  const reason = failure === undefined ? null : JSON.stringify(failure);
  session.send(recordFiring, position, deliveries.length, at, failedAt, reason);
  session.send(trimDeliveries, position, limits.deliveriesPerNotificationMax);
  return { kind: 'fired', deliveryIds };
}

async function countWaitingIn(
  session: SqlSession,
  found: Window,
  rooms: DeliveryRooms,
): Promise<void> {
  const { position, owner } = found;
  const { deliveriesPendingMax: max, deliveriesPendingPerPayerMax: ofPayer } = limits;
  const known = rooms.isKnown(found);
  if (!known.notification) {
    const waiting = await session.first<Count>(countWaiting, position, max);
    rooms.tell(found, { notification: waiting?.n ?? 0 });
  }
  if (!known.payer) {
    const waiting = await session.first<Count>(countWaitingOf, owner, ofPayer);
    rooms.tell(found, { payer: waiting?.n ?? 0 });
  }
}

async function file(
  session: SqlSession,
  about: { readonly at: number; readonly found: Window; readonly member: number },
  delivery: NewDelivery,
): Promise<string> {
  const { at, found, member } = about;
  const { position, owner } = found;
  const { status, dueAt, sentAt, reason } = progressToRow(delivery.progress);
  const { channel, isUnderWay } = delivery;
  const text = deliveryDetails({ ...delivery, reason });
  const attempts = Number(isUnderWay === true);
  const token = createHexId();
  const values = [status, attempts, at, dueAt, sentAt, token, text] as const;
  const made = await session.first<{ position: number }>(
    insertDelivery,
    ...[position, owner, channel],
    ...values,
    isUnderWay === true ? member : null,
  );
  return deliveryId(token, made?.position ?? 0);
}
