import type { DatabaseSync } from 'node:sqlite';
import { limits } from '../../domain/limits.ts';
import type { Firing, FiringOutcome, NewDelivery } from '../../domain/notifications/delivery.ts';
import { outboxFull, type StateChange } from '../../domain/notifications/notification-store.ts';
import { createHexId } from '../../lib/secret-token.ts';
import { createDeliveryRooms, type DeliveryRooms } from '../sql/delivery-rooms.ts';
import {
  deliveryDetails,
  deliveryId,
  type NotificationRow,
  notificationColumns,
  progressToRow,
  type TallyRow,
  tallyColumns,
} from '../sql/notification-row.ts';
import { applyPatch, type Patch } from '../sql/patch.ts';
import { createSelection, named } from './selection.ts';

const insertNotification = `
  insert into notifications (${notificationColumns})
  select ${named(notificationColumns)}
  where exists (select 1 from users where username = :owner)`;
const setTally = `
  update notifications set (${tallyColumns}) = (${named(tallyColumns)}) where id = :id`;
const countOwned = 'select count(*) as n from notifications where owner = ?';
const selectDetails = 'select details from notifications where id = ?';
const updateNotification = `
  update notifications set details = ?, is_active = ?, modified_at = ? where id = ?`;
const deleteNotification = 'delete from notifications where id = ?';
const upsertState = `
  insert into notification_states (notification, device_id, state)
  select position, ?2, ?3 from notifications where id = ?1
  on conflict (notification, device_id) do update set state = excluded.state`;
const deleteStates = `
  delete from notification_states
  where notification = (select position from notifications where id = ?)`;
const selectWindow = `
  select position, owner, is_active, last_fired_at from notifications where id = ?`;
const countWaiting = `
  select count(*) as n from
    (select 1 from deliveries where notification = ? and status = 'pending' limit ?)`;
const countWaitingOf = `
  select count(*) as n from
    (select 1 from deliveries where payer = ? and status = 'pending' limit ?)`;
