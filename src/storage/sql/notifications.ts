import type { DeviceId } from '../../domain/ids.ts';
import { limits } from '../../domain/limits.ts';
import type { DeviceState } from '../../domain/notifications/notification.ts';
import type {
  NotificationStore,
  StateChange,
  StoredNotification,
} from '../../domain/notifications/notification-store.ts';
import {
  notificationColumns as columns,
  createFireNotifications,
  type DeliveryRow,
  deliveryColumns,
  deliveryFromRow,
  type NotificationEngine,
  type NotificationRow,
  notificationFromRow,
  notificationToRow,
  stateFromText,
} from './firing.ts';
import { applyPatch, type Patch, patchOf } from './patch.ts';
import {
  type Count,
  deletion,
  insertRow,
  readPage,
  type SqlContext,
  type SqlSession,
  type Writes,
} from './session.ts';
import { found } from './table.ts';

const selectOne = `select ${columns} from notifications where id = $1`;
const selectMany = `
  select ${columns} from notifications where id in (select value from each($1))`;
const selectAll = `select ${columns} from notifications order by position`;
const selectStates = `
  select notifications.id, device_id, state from notification_states
  join notifications on position = notification`;
const ofNotification = 'notification = (select position from notifications where id = $1)';
const deliveriesOf = {
  columns: `position, ${deliveryColumns}`,
  from: `deliveries where ${ofNotification}`,
  order: 'position desc',
};
const countOfOwner = `
  select (select count(*) from notifications where nocase(owner) = nocase($1)) as n
  from users where nocase(username) = nocase($1)`;
const selectDetails = 'select details from notifications where id = $1';
const changeNotification = `
  update notifications set details = $1, is_active = $2, modified_at = $3 where id = $4`;
const deleteStates = `delete from notification_states where ${ofNotification}`;

interface StateRow {
  readonly id: string;
  readonly device_id: string;
  readonly state: string;
}

/** Changes of notifications. */
export const createNotificationWrites = (engine: NotificationEngine) =>
  ({
    async insertNotification(session, row: NotificationRow) {
      const owned = await session.first<Count>(countOfOwner, row.owner);
      if (owned === undefined) return 'missing';
      if (owned.n >= limits.notificationsPerUserMax) return 'too_many';
      await insertRow(session, 'notifications', row);
      return 'inserted';
    },
    async updateNotification(
      session,
      id: string,
      patch: Patch,
      { at, isWatchedAnew }: { readonly at: number; readonly isWatchedAnew: boolean },
    ) {
      const stored = await session.first<{ details: string }>(selectDetails, id);
      if (stored === undefined) return 'missing';
      const text = applyPatch(stored.details, patch);
      const { status } = JSON.parse(text) as { status: string };
      await session.run(changeNotification, text, Number(status === 'active'), at, id);
      if (isWatchedAnew) await session.run(deleteStates, id);
      return 'updated';
    },
    removeNotification: deletion('delete from notifications where id = $1'),
    async saveNotificationStates(session, changes: readonly StateChange[]) {
      engine.saveStates(session, changes);
    },
    fireNotifications: createFireNotifications(engine),
  }) satisfies Writes;

/** Notifications in the tables of either engine. */
export function createNotificationStore(
  options: SqlContext<ReturnType<typeof createNotificationWrites>>,
): NotificationStore {
  const { reader, write, damaged } = options;
  const read = (row: NotificationRow) =>
    damaged.read('notifications', row.id, () => notificationFromRow(row));
  const readDelivery = (row: DeliveryRow & { readonly position: number }) =>
    damaged.read('deliveries', row.position, () => deliveryFromRow(row)) ?? [];

  async function load(session: SqlSession): Promise<readonly StoredNotification[]> {
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
    const rows = await session.all<NotificationRow>(selectAll);
    return rows.flatMap((row) => {
      const tallied = read(row);
      if (tallied === undefined) return [];
      return { ...tallied, states: states.get(tallied.notification.id) ?? new Map() };
    });
  }

  return {
    insert: (created, tally = { timesSent: 0 }) =>
      write('insertNotification', notificationToRow(created, tally)),
    find: async (id) => found(await reader.first<NotificationRow>(selectOne, id), read),
    async findMany(ids) {
      const rows = await reader.all<NotificationRow>(selectMany, ids);
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.flatMap((id) => found(byId.get(id), read) ?? []);
    },
    load: () => reader.inSnapshot(load),
    update: (id, changes, at) => {
      const isWatchedAnew = changes.condition !== undefined;
      return write('updateNotification', id, patchOf(changes), { at, isWatchedAnew });
    },
    remove: (id) => write('removeNotification', id),
    saveStates: (changes) => write('saveNotificationStates', changes),
    fire: (firings) => write('fireNotifications', firings),
    deliveries: (id, page) =>
      reader.inSnapshot(async (session) => {
        const { rows, total } = await readPage<Parameters<typeof readDelivery>[0]>(
          ...([session, deliveriesOf, [id], page] as const),
        );
        return { deliveries: rows.flatMap(readDelivery), total };
      }),
  };
}
