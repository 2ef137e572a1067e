import type { NotificationEngine } from '../sql/firing.ts';

const upsertState = `
  insert into notification_states (notification, device_id, state)
  select position, $2, $3 from notifications where id = $1
  on conflict (notification, device_id) do update set state = excluded.state`;

/** The steps of notifications in SQLite. */
export const notificationEngine: NotificationEngine = {
  saveStates({ send }, changes) {
    for (const { notificationId, deviceId, state } of changes) {
      send(upsertState, notificationId, deviceId, JSON.stringify(state));
    }
  },
};