const insertDelivery = `
  insert into deliveries (notification, payer, channel, status, attempts, created_at, due_at,
    sent_at, token, details)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
const recordFiring = `
  update notifications set times_sent = times_sent + ?2,
    last_fired_at = max(?3, coalesce(last_fired_at, ?3)),
    last_failure_at = coalesce(?4, last_failure_at),
    last_failure_reason = coalesce(?5, last_failure_reason)
  where position = ?1`;
const trimDeliveries = `
  delete from deliveries where notification = ?1 and status not in ('pending', 'damaged')
    and position <=
    (select position from deliveries where notification = ?1
     order by position desc limit 1 offset ?2)`;

interface Window {
  readonly position: number;
  readonly owner: string;
  readonly is_active: number;
  readonly last_fired_at: number | null;
}

/** The changes that the writer thread makes to notifications. */
export function createNotificationWrites(database: DatabaseSync) {
  const insert = database.prepare(insertNotification);
  const putTally = database.prepare(setTally);
  const owned = createSelection<{ n: number }>(database, countOwned);
  const details = createSelection<{ details: string }>(database, selectDetails);
  const update = database.prepare(updateNotification);
  const remove = database.prepare(deleteNotification);
  const putState = database.prepare(upsertState);
  const forgetStates = database.prepare(deleteStates);
  const fireOne = createFire(database);

  return {
    insertNotification(
      row: NotificationRow,
      tally?: TallyRow,
    ): 'inserted' | 'missing' | 'too_many' {
      if ((owned.first(row.owner)?.n ?? 0) >= limits.notificationsPerUserMax) return 'too_many';
      if (insert.run({ ...row }).changes === 0) return 'missing';
      if (tally !== undefined) putTally.run({ id: row.id, ...tally });
      return 'inserted';
    },
    updateNotification(
      id: string,
      patch: Patch,
      { at, isWatchedAnew }: { readonly at: number; readonly isWatchedAnew: boolean },
    ): 'updated' | 'missing' {
      const stored = details.first(id);
      if (stored === undefined) return 'missing';
      const text = applyPatch(stored.details, patch);
      const { status } = JSON.parse(text) as { status: string };
      update.run(text, Number(status === 'active'), at, id);
      if (isWatchedAnew) forgetStates.run(id);
      return 'updated';
    },
    removeNotification: (id: string): 'removed' | 'missing' =>
      remove.run(id).changes === 0 ? 'missing' : 'removed',
    saveNotificationStates(changes: readonly StateChange[]): void {
      for (const { notificationId, deviceId, state } of changes) {
        putState.run(notificationId, deviceId, JSON.stringify(state));
      }
    },
    fireNotifications(firings: readonly Firing[]): readonly FiringOutcome[] {
      const rooms = createDeliveryRooms();
      return firings.map((firing) => {
        const outcome = fireOne(firing, rooms);
        if (outcome.kind !== 'fired') return outcome;
        putState.run(firing.notificationId, firing.deviceId, JSON.stringify(firing.state));
        return outcome;
      });
    },
  };
}

function createFire(
  database: DatabaseSync,
): (firing: Firing, rooms: DeliveryRooms) => FiringOutcome {
  const window = createSelection<Window>(database, selectWindow);
  const waiting = createSelection<{ n: number }>(database, countWaiting);
  const waitingOf = createSelection<{ n: number }>(database, countWaitingOf);
  const insert = database.prepare(insertDelivery);
  const record = database.prepare(recordFiring);
  const trim = database.prepare(trimDeliveries);

  function file(at: number, found: Window, delivery: NewDelivery): string {
    const { status, dueAt, sentAt, reason } = progressToRow(delivery.progress);
    const { channel, isUnderWay } = delivery;
    const text = deliveryDetails({ ...delivery, reason });
    const attempts = Number(isUnderWay === true);
    const { position, owner } = found;
    const token = createHexId();
    const values = [status, attempts, at, dueAt, sentAt, token, text] as const;
    const { lastInsertRowid } = insert.run(position, owner, channel, ...values);
    return deliveryId(token, Number(lastInsertRowid));
  }

  function countWaitingIn(found: Window, rooms: DeliveryRooms): void {
    const { position, owner } = found;
    const { deliveriesPendingMax: max, deliveriesPendingPerPayerMax: ofPayer } = limits;
    const known = rooms.isKnown(found);
    if (!known.notification) {
      rooms.tell(found, { notification: waiting.first(position, max)?.n ?? 0 });
    }
    if (!known.payer) rooms.tell(found, { payer: waitingOf.first(owner, ofPayer)?.n ?? 0 });
  }

  return ({ notificationId, at, throttlingMs, deliveries }, rooms) => {
    const found = window.first(notificationId);
    if (found === undefined) return { kind: 'gone' };
    if (found.is_active === 0) return { kind: 'inactive' };
    const { position, last_fired_at: last } = found;
    if (throttlingMs > 0 && last !== null && at < last + throttlingMs) {
      return { kind: 'throttled', lastFiredAt: last };
    }
    countWaitingIn(found, rooms);
    let failure: string | undefined;
    const deliveryIds = deliveries.map((delivery) => {
      const isWaiting = delivery.progress.status === 'pending';
      const filed: NewDelivery =
        isWaiting && !rooms.take(found)
          ? { ...delivery, progress: { status: 'failed', reason: outboxFull } }
          : delivery;
      if (filed.progress.status === 'failed') failure = filed.progress.reason;
      return file(at, found, filed);
    });
    const failedAt = failure === undefined ? null : at;
    const reason = failure === undefined ? null : JSON.stringify(failure);
    record.run(position, deliveries.length, at, failedAt, reason);
    trim.run(position, limits.deliveriesPerNotificationMax);
    return { kind: 'fired', deliveryIds };
  };
}
