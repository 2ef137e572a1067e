import type { DatabaseSync } from 'node:sqlite';
import type { DeviceId } from '../../domain/ids.ts';
import type { ClaimedDelivery } from '../../domain/notifications/delivery.ts';
import type { DeviceState, TalliedNotification } from '../../domain/notifications/notification.ts';
import type {
  NotificationStore,
  StoredNotification,
} from '../../domain/notifications/notification-store.ts';
import type { OutboxStore } from '../../domain/notifications/outbox-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
  claimedFromRow,
  type DeliveryRow,
  deliveryColumns,
  deliveryFromRow,
  type NotificationRow,
  notificationColumns,
  notificationFromRow,
  notificationToRow,
  stateFromText,
  type TallyRow,
  tallyColumns,
  tallyToRow,
} from '../sql/notification-row.ts';
import { patchOf } from '../sql/patch.ts';
import { found } from '../sql/session.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import type { StoreContext } from './store-context.ts';

type Row = NotificationRow & TallyRow;

const columns = `${notificationColumns}, ${tallyColumns}`;
const selectOne = `select ${columns} from notifications where id = ?`;
const selectMany = `
  select ${columns} from notifications where id in (select value from json_each(?))`;
const selectAll = `select ${columns} from notifications order by position`;
const selectStates = `
  select notifications.id, device_id, state from notification_states
  join notifications on position = notification`;
const selectDeliveries = `
  select position, ${deliveryColumns} from deliveries
  where notification = (select position from notifications where id = ?)
  order by position desc limit ? offset ?`;
const countDeliveries = `
  select count(*) as n from deliveries
  where notification = (select position from notifications where id = ?)`;

interface StateRow {
  readonly id: string;
  readonly device_id: string;
  readonly state: string;
}

/** Notifications in SQLite. */
export function createNotificationStore({
  reader,
  writer,
  damaged,
}: StoreContext): NotificationStore {
  const one = createSelection<Row>(reader, selectOne);
  const many = createSelection<Row>(reader, selectMany);
  const deliveries = createSelection<DeliveryRow & { position: number }>(reader, selectDeliveries);
  const count = createSelection<{ n: number }>(reader, countDeliveries);

  const read = (row: Row) => damaged.read('notifications', row.id, () => notificationFromRow(row));
  const readDelivery = (row: DeliveryRow & { readonly position: number }) =>
    damaged.read('deliveries', row.position, () => deliveryFromRow(row)) ?? [];

  return {
    insert: (created, tally) =>
      writer.call(
        'insertNotification',
        notificationToRow(created),
        ...(tally === undefined ? [] : [tallyToRow(tally)]),
      ),
    find: (id) => readSafely(() => found(one.first(id), read)),
    findMany: (ids) =>
      readSafely(() => {
        const found = new Map<string, Row>(
          many.all(JSON.stringify(ids)).map((row) => [row.id, row]),
        );
        return ids.flatMap((id) => {
          const row = found.get(id);
          return (row && read(row)) ?? [];
        });
      }),
    load: () => readSafely(() => inSnapshot(reader, () => load(reader, damaged, read))),
    update: (id, changes, at) => {
      const isWatchedAnew = changes.condition !== undefined;
      return writer.call('updateNotification', id, patchOf(changes), { at, isWatchedAnew });
    },
    remove: (id) => writer.call('removeNotification', id),
    saveStates: (changes) => writer.call('saveNotificationStates', changes),
    fire: (firings) => writer.call('fireNotifications', firings),
    deliveries: (id, { limit, offset }) =>
      readSafely(() =>
        inSnapshot(reader, () => ({
          deliveries: deliveries.all(id, limit, offset).flatMap(readDelivery),
          total: count.first(id)?.n ?? 0,
        })),
      ),
  };
}

function load(
  reader: DatabaseSync,
  damaged: DamagedRows,
  read: (row: Row) => TalliedNotification | undefined,
): readonly StoredNotification[] {
  const states = new Map<string, Map<DeviceId, DeviceState>>();
  for (const row of createSelection<StateRow>(reader, selectStates).all()) {
    const { id, device_id } = row;
    const readState = () => stateFromText(row.state);
    const state = damaged.read('notification_states', `${id} ${device_id}`, readState);
    if (state === undefined) continue;
    const known = states.get(id) ?? new Map<DeviceId, DeviceState>();
    states.set(id, known);
    known.set(device_id as DeviceId, state);
  }
  const rows = createSelection<Row>(reader, selectAll).all();
  return rows.flatMap((row) => {
    const tallied = read(row);
    if (tallied === undefined) return [];
    return { ...tallied, states: states.get(tallied.notification.id) ?? new Map() };
  });
}

const selectNextDue = `
  select min(due_at) as due_at from deliveries where status = 'pending' and channel in (
    select value from json_each(?))`;

/** The outbox in SQLite. */
export function createOutboxStore({ reader, writer, damaged }: StoreContext): OutboxStore {
  const nextDue = createSelection<{ due_at: number | null }>(reader, selectNextDue);

  return {
    async claimDue(claim) {
      const { now, leaseEndsAt, rooms, underWay, perDay } = claim;
      const { perPayerMax = Number.MAX_SAFE_INTEGER } = claim;
      const channels = JSON.stringify([...rooms.keys()]);
      const next = () => readSafely(() => nextDue.first(channels)?.due_at ?? undefined);
      const first = await next();
      if (first === undefined || first > now) return { claimed: [], nextDueAt: first };
      const order = {
        ...{ now, leaseEndsAt },
        rooms: [...rooms].map(([channel, count]) => ({
          ...{ channel, count, perPayerMax },
          underWay: underWay?.get(channel) ?? new Map<string, number>(),
        })),
        ...(perDay !== undefined && { perDay }),
      };
      const rows = await writer.call('claimDeliveries', order);
      const claimed: ClaimedDelivery[] = [];
      const unreadable: number[] = [];
      for (const row of rows) {
        const found = damaged.read('deliveries', row.position, () => claimedFromRow(row));
        if (found === undefined) unreadable.push(row.position);
        else claimed.push(found);
      }
      if (unreadable.length > 0) await writer.call('setAsideDeliveries', unreadable);
      return { claimed, nextDueAt: await next() };
    },
    complete: (completions) => writer.call('completeDeliveries', completions),
    pay: (payer, channel, at, perDay) => writer.call('payForMessage', payer, channel, at, perDay),
  };
}
