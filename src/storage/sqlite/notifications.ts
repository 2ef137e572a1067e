import type { DatabaseSync } from 'node:sqlite';
import type { DeviceId } from '../../domain/ids.ts';
import type { DeviceState } from '../../domain/notifications/notification.ts';
import type {
  NotificationStore,
  StoredNotification,
} from '../../domain/notifications/notification-store.ts';
import type { OutboxStore } from '../../domain/notifications/outbox-store.ts';
import {
  claimedFromRow,
  type DeliveryRow,
  deliveryColumns,
  deliveryFromRow,
  type NotificationRow,
  notificationColumns,
  notificationFromRow,
  notificationToRow,
  type TallyRow,
  tallyColumns,
} from '../sql/notification-row.ts';
import { patchOf } from '../sql/patch.ts';
import { readSafely } from './failures.ts';
import { createSelection, inSnapshot } from './selection.ts';
import type { Writer } from './writer.ts';

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
  select ${deliveryColumns} from deliveries
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
export function createNotificationStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
}): NotificationStore {
  const { reader, writer } = options;
  const one = createSelection<Row>(reader, selectOne);
  const many = createSelection<Row>(reader, selectMany);
  const deliveries = createSelection<DeliveryRow>(reader, selectDeliveries);
  const count = createSelection<{ n: number }>(reader, countDeliveries);

  return {
    insert: (created) => writer.call('insertNotification', notificationToRow(created)),
    find: (id) =>
      readSafely(() => {
        const row = one.first(id);
        return row && notificationFromRow(row);
      }),
    findMany: (ids) =>
      readSafely(() => {
        const found = new Map<string, Row>(
          many.all(JSON.stringify(ids)).map((row) => [row.id, row]),
        );
        return ids.flatMap((id) => {
          const row = found.get(id);
          return row === undefined ? [] : [notificationFromRow(row)];
        });
      }),
    load: () => readSafely(() => inSnapshot(reader, () => load(reader))),
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
          deliveries: deliveries.all(id, limit, offset).map(deliveryFromRow),
          total: count.first(id)?.n ?? 0,
        })),
      ),
  };
}

function load(reader: DatabaseSync): readonly StoredNotification[] {
  const states = new Map<string, Map<DeviceId, DeviceState>>();
  for (const row of createSelection<StateRow>(reader, selectStates).all()) {
    const known = states.get(row.id) ?? new Map<DeviceId, DeviceState>();
    states.set(row.id, known);
    known.set(row.device_id as DeviceId, JSON.parse(row.state) as DeviceState);
  }
  const rows = createSelection<Row>(reader, selectAll).all();
  return rows.map((row) => {
    const tallied = notificationFromRow(row);
    return { ...tallied, states: states.get(tallied.notification.id) ?? new Map() };
  });
}

const selectNextDue = `
  select min(due_at) as due_at from deliveries where status = 'pending' and channel in (
    select value from json_each(?))`;

/** The outbox in SQLite. */
export function createOutboxStore(options: {
  readonly reader: DatabaseSync;
  readonly writer: Writer;
}): OutboxStore {
  const { reader, writer } = options;
  const nextDue = createSelection<{ due_at: number | null }>(reader, selectNextDue);

  return {
    async claimDue({ now, leaseEndsAt, rooms }) {
      const channels = JSON.stringify([...rooms.keys()]);
      const next = () => readSafely(() => nextDue.first(channels)?.due_at ?? undefined);
      const first = await next();
      if (first === undefined || first > now) return { claimed: [], nextDueAt: first };
      const order = { now, leaseEndsAt, rooms: [...rooms] };
      const rows = await writer.call('claimDeliveries', order);
      return { claimed: rows.map(claimedFromRow), nextDueAt: await next() };
    },
    settle: (settlements) => writer.call('settleDeliveries', settlements),
  };
}
