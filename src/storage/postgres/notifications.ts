import type { DeviceId } from '../../domain/ids.ts';
import type { DeviceState, TalliedNotification } from '../../domain/notifications/notification.ts';
import type {
  NotificationStore,
  StoredNotification,
} from '../../domain/notifications/notification-store.ts';
import type { DamagedRows } from '../damaged-rows.ts';
import {
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
import { found, type SqlSession } from '../sql/session.ts';
import { fireNotifications } from './firing.ts';
import {
  insertNotification,
  sendNotificationStates,
  updateNotification,
} from './notification-writes.ts';
import type { ClaimContext } from './store-context.ts';

type Row = NotificationRow & TallyRow;

const columns = `${notificationColumns}, ${tallyColumns}`;
const selectOne = `select ${columns} from notifications where id = $1`;
const selectMany = `select ${columns} from notifications where id = any($1::text[])`;
const selectAll = `select ${columns} from notifications order by position`;
const selectStates = `
  select notifications.id, device_id, state from notification_states
  join notifications on position = notification`;
const ofNotification = 'notification = (select position from notifications where id = $1)';
const selectDeliveries = `
  select position, ${deliveryColumns} from deliveries where ${ofNotification}
  order by position desc limit $2 offset $3`;
const countDeliveries = `select count(*) as n from deliveries where ${ofNotification}`;
const deleteNotification = 'delete from notifications where id = $1';

interface StateRow {
  readonly id: string;
  readonly device_id: string;
  readonly state: string;
}

/** Notifications in PostgreSQL. */
export function createNotificationStore({
  reader,
  writer,
  damaged,
  member,
}: ClaimContext): NotificationStore {
  const read = (row: Row) => damaged.read('notifications', row.id, () => notificationFromRow(row));
  const readDelivery = (row: DeliveryRow & { readonly position: number }) =>
    damaged.read('deliveries', row.position, () => deliveryFromRow(row)) ?? [];

  return {
    insert: (created, tally) =>
      writer.call((tx) =>
        insertNotification(tx, notificationToRow(created), tally && tallyToRow(tally)),
      ),
    find: async (id) => found(await reader.first<Row>(selectOne, id), read),
    async findMany(ids) {
      const rows = await reader.all<Row>(selectMany, ids);
      const byId = new Map<string, Row>(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => {
        const row = byId.get(id);
        return (row && read(row)) ?? [];
      });
    },
    load: () => reader.inSnapshot((session) => load(session, damaged, read)),
    update: (id, changes, at) =>
      writer.call((tx) => {
        const isWatchedAnew = changes.condition !== undefined;
        return updateNotification(tx, id, patchOf(changes), { at, isWatchedAnew });
      }),
    remove: (id) =>
      writer.call(async (tx) =>
        (await tx.run(deleteNotification, id)) === 0 ? 'missing' : 'removed',
      ),
    saveStates: (changes) => writer.call(async (tx) => sendNotificationStates(tx, changes)),
    fire: (firings) => writer.call((tx) => fireNotifications(tx, firings, member)),
    deliveries: (id, { limit, offset }) =>
      reader.inSnapshot(async (session) => {
        const rows = await session.all<DeliveryRow & { position: number }>(
          selectDeliveries,
          ...[id, limit, offset],
        );
        const total = (await session.first<{ n: number }>(countDeliveries, id))?.n ?? 0;
        return { deliveries: rows.flatMap(readDelivery), total };
      }),
  };
}

async function load(
  session: SqlSession,
  damaged: DamagedRows,
  read: (row: Row) => TalliedNotification | undefined,
): Promise<readonly StoredNotification[]> {
  const states = new Map<string, Map<DeviceId, DeviceState>>();
  for (const row of await session.all<StateRow>(selectStates)) {
    const { id, device_id } = row;
    const readState = () => stateFromText(row.state);
    const state = damaged.read('notification_states', `${id} ${device_id}`, readState);
    if (state === undefined) continue;
    const known = states.get(id) ?? new Map<DeviceId, DeviceState>();
    states.set(id, known);
    known.set(device_id as DeviceId, state);
  }
  const rows = await session.all<Row>(selectAll);
  return rows.flatMap((row) => {
    const tallied = read(row);
    if (tallied === undefined) return [];
    return { ...tallied, states: states.get(tallied.notification.id) ?? new Map() };
  });
}
